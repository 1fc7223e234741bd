// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * CPU seconds that clustering takes, for `make bench` (build/bench/cluster_speed):
 *
 *	cluster_speed EVENTS THREADS random|alike
 *
 * random: no two events alike, nothing merges: every event looks at every other. alike: events
 * follow one of 50 courses with noise, as a program's do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/stat/cluster.h"
#include "base/mem.h"

#define COURSES 50

static double uniform(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) / 9007199254740992.0;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	uint32_t n = argc == 4 ? (uint32_t)atol(argv[1]) : 0;
	size_t threads = argc == 4 ? (size_t)atol(argv[2]) : 0;
	double noise = argc == 4 && !strcmp(argv[3], "alike") ? 0.3 : 1e6;
	double *counts, *courses, begin;
	struct clusters c;

	if (!n || !threads) {
		fprintf(stderr, "usage: cluster_speed EVENTS THREADS random|alike\n");
		return 2;
	}
	counts = xmalloc(n * threads * sizeof(*counts));
	courses = xmalloc(COURSES * threads * sizeof(*courses));
	for (size_t i = 0; i < COURSES * threads; i++)
		courses[i] = uniform();
	for (size_t i = 0; i < n * threads; i++)
		counts[i] =
			courses[i / threads % COURSES * threads + i % threads] + noise * uniform();
	begin = cpu_seconds();
	clusters_build(&c, counts, n, threads,
		       &(struct cluster_options){ CLUSTER_THRESHOLD, CLUSTER_BULK });
	printf("seconds %.3f\n", cpu_seconds() - begin);
	printf("clusters %u\n", c.n);
	clusters_release(&c);
	free(courses);
	free(counts);
	return 0;
}
