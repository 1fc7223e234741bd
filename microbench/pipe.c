/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A reader of a pipe whose writer sends two messages at a time, after a known pause. */
#include "common.h"

static int ends[2];
static uint64_t slept;
static struct truth reads = { .block = "read_message", .cause = "pipe" };

TRACED void read_message(unsigned thread)
{
	uint64_t message, begin = now_ns();

	if (read(ends[0], &message, sizeof(message)) != sizeof(message))
		bench_die("read");
	truth_call(&reads, thread, begin);
}

static void *send_messages(void *arg)
{
	const struct bench_options *o = arg;
	uint64_t pair[2] = { 0, 1 };

	for (uint64_t left = o->iterations; left;) {
		uint64_t n = left < 2 ? left : 2;

		sleep_ns(o->delay_us * 1000);
		if (write(ends[1], pair, n * sizeof(*pair)) < 0)
			bench_die("write");
		left -= n;
	}
	return NULL;
}

static void run(struct worker *w)
{
	uint64_t before = sleeps_of_thread();

	for (uint64_t i = 0; i < w->calls; i++) {
		read_message(w->index);
		spin_ns(40000);
	}
	__atomic_fetch_add(&slept, sleeps_of_thread() - before, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "pipe",
				   .what = "A reader waits for a pipe's writer.",
				   .threads = 1,
				   .iterations = 5003,
				   .delay_us = 300,
				   .seed = 1 };
	pthread_t writer;

	bench_parse(&o, argc, argv);
	if (pipe(ends))
		bench_die("pipe");
	if ((errno = pthread_create(&writer, NULL, send_messages, &o)))
		bench_die("pthread_create");
	workers_run(&o, run);
	pthread_join(writer, NULL);
	truth_print(&reads);
	printf("slept %" PRIu64 "\n", slept);
	return 0;
}
