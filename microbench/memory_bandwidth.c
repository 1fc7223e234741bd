/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads go through buffers far larger than the caches. In one round all do, in the next only the
 * first, which then has the memory for itself.
 */
#include "common.h"

enum { BLOCK_BYTES = 1 << 20, BUFFER_BYTES = 64 << 20, CALLS_IN_ROUND = 16, LINE_BYTES = 64 };

static struct truth streams = { .block = "stream_block", .cause = "memory-bandwidth" };
static pthread_barrier_t round_ends;

TRACED void stream_block(unsigned thread, char *block)
{
	uint64_t begin = now_ns();

	for (size_t i = 0; i < BLOCK_BYTES; i += LINE_BYTES)
		block[i]++;
	truth_call(&streams, thread, begin);
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
			stream_block(w->index, buffer + at % BUFFER_BYTES);
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
	return 0;
}
