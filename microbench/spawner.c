/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Creates threads at a steady rate. Each lives a known time, calls one function over and over,
 * and notes in memory when; at the end (SIGTERM, SIGINT, or --seconds) all is written to --log:
 *
 *	TID BORN_NS BEFORE_NS AFTER_NS     a line per call, CLOCK_MONOTONIC
 *
 * so that whoever attaches in between can be held to every call that was made.
 */
#include <signal.h>
#include <sys/syscall.h>

#include "common.h"

enum { CALLS_PER_THREAD = 80, CALL_EVERY_NS = 1000000 };

struct call_log {
	struct call_log *next;
	pid_t tid;
	uint64_t born_ns, n;
	uint64_t before_ns[CALLS_PER_THREAD], after_ns[CALLS_PER_THREAD];
};

static pthread_mutex_t logs_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t thread_ended = PTHREAD_COND_INITIALIZER;
static struct call_log *logs;
static uint64_t alive;
static volatile sig_atomic_t stop;

TRACED void spawned_call(uint64_t i)
{
	churn(500, i);
}

static void *live(void *arg)
{
	struct call_log *log = arg;

	log->tid = (pid_t)syscall(SYS_gettid);
	log->born_ns = now_ns();
	for (uint64_t i = 0; i < CALLS_PER_THREAD && !stop; i++) {
		log->before_ns[i] = now_ns();
		spawned_call(i);
		log->after_ns[i] = now_ns();
		log->n = i + 1;
		sleep_ns(CALL_EVERY_NS);
	}
	pthread_mutex_lock(&logs_mu);
	log->next = logs;
	logs = log;
	alive--;
	pthread_cond_signal(&thread_ended);
	pthread_mutex_unlock(&logs_mu);
	return NULL;
}

static void spawn(pthread_attr_t *detached)
{
	struct call_log *log = calloc(1, sizeof(*log));
	pthread_t thread;

	if (!log)
		bench_die("calloc");
	pthread_mutex_lock(&logs_mu);
	alive++;
	pthread_mutex_unlock(&logs_mu);
	if ((errno = pthread_create(&thread, detached, live, log)))
		bench_die("pthread_create");
}

static void write_log(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		bench_die(path);
	for (const struct call_log *l = logs; l; l = l->next)
		for (uint64_t i = 0; i < l->n; i++)
			fprintf(f, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", l->tid, l->born_ns,
				l->before_ns[i], l->after_ns[i]);
	if (fclose(f))
		bench_die(path);
}

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

int main(int argc, char **argv)
{
	uint64_t per_s = 200, seconds = 60;
	const char *path = "spawner.log";
	const struct bench_extra extras[] = {
		{ "per-second", "N", "threads created a second (200)", &per_s, NULL },
		{ "seconds", "N", "ends after so long (60)", &seconds, NULL },
		{ "log", "FILE", "takes the calls made (spawner.log)", NULL, &path },
		{ 0 }
	};
	struct bench_options o = { .name = "spawner",
				   .threads = 1,
				   .seed = 1,
				   .extras = extras,
				   .what = "Creates threads that note each call of spawned_call." };
	pthread_attr_t detached;
	uint64_t start, spawned = 0, calls = 0;

	bench_parse(&o, argc, argv);
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	start = now_ns();
	while (!stop && now_ns() - start < seconds * 1000000000u) {
		for (; spawned < (now_ns() - start) * per_s / 1000000000u; spawned++)
			spawn(&detached);
		sleep_ns(1000000);
	}
	pthread_mutex_lock(&logs_mu);
	while (alive)
		pthread_cond_wait(&thread_ended, &logs_mu);
	pthread_mutex_unlock(&logs_mu);
	write_log(path);
	for (const struct call_log *l = logs; l; l = l->next)
		calls += l->n;
	expect_calls("spawned_call", calls);
	return 0;
}
