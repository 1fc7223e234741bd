// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Speed, size and memory of a trace's way from records to a report, for `make bench` and whoever
 * changes it (build/bench/trace_speed):
 *
 *	trace_speed [-n MILLIONS] [-c CPUS] [-t THREADS] [-f FUNCTIONS] [-g CALLEES] [-l LEVEL]
 *	            [-o FILE [-w]]
 *	trace_speed -i FILE [-r FIGURE]      an existing recording
 *
 * With -w it only writes FILE. With -r it measures that figure only: whoever wants to know where
 * the time goes, whatever else runs, counts instructions and misses of the last cache level
 *
 *	valgrind --tool=cachegrind --cache-sim=yes --LL=1048576,16,64 \
 *		build/bench/trace_speed -i FILE -r report_ns
 *
 * Synthetic calls of -f functions (40), nested, at random, times with the jitter that probes have:
 * harder to predict than a program's calls. Each calls any of them, or -g of them. Prints, one
 * "name value" a line:
 *
 *	encode_ns write_ns bytes        a record of: encoding; that, compressing and writing
 *	read_ns pair_ns report_ns       on one CPU, its time: reading; pairing, scores and
 *	                                percentiles as well; all that `ispot report` does
 *	pair_wall_ns report_wall_ns     the same with all CPUs, elapsed
 *	report_kb                       peak memory of the whole report
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/result/result.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/read/reader.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define N_PRE (1u << 18)

struct pre {
	uint32_t kind, id, gap_ns, frame;
};

static struct pre *pre;
static char temporary[] = "/var/tmp/trace_speed.XXXXXX";
static const char *path = temporary;
static uint32_t cpus = 2, threads = 4, functions = 40, callees;
static int level;

static void fail(const char *what)
{
	fprintf(stderr, "trace_speed: %s\n", what);
	exit(1);
}

/* caller: NULL: the thread itself */
static uint32_t called(const uint32_t *caller, uint32_t random)
{
	if (!callees || !caller)
		return random % functions;
	return (*caller * callees + random % callees) % functions;
}

/* Entries and exits of a random walk over call depths, as rows to be replayed at any time. */
static void prepare(void)
{
	uint64_t x = 88172645463325252ull;
	uint32_t stack[16], depth = 0;

	pre = xcalloc(N_PRE, sizeof(*pre));
	for (uint32_t i = 0; i < N_PRE; i++) {
		bool enter;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		enter = depth == 0 || (depth < 8 && x % 2);
		if (enter) {
			stack[depth] = called(depth ? &stack[depth - 1] : NULL, (uint32_t)(x >> 8));
			depth++;
		}
		pre[i].kind = enter ? REC_ENTRY : REC_EXIT;
		pre[i].frame = depth;
		pre[i].id = stack[enter ? depth - 1 : --depth];
		/* A log-normal-like spread: most gaps are some hundred ns, one in 64 much longer.
		 */
		pre[i].gap_ns = 400 + (uint32_t)(x >> 20) % 256 + (uint32_t)(x >> 30) % 400;
		if (x >> 58 == 0)
			pre[i].gap_ns += (uint32_t)(x >> 32) % 50000;
	}
}

/* The threads of a CPU take turns. */
static void put(struct trace_writer *w, uint64_t n)
{
	uint64_t *now = xcalloc(cpus, sizeof(*now));
	uint32_t turns = threads / cpus ? threads / cpus : 1;

	for (uint64_t i = 0; i < n; i++) {
		uint32_t cpu = (uint32_t)(i % cpus);
		const struct pre *p = &pre[(i / cpus + cpu * 977) % N_PRE];
		uint32_t tid = 1000 + cpu + cpus * (uint32_t)((i / cpus >> 12) % turns);

		now[cpu] += p->gap_ns;
		trace_writer_call(w, cpu, p->kind, 1000000000 + now[cpu], tid, 1000, p->id,
				  0x7ffc00000000 + tid * 0x10000ull - p->frame * 112ull);
	}
	free(now);
}

static struct trace_writer *open_writer(uint32_t n_cpus, uint32_t chunk_bytes)
{
	struct trace_writer_options o = {
		.path = path, .n_cpus = n_cpus, .zstd_level = level, .chunk_bytes = chunk_bytes
	};
	struct trace_writer *w;
	struct err err = { 0 };

	unlink(path);
	if (trace_writer_open(&w, &o, &err))
		fail(err.text);
	return w;
}

/* What a report needs: a session and the functions. */
static void put_meta(struct trace_writer *w)
{
	char line[512];

	trace_writer_meta(
		w, "{\"kind\":\"session\",\"version\":1,\"pid\":1000,\"start_ns\":1000000000,"
		   "\"clock\":\"monotonic\",\"cpus\":2,\"producer\":\"synthetic\"}");
	for (unsigned id = 0; id < functions; id++) {
		snprintf(
			line, sizeof(line),
			"{\"kind\":\"function\",\"id\":%u,\"object\":0,\"set\":1,\"name\":\"f%u\","
			"\"symbol\":\"f%u\",\"class\":\"nop5\",\"exit\":\"return\",\"block\":\"function\"}",
			id, id, id);
		trace_writer_meta(w, line);
	}
}

static void encode_only(void)
{
	struct trace_writer *w = open_writer(cpus, 16u << 20);
	uint64_t n = 1000000 * cpus, start;

	put(w, n); /* touches the pages */
	trace_writer_flush(w, NULL);
	start = clock_cpu_ns();
	put(w, n);
	printf("encode_ns %.1f\n", (double)(clock_cpu_ns() - start) / (double)n);
	trace_writer_close(w, NULL);
}

static void encode_and_write(uint64_t n)
{
	struct trace_writer *w = open_writer(cpus, 0);
	uint64_t start = clock_cpu_ns();

	put_meta(w);
	put(w, n);
	trace_writer_flush(w, NULL);
	printf("write_ns %.1f\nbytes %.2f\n", (double)(clock_cpu_ns() - start) / (double)n,
	       (double)trace_writer_bytes(w) / (double)n);
	trace_writer_close(w, NULL);
}

/* ---- reading ---- */

static struct trace_reader *open_reader(void)
{
	struct trace_reader *r;
	struct err err = { 0 };

	if (trace_reader_open(&r, path, &err))
		fail(err.text);
	return r;
}

static void read_only(uint64_t n)
{
	uint64_t seen = 0, sum = 0;
	struct trace_reader *r = open_reader();
	const struct record *records;
	size_t k;

	while ((k = trace_reader_batch(r, &records))) {
		seen += k;
		for (size_t i = 0; i < k; i++)
			sum += records[i].time_ns ^ records[i].sp;
	}
	*(volatile uint64_t *)&sum = sum;
	if (seen != n)
		fail("records are missing");
	trace_reader_free(r);
}

static void pair(uint64_t n)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct trace_reader *r = open_reader();
	struct calls calls;
	struct sci sci;
	struct call_visitor v = sci_visitor(&sci);

	(void)n;
	sci_init(&sci, &calls, trace_reader_meta(r));
	if (result_scan(&calls, r, &o, &v, NULL))
		fail("cannot scan");
	for (uint32_t id = 0; id < sci.functions.n; id++)
		if (sci.functions.data[id])
			hist_quantile(&sci.functions.data[id]->durations, 0.99);
	sci_release(&sci);
	trace_reader_free(r);
}

static void report(uint64_t n)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct trace_reader *r = open_reader();
	struct result result;

	(void)n;
	if (result_read(&result, r, &o, NULL))
		fail("cannot read");
	result_release(&result);
	trace_reader_free(r);
}

static void one_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/*
 * In a process of its own, whose memory is then the reader's; that of the last is printed. On one
 * CPU its CPU time counts, else the time elapsed.
 */
static void in_child(const char *name, void (*f)(uint64_t), uint64_t n, bool alone)
{
	uint64_t start = clock_now_ns();
	struct rusage usage;
	double elapsed;
	int status;

	fflush(stdout);
	if (fork() == 0) {
		free(pre);
		if (alone)
			one_cpu();
		f(n);
		elapsed = (double)(clock_now_ns() - start);
		getrusage(RUSAGE_SELF, &usage);
		if (alone)
			elapsed = 1e9 * (seconds(&usage.ru_utime) + seconds(&usage.ru_stime));
		printf("%s %.1f\n", name, elapsed / (double)n);
		if (!strcmp(name, "report_ns"))
			printf("report_kb %ld\n", usage.ru_maxrss);
		fflush(stdout);
		_exit(0);
	}
	if (wait(&status) < 0 || status)
		exit(1);
}

/* only: a figure's name, NULL: all */
static void measure(uint64_t n, const char *only)
{
	static const struct {
		const char *name;
		void (*f)(uint64_t n);
		bool alone;
	} figures[] = {
		{ "read_ns", read_only, true },	     { "pair_ns", pair, true },
		{ "report_ns", report, true },	     { "pair_wall_ns", pair, false },
		{ "report_wall_ns", report, false },
	};

	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		if (!only || !strcmp(only, figures[i].name))
			in_child(figures[i].name, figures[i].f, n, figures[i].alone);
}

static uint64_t records_of_file(void)
{
	struct trace_reader *r = open_reader();
	uint64_t n = trace_reader_records(r);

	trace_reader_free(r);
	return n;
}

int main(int argc, char **argv)
{
	const char *usage = "usage: trace_speed [-n MILLIONS] [-c CPUS] [-t THREADS] "
			    "[-f FUNCTIONS] [-l LEVEL] [-o FILE [-w]] | -i FILE [-r FIGURE]";
	const char *only = NULL;
	uint64_t n = 10000000;
	bool given = false, only_write = false;

	for (int c; (c = getopt(argc, argv, "n:c:t:f:g:l:o:i:r:w")) != -1;)
		switch (c) {
		case 'w':
			only_write = true;
			break;
		case 'n':
			n = strtoull(optarg, NULL, 10) * 1000000;
			break;
		case 'c':
			cpus = (uint32_t)atoi(optarg);
			break;
		case 't':
			threads = (uint32_t)atoi(optarg);
			break;
		case 'f':
			functions = (uint32_t)atoi(optarg);
			break;
		case 'g':
			callees = (uint32_t)atoi(optarg);
			break;
		case 'l':
			level = atoi(optarg);
			break;
		case 'r':
			only = optarg;
			break;
		case 'i':
			given = true; /* fall through */
		case 'o':
			path = optarg;
			break;
		default:
			fail(usage);
		}
	if (!cpus || !functions || !n)
		fail(usage);
	if (given) {
		n = records_of_file();
	} else {
		if (path == temporary)
			close(mkstemp(temporary));
		prepare();
		encode_only();
		encode_and_write(n);
	}
	printf("records %llu\n", (unsigned long long)n);
	if (!only_write)
		measure(n, only);
	if (path == temporary)
		unlink(path);
	return 0;
}
