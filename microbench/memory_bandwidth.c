/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads go through buffers far larger than the caches. In one round all do, in the next only the
 * first, which then has the memory for itself. How long calls took that had company from their
 * begin to their end, and how long the others, is printed: on a busy machine threads may hardly
 * meet.
 */
#include "common.h"

enum { BLOCK_BYTES = 1 << 20, BUFFER_BYTES = 64 << 20, CALLS_IN_ROUND = 16, LINE_BYTES = 64 };

static struct truth streams = { .block = "stream_block", .cause = "memory-bandwidth" };
static pthread_barrier_t round_ends;

enum { BUCKETS = 4096, BUCKET_NS = 250 };
struct lengths {
	uint64_t calls, buckets[BUCKETS];
};
static struct lengths alone, together;
static unsigned inside;

TRACED void stream_block(unsigned thread, char *block)
{
	uint64_t begin = now_ns();

	for (size_t i = 0; i < BLOCK_BYTES; i += LINE_BYTES)
		block[i]++;
	truth_call(&streams, thread, begin);
}

static void count_length(struct lengths *l, uint64_t ns)
{
	uint64_t i = ns / BUCKET_NS;

	__atomic_fetch_add(&l->calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&l->buckets[i < BUCKETS ? i : BUCKETS - 1], 1, __ATOMIC_RELAXED);
}

static uint64_t median_ns(const struct lengths *l)
{
	uint64_t seen = 0;
	unsigned i = 0;

	while (i < BUCKETS - 1 && (seen += l->buckets[i]) * 2 < l->calls)
		i++;
	return (uint64_t)i * BUCKET_NS;
}

static void stream_and_count(unsigned thread, char *block)
{
	bool before = __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST) > 0;
	uint64_t begin = now_ns(), ns;

	stream_block(thread, block);
	ns = now_ns() - begin;
	count_length(__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST) > 0 && before ? &together
										    : &alone,
		     ns);
}

static void run(struct worker *w)
{
	char *buffer = malloc(BUFFER_BYTES);
	size_t at = 0;

	if (!buffer)
		bench_die("malloc");
	memset(buffer, 1, BUFFER_BYTES);
	for (uint64_t round = 0; round < w->options->iterations; round++) {
		pthread_barrier_wait(&round_ends);
		for (int i = 0; i < CALLS_IN_ROUND && (round % 2 == 0 || w->index == 0); i++) {
			stream_and_count(w->index, buffer + at % BUFFER_BYTES);
			at += BLOCK_BYTES;
		}
	}
	free(buffer);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "memory_bandwidth",
				   .what = "Threads fill the memory's bandwidth; -n counts the "
					   "rounds.",
				   .threads = 2,
				   .iterations = 101,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	pthread_barrier_init(&round_ends, NULL, (unsigned)o.threads);
	workers_run(&o, run);
	truth_print(&streams);
	printf("together calls=%" PRIu64 " median_ns=%" PRIu64 "\n", together.calls,
	       median_ns(&together));
	printf("alone calls=%" PRIu64 " median_ns=%" PRIu64 "\n", alone.calls, median_ns(&alone));
	return 0;
}
