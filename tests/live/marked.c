/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads serve requests, marked, until SIGUSR1 or as many as they are told. Behind each,
 * another marker is passed far too often to be traced; barriers keep the threads in step. None of
 * it is a function of its own.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "probes/ispot.h"

#define THREADS	    2
#define ROUND_NS    2000000
#define TINY_ROUNDS 20000

static volatile sig_atomic_t over;
static volatile int last;
static unsigned long rounds; /* to go; 0: no end */
static volatile unsigned long sums[THREADS][64];
static pthread_barrier_t barrier;

static void end(int signal_number)
{
	(void)signal_number;
	over = 1;
}

static inline __attribute__((always_inline)) void pause_for(long ns)
{
	const struct timespec pause = { .tv_nsec = ns };

	nanosleep(&pause, NULL);
}

static void *serve(void *sum)
{
	volatile unsigned long *own = sum;

	do {
		ISPOT_BEGIN(request);
		pause_for(ROUND_NS);
		ISPOT_END(request);
		for (int i = 0; i < TINY_ROUNDS; i++) {
			ISPOT_BEGIN(tiny);
			++*own;
			ISPOT_END(tiny);
		}
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			last = over || (rounds && !--rounds); /* one decides for both */
		pthread_barrier_wait(&barrier);
	} while (!last);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = end, .sa_flags = SA_RESTART };
	pthread_t threads[THREADS];

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	sigaction(SIGUSR1, &action, NULL);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve, (void *)sums[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
