/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that follow one another, so that each is given the stack and the local storage of one
 * that has ended: successive THREADS CALLS. Prints how many calls of step() each made, which is
 * CALLS.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define TRACED __attribute__((noinline, noclone, used, aligned(64)))

static long calls;

TRACED static long step(long x)
{
	volatile long s = x;

	return s + 1;
}

static void *run(void *sum)
{
	for (long i = 0; i < calls; i++)
		*(long *)sum = step(*(long *)sum);
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? atol(argv[1]) : 1, sum = 0;
	pthread_t thread;

	calls = argc > 2 ? atol(argv[2]) : 1;
	for (long i = 0; i < threads; i++) {
		if (pthread_create(&thread, NULL, run, &sum))
			return 1;
		pthread_join(thread, NULL);
	}
	printf("calls step %ld\n", sum);
	return sum == threads * calls ? 7 : 1;
}
