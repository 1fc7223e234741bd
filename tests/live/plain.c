/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plainest program that does not scale: threads take turns with one mutex, all of their time is
 * in a leaf. Nothing in it knows of ispot. It ends after so many rounds, or with 0 at SIGUSR1. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;
static long rounds = 20011;
static volatile sig_atomic_t over;

static void end(int signal_number)
{
	(void)signal_number;
	over = 1;
}

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noinline)) static void spin_work(long ns)
{
	for (long end = now_ns() + ns; now_ns() < end;)
		for (int i = 0; i < 100; i++)
			sum++;
}

__attribute__((noinline)) static void locked_add(void)
{
	pthread_mutex_lock(&lock);
	spin_work(20000);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void own_work(void)
{
	spin_work(20000);
	sum++;
}

static void *run(void *unused)
{
	for (long i = 0; rounds ? i < rounds : !over; i++) {
		locked_add();
		own_work();
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	signal(SIGUSR1, end);
	if (argc > 1)
		rounds = atol(argv[1]);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
