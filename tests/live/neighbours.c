/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that share the CPUs, one by its name: `requests SECONDS N` does N requests, or as many
 * as it can, each a marker around some 300 us of work; `hungry` wants two CPUs without end;
 * `sleeper` wakes a thousand times a second and does next to nothing.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probes/ispot.h"

static volatile uint64_t sink;

static void work(uint64_t rounds)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < rounds; i++)
		x = x * 6364136223846793005ull + i;
	sink = x;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* As much as takes 300 us when nobody disturbs it. */
static uint64_t calibrate(void)
{
	uint64_t least = UINT64_MAX, begin, took;

	for (int i = 0; i < 200; i++) {
		begin = now_ns();
		work(10000);
		took = now_ns() - begin;
		least = took < least ? took : least;
	}
	return 300000ull * 10000 / (least ? least : 1);
}

static void do_requests(double seconds, uint64_t most)
{
	uint64_t end_ns = now_ns() + (uint64_t)(seconds * 1e9), rounds = calibrate(), n = 0;

	for (; n < most && now_ns() < end_ns; n++) {
		ISPOT_BEGIN(request);
		work(rounds);
		ISPOT_END(request);
	}
	printf("requests %llu\n", (unsigned long long)n);
}

static void *spin(void *arg)
{
	for (;;)
		work(1000000);
	return arg;
}

static void doze(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (;;) {
		nanosleep(&pause, NULL);
		work(100);
	}
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	pthread_t thread;

	if (!strcmp(name, "hungry")) {
		pthread_create(&thread, NULL, spin, NULL);
		spin(NULL);
	}
	if (!strcmp(name, "sleeper"))
		doze();
	do_requests(argc > 1 ? atof(argv[1]) : 1,
		    argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_MAX);
	return 0;
}
