// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Speed, size and memory of the trace layer, for whoever changes it:
 *
 *	trace_speed [MILLION-RECORDS [CPUS [LEVEL [FILE]]]]
 *
 * Synthetic calls of 40 functions, nested, times with the jitter that probes have. Prints ns per
 * record for encoding alone, encoding with compression and writing, reading, and reading with all
 * that a report is made of; bytes per record; and peak memory. Not part of the build:
 *
 *	gcc -O2 -g -D_GNU_SOURCE -Isrc -I. tests/bench/trace_speed.c build/libispot.a …
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/result.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/reader.h"
#include "trace/record.h"
#include "trace/writer.h"

#define N_PRE (1u << 18)

struct pre {
	uint32_t kind, id, gap_ns, frame;
};

static struct pre *pre;
static char temporary[] = "/var/tmp/trace_speed.XXXXXX";
static const char *path = temporary;

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
		if (enter)
			stack[depth++] = (uint32_t)(x >> 8) % 40;
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

static void put(struct trace_writer *w, uint64_t n, uint32_t cpus)
{
	uint64_t *now = xcalloc(cpus, sizeof(*now));

	for (uint64_t i = 0; i < n; i++) {
		uint32_t cpu = (uint32_t)i % cpus;
		const struct pre *p = &pre[(i / cpus + cpu * 977) % N_PRE];
		uint32_t tid = 1000 + cpu + ((i / cpus >> 12 & 1) ? cpus : 0);

		now[cpu] += p->gap_ns;
		trace_writer_call(w, cpu, p->kind, 1000000000 + now[cpu], tid, 1000, p->id,
				  0x7ffc00000000 + tid * 0x10000ull - p->frame * 112ull);
	}
	free(now);
}

static struct trace_writer *open_writer(uint32_t cpus, int level, uint32_t chunk_bytes)
{
	struct trace_writer_options o = {
		.path = path, .n_cpus = cpus, .zstd_level = level, .chunk_bytes = chunk_bytes
	};
	struct trace_writer *w;
	struct err err = { 0 };

	unlink(path);
	if (trace_writer_open(&w, &o, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return w;
}

/* What a report needs: a session and the functions. */
static void put_meta(struct trace_writer *w)
{
	char line[512];

	trace_writer_meta(
		w, "{\"kind\":\"session\",\"version\":1,\"pid\":1000,\"start_ns\":1000000000,"
		   "\"clock\":\"monotonic\",\"cpus\":2,\"producer\":\"synthetic\"}");
	for (unsigned id = 0; id < 40; id++) {
		snprintf(
			line, sizeof(line),
			"{\"kind\":\"function\",\"id\":%u,\"object\":0,\"set\":1,\"name\":\"f%u\","
			"\"symbol\":\"f%u\",\"class\":\"nop5\",\"exit\":\"return\",\"block\":\"function\"}",
			id, id, id);
		trace_writer_meta(w, line);
	}
}

/* CPU time of all threads. */
static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double ns_each(uint64_t since_cpu_ns, uint64_t n)
{
	return (double)(now_ns() - since_cpu_ns) / (double)n;
}

static void encode_only(void)
{
	struct trace_writer *w = open_writer(1, 0, 16u << 20);
	uint64_t n = 1500000, start;

	put(w, n, 1); /* touches the pages */
	trace_writer_flush(w, NULL);
	start = now_ns();
	put(w, n, 1);
	printf("encode %.1f ns a record\n", ns_each(start, n));
	trace_writer_close(w, NULL);
}

static void encode_and_write(uint64_t n, uint32_t cpus, int level)
{
	struct trace_writer *w = open_writer(cpus, level, 0);
	uint64_t start = now_ns();
	char line[64];

	for (int id = 0; id < 40; id++) {
		snprintf(line, sizeof(line), "{\"kind\":\"function\",\"id\":%d,\"symbol\":\"f%d\"}",
			 id, id);
		trace_writer_meta(w, line);
	}
	put(w, n, cpus);
	trace_writer_flush(w, NULL);
	printf("write, level %d: %.1f ns and %.2f bytes a record\n", level, ns_each(start, n),
	       (double)trace_writer_bytes(w) / (double)n);
	trace_writer_close(w, NULL);
}

static void read_back(uint64_t n, uint32_t cpus)
{
	struct trace_reader *r;
	const struct record *records;
	uint64_t start = now_ns(), seen = 0, sum = 0;
	struct rusage usage;
	size_t k;

	if (trace_reader_open(&r, path, NULL))
		exit(1);
	printf("open: %.1f ms\n", (double)(now_ns() - start) / 1e6);
	while ((k = trace_reader_batch(r, &records))) {
		seen += k;
		for (size_t i = 0; i < k; i++)
			sum += records[i].time_ns ^ records[i].sp;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("read %u CPUs: %.1f ns a record, %ld KiB resident at most (sum %llx)\n", cpus,
	       ns_each(start, seen), usage.ru_maxrss, (unsigned long long)sum);
	if (seen != n)
		printf("WRONG: %llu records of %llu\n", (unsigned long long)seen,
		       (unsigned long long)n);
	trace_reader_free(r);
}

/* Reading, pairing, scores and percentiles, without causes. */
static void pair(uint64_t n, uint32_t cpus)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct trace_reader *r;
	struct calls calls;
	struct sci sci;
	struct call_visitor v = sci_visitor(&sci);
	uint64_t start = now_ns(), wall = clock_now_ns();

	if (trace_reader_open(&r, path, NULL))
		exit(1);
	sci_init(&sci, &calls, trace_reader_meta(r));
	if (result_scan(&calls, r, &o, &v, NULL))
		exit(1);
	printf("pair  %u CPUs: %.1f ns a record, %.1f wall\n", cpus, ns_each(start, n), (double)(clock_now_ns()-wall)/(double)n);
	sci_release(&sci);
	trace_reader_free(r);
}

static void score(uint64_t n, uint32_t cpus)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct trace_reader *r;
	struct result result;
	struct rusage usage;
	uint64_t start = now_ns(), wall = clock_now_ns();

	if (trace_reader_open(&r, path, NULL) || result_read(&result, r, &o, NULL))
		exit(1);
	getrusage(RUSAGE_SELF, &usage);
	printf("score %u CPUs: %.1f ns a record, %.1f wall, %ld KiB resident at most\n", cpus,
	       ns_each(start, n), (double)(clock_now_ns()-wall)/(double)n, usage.ru_maxrss);
	result_release(&result);
	trace_reader_free(r);
}

/* In a process of its own: its memory is then the reader's. */
static void in_child(void (*f)(uint64_t, uint32_t), uint64_t n, uint32_t cpus)
{
	fflush(stdout);
	if (fork() == 0) {
		free(pre);
		f(n, cpus);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	uint64_t n = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000;
	uint32_t cpus = argc > 2 ? (uint32_t)atoi(argv[2]) : 2;
	int level = argc > 3 ? atoi(argv[3]) : 0;

	if (argc > 4)
		path = argv[4];
	else
		close(mkstemp(temporary));
	if (getenv("FILE_ONLY")) {
		struct trace_reader *r;
		if (trace_reader_open(&r, path, NULL))
			exit(1);
		n = trace_reader_records(r);
		trace_reader_free(r);
		in_child(read_back, n, cpus);
		in_child(pair, n, cpus);
		in_child(score, n, cpus);
		return 0;
	}
	prepare();
	encode_only();
	encode_and_write(n, cpus, level);
	in_child(read_back, n, cpus);
	in_child(pair, n, cpus);
	in_child(score, n, cpus);
	if (path == temporary)
		unlink(path);
	return 0;
}
