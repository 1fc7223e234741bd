/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `make bench` traces to see how a tracer's cost grows: a function called in a loop whose
 * time per call is printed, and around it, on request: 500 more functions, idle threads, forked
 * processes, threads created. (entry_classes.c has the functions of each probe class.)
 */
#include <signal.h>
#include <sys/prctl.h>

#include "common.h"

enum { BATCHES = 11 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

TRACED void hot(void)
{
	__asm__ volatile("nop");
}

static void lock_and_unlock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static const struct {
	const char *name;
	void (*call)(void);
} functions[] = { { "hot", hot }, { "pthread_mutex_lock", lock_and_unlock } };

/* many_000 to many_499, each called once. */
#define TEN(EACH, n) \
	EACH(n##0)   \
	EACH(n##1)   \
	EACH(n##2) EACH(n##3) EACH(n##4) EACH(n##5) EACH(n##6) EACH(n##7) EACH(n##8) EACH(n##9)
/* A macro does not expand within itself, hence a second one for the second digit. */
#define TENS(EACH, n) \
	EACH(n##0)    \
	EACH(n##1)    \
	EACH(n##2) EACH(n##3) EACH(n##4) EACH(n##5) EACH(n##6) EACH(n##7) EACH(n##8) EACH(n##9)
#define FIVE_HUNDRED(EACH_100) EACH_100(0) EACH_100(1) EACH_100(2) EACH_100(3) EACH_100(4)
#define DEFINE(n)                  \
	TRACED int many_##n(int x) \
	{                          \
		return x ^ 1##n;   \
	}
#define DEFINE_10(n)  TEN(DEFINE, n)
#define DEFINE_100(n) TENS(DEFINE_10, n)
#define NAME(n)	      many_##n,
#define NAME_10(n)    TEN(NAME, n)
#define NAME_100(n)   TENS(NAME_10, n)
// clang-format off
FIVE_HUNDRED(DEFINE_100)
static int (*const many[])(int) = {FIVE_HUNDRED(NAME_100)};
// clang-format on

static const char *function_name = "hot";
static void (*function)(void);
static uint64_t seconds, calls_made;
static double worker_median[WORKERS_MAX];

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void call_batches(struct worker *w)
{
	uint64_t n = w->calls / BATCHES;
	double ns[BATCHES];

	for (int b = 0; b < BATCHES; b++) {
		uint64_t begin = now_ns();

		for (uint64_t i = 0; i < n; i++)
			function();
		ns[b] = (double)(now_ns() - begin) / (double)n;
	}
	qsort(ns, BATCHES, sizeof(*ns), compare);
	worker_median[w->index] = ns[BATCHES / 2];
	__atomic_fetch_add(&calls_made, n * BATCHES, __ATOMIC_RELAXED);
}

static void call_for_seconds(struct worker *w)
{
	uint64_t end = w->born_ns + seconds * 1000000000u, calls = 0;

	for (; now_ns() < end; calls += 1000)
		for (int i = 0; i < 1000; i++)
			function();
	__atomic_fetch_add(&calls_made, calls, __ATOMIC_RELAXED);
}

static void *idle(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void start_idle_threads(uint64_t n)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (uint64_t i = 0; i < n; i++)
		if ((errno = pthread_create(&thread, &attr, idle, NULL)))
			bench_die("pthread_create");
}

static void start_forks(uint64_t n)
{
	pid_t parent = getpid();

	for (uint64_t i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			bench_die("fork");
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Whoever reads our output must not wait for these. */
		close(STDOUT_FILENO);
		if (getppid() == parent)
			idle(NULL);
		_exit(0);
	}
}

static void *nothing(void *arg)
{
	return arg;
}

static double median_create_ns(uint64_t n)
{
	double *ns = calloc(n, sizeof(*ns)), median;

	if (!ns)
		bench_die("calloc");
	for (uint64_t i = 0; i < n; i++) {
		uint64_t begin = now_ns();
		pthread_t thread;

		if ((errno = pthread_create(&thread, NULL, nothing, NULL)))
			bench_die("pthread_create");
		ns[i] = (double)(now_ns() - begin);
		pthread_join(thread, NULL);
	}
	qsort(ns, n, sizeof(*ns), compare);
	median = ns[n / 2];
	free(ns);
	return median;
}

static void choose_function(void)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, function_name))
			function = functions[i].call;
	if (!function) {
		fprintf(stderr, "call_cost: no function '%s'\n", function_name);
		exit(2);
	}
}

static void measure(const struct bench_options *o)
{
	int sum = 0;

	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
		sum += many[i](sum);
	__asm__ volatile("" : : "r"(sum));
	workers_run(o, seconds ? call_for_seconds : call_batches);
	if (!seconds) {
		qsort(worker_median, o->threads, sizeof(double), compare);
		printf("ns_per_call %.1f\n", worker_median[o->threads / 2]);
	}
	printf("calls %" PRIu64 "\n", calls_made);
}

int main(int argc, char **argv)
{
	uint64_t idle_threads = 0, forks = 0, creates = 0, wait_s = 0;
	const struct bench_extra extras[] = {
		{ "function", "NAME", "hot, or pthread_mutex_lock (hot)", NULL, &function_name },
		{ "idle", "N", "threads that sleep beside", &idle_threads, NULL },
		{ "forks", "N", "forked processes that sleep beside", &forks, NULL },
		{ "creates", "N", "measure pthread_create instead, N times", &creates, NULL },
		{ "seconds", "N", "call for N seconds instead of -n calls", &seconds, NULL },
		{ "wait", "N", "sleep N seconds at the end", &wait_s, NULL },
		{ 0 }
	};
	struct bench_options o = { .name = "call_cost",
				   .threads = 1,
				   .iterations = 220000,
				   .seed = 1,
				   .what = "What a traced call costs, for make bench.",
				   .extras = extras };

	bench_parse(&o, argc, argv);
	choose_function();
	start_forks(forks);
	start_idle_threads(idle_threads);
	if (creates)
		printf("ns_per_create %.0f\n", median_create_ns(creates));
	else
		measure(&o);
	fflush(stdout);
	sleep_ns(wait_s * 1000000000u);
	return 0;
}
