/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the microbenchmarks share: options, workers, and the truth that a program knows about
 *itself.
 *
 * A block stamps its own begin and end from inside (truth_call), so that the probes around it do
 * not show in the stamps. At exit truth_print writes a line per block, which live tests compare:
 *
 *	expect block=locked_add calls=20011 sci=0.42+-0.042 cause=lock verdict=interference
 *
 * sci is the time beyond the program's own fastest call of the block over the lifetime of the
 * threads that ran it; its tolerance is max(0.03, 10 %). A field without a known answer is absent.
 */
#ifndef MICROBENCH_COMMON_H
#define MICROBENCH_COMMON_H

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define WORKERS_MAX 1024

/*
 * A function to be traced: never inlined, cloned or renamed, its name in the symbol table.
 * Nothing else calls it, so it has no prototype.
 */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define TRACED __attribute__((noinline, noipa))

struct bench_extra {
	const char *name, *value, *help; /* --name VALUE */
	uint64_t *number;		 /* one of the two takes it */
	const char **string;
};

struct bench_options {
	const char *name, *what; /* for --help */
	uint64_t threads, iterations, delay_us, seed;
	const struct bench_extra *extras; /* ends with a zero row; NULL: none */
};

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Busy until the clock has passed: a delay of known length whatever the machine's speed. */
static inline void spin_ns(uint64_t ns)
{
	for (uint64_t end = now_ns() + ns; now_ns() < end;)
		;
}

/* Busy for so many steps: a fixed amount of work, longer where the CPU is shared. */
static inline uint64_t churn(uint64_t steps, uint64_t x)
{
	for (uint64_t i = 0; i < steps; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	__asm__ volatile("" : : "r"(x));
	return x;
}

static inline void sleep_ns(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000u),
			       .tv_nsec = (long)(ns % 1000000000u) };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* How often this thread has left its CPU to wait, by the kernel's own count. */
static inline uint64_t sleeps_of_thread(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw;
}

static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline void bench_die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- options ---- */

static inline void bench_usage(const struct bench_options *o)
{
	printf("usage: %s [OPTIONS]\n%s\n\n"
	       "  -t, --threads N     (%" PRIu64 ")\n"
	       "  -n, --iterations N  calls of the block, over all threads (%" PRIu64 ")\n"
	       "  -d, --delay USEC    the known delay (%" PRIu64 ")\n"
	       "  -s, --seed N        (%" PRIu64 ")\n",
	       o->name, o->what, o->threads, o->iterations, o->delay_us, o->seed);
	for (const struct bench_extra *e = o->extras; e && e->name; e++)
		printf("      --%s %s  %s\n", e->name, e->value, e->help);
	printf("  -h, --help\n");
}

static inline uint64_t bench_number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (*end || end == text) {
		fprintf(stderr, "not a number: '%s'\n", text);
		exit(2);
	}
	return n;
}

static inline void bench_take_extra(const struct bench_extra *e, const char *value)
{
	if (e->string)
		*e->string = value;
	else
		*e->number = bench_number(value);
}

enum { BENCH_EXTRAS_MAX = 8, BENCH_EXTRA_FIRST = 256 };

static inline void bench_parse(struct bench_options *o, int argc, char **argv)
{
	struct option longs[5 + BENCH_EXTRAS_MAX + 1] = {
		{ "threads", required_argument, NULL, 't' },
		{ "iterations", required_argument, NULL, 'n' },
		{ "delay", required_argument, NULL, 'd' },
		{ "seed", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
	};
	int c;

	for (int i = 0; i < BENCH_EXTRAS_MAX && o->extras && o->extras[i].name; i++)
		longs[5 + i] = (struct option){ o->extras[i].name, required_argument, NULL,
						BENCH_EXTRA_FIRST + i };
	while ((c = getopt_long(argc, argv, "t:n:d:s:h", longs, NULL)) != -1) {
		if (c == 'h') {
			bench_usage(o);
			exit(0);
		} else if (c == 't') {
			o->threads = bench_number(optarg);
		} else if (c == 'n') {
			o->iterations = bench_number(optarg);
		} else if (c == 'd') {
			o->delay_us = bench_number(optarg);
		} else if (c == 's') {
			o->seed = bench_number(optarg) | 1; /* xorshift must not start at 0 */
		} else if (c >= BENCH_EXTRA_FIRST) {
			bench_take_extra(&o->extras[c - BENCH_EXTRA_FIRST], optarg);
		} else {
			exit(2);
		}
	}
	if (optind < argc || o->threads < 1 || o->threads > WORKERS_MAX) {
		fprintf(stderr, "%s: bad arguments; see --help\n", o->name);
		exit(2);
	}
}

/* ---- workers ---- */

struct worker {
	unsigned index;
	uint64_t calls; /* this worker's share of the iterations */
	uint64_t random;
	const struct bench_options *options;
	void (*run)(struct worker *w);
	uint64_t born_ns; /* before pthread_create */
	pthread_t thread;
};

static uint64_t worker_alive_ns[WORKERS_MAX];

static inline void *worker_main(void *arg)
{
	struct worker *w = arg;

	w->run(w);
	worker_alive_ns[w->index] = now_ns() - w->born_ns;
	return NULL;
}

static inline void worker_start(struct worker *w, const struct bench_options *o, unsigned index,
				void (*run)(struct worker *))
{
	w->index = index;
	w->calls = o->iterations / o->threads + (index < o->iterations % o->threads);
	w->random = (o->seed + index) * 0x9e3779b97f4a7c15u | 1;
	w->options = o;
	w->run = run;
	w->born_ns = now_ns();
	if ((errno = pthread_create(&w->thread, NULL, worker_main, w)))
		bench_die("pthread_create");
}

/* One thread per worker, also where there is only one: then a thread's lifetime is known here. */
static inline void workers_run(const struct bench_options *o, void (*run)(struct worker *))
{
	struct worker *workers = calloc(o->threads, sizeof(*workers));

	if (!workers)
		bench_die("calloc");
	for (unsigned i = 0; i < o->threads; i++)
		worker_start(&workers[i], o, i, run);
	for (unsigned i = 0; i < o->threads; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
}

/* Until this worker's share of -n is done where that is given, else until a time. */
static inline bool goes_on(const struct worker *w, uint64_t done, uint64_t end_ns)
{
	return w->options->iterations ? done < w->calls : now_ns() < end_ns;
}

/*
 * The workers begin one after the other, as threads do that a program makes as it needs them: the
 * first worker's first calls have nobody in their way, so that the fastest execution of a block is
 * known even where the others never give way later. The time at which the first one began.
 */
static inline uint64_t begin_in_turn(const struct worker *w, pthread_barrier_t *start,
				     uint64_t stagger_us)
{
	uint64_t begin;

	pthread_barrier_wait(start);
	begin = now_ns();
	if (w->index && stagger_us)
		sleep_ns(w->index * stagger_us * 1000);
	return begin;
}

/* ---- truth ---- */

struct truth_thread {
	uint64_t calls, sum_ns, min_ns; /* min_ns of 0: no call yet */
	char pad[104];			/* own cache lines: bookkeeping must not be interference */
};

struct truth {
	const char *block;
	const char *cause;   /* NULL: none is known */
	const char *verdict; /* NULL: none is known */
	bool no_sci;	     /* only the count is known */
	struct truth_thread threads[WORKERS_MAX];
};

/* At the block's end, on its own thread. A nested block must not read the clock twice for nothing.
 */
static inline void truth_call(struct truth *t, unsigned thread, uint64_t begin_ns)
{
	struct truth_thread *tt = &t->threads[thread];
	uint64_t d = now_ns() - begin_ns;

	tt->calls++;
	tt->sum_ns += d;
	if (!tt->min_ns || d < tt->min_ns)
		tt->min_ns = d ? d : 1;
}

static inline double truth_sci(const struct truth *t, uint64_t *calls)
{
	uint64_t min_ns = UINT64_MAX, sum_ns = 0, alive_ns = 0;

	*calls = 0;
	for (unsigned i = 0; i < WORKERS_MAX; i++) {
		const struct truth_thread *tt = &t->threads[i];

		if (!tt->calls)
			continue;
		*calls += tt->calls;
		sum_ns += tt->sum_ns;
		alive_ns += worker_alive_ns[i];
		if (tt->min_ns < min_ns)
			min_ns = tt->min_ns;
	}
	return alive_ns ? (double)(sum_ns - *calls * min_ns) / (double)alive_ns : 0;
}

static inline void truth_print(const struct truth *t)
{
	uint64_t calls;
	double sci = truth_sci(t, &calls);

	printf("expect block=%s calls=%" PRIu64, t->block, calls);
	if (!t->no_sci)
		printf(" sci=%.3f+-%.3f", sci, sci * 0.1 > 0.03 ? sci * 0.1 : 0.03);
	if (t->cause)
		printf(" cause=%s", t->cause);
	if (t->verdict)
		printf(" verdict=%s", t->verdict);
	printf("\n");
}

/* The block's mean time as the program itself measured it. */
static inline void truth_print_mean(const struct truth *t)
{
	uint64_t calls = 0, sum_ns = 0;

	for (unsigned i = 0; i < WORKERS_MAX; i++) {
		calls += t->threads[i].calls;
		sum_ns += t->threads[i].sum_ns;
	}
	printf("mean_ns %.1f\n", calls ? (double)sum_ns / (double)calls : 0);
}

static inline void expect_calls(const char *block, uint64_t calls)
{
	printf("expect block=%s calls=%" PRIu64 "\n", block, calls);
}

/* All threads and children of the program from here on. */
static inline void stay_on_this_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		bench_die("sched_setaffinity");
}

/* An own file that nobody else sees, in TMPDIR or here: O_DIRECT and fsync need a real disk. */
static inline int own_file(int flags)
{
	const char *dir = getenv("TMPDIR") ? getenv("TMPDIR") : ".";
	char path[4096];
	int fd, again;

	snprintf(path, sizeof(path), "%s/microbench.XXXXXX", dir);
	fd = mkstemp(path);
	if (fd < 0)
		bench_die(path);
	again = open(path, flags);
	if (again < 0)
		bench_die(path);
	unlink(path);
	close(fd);
	return again;
}

#endif
