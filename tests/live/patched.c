/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls in threads, in forked children and in signal handlers, counted by the program itself:
 *
 *	patched THREADS FORKS CALLS SIGNAL_US	calls each thread of each process, and prints them
 *	patched wait THREADS			until SIGTERM; prints nothing but the sum
 *	patched vfork MS			for three times as long, a third of it in children's
 *place patched beside MS			as long as a child of its memory lives
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone, used, aligned(64)))
#define THREADS	 64

struct counts {
	long leaf, deep, handler;
};

static __thread struct counts made;
static struct counts all;
static long calls;
static volatile sig_atomic_t stopped;

/* It keeps its number below the stack pointer. */
FUNCTION static int leaf(int n)
{
	volatile int kept = n;

	made.leaf++;
	return kept + 1;
}

FUNCTION static void in_handler(int n)
{
	volatile long room[20] = { n };

	(void)room[0];
	__atomic_add_fetch(&all.handler, 1, __ATOMIC_RELAXED);
}

/* Calls itself, and others before and behind. */
FUNCTION static int deep(int n)
{
	volatile int room[4] = { n, n + 1, n + 2, n + 3 };
	int sum = 0;

	made.deep++;
	if (n > 0)
		sum = deep(n - 1);
	for (int i = 0; i < 4; i++)
		sum += room[i] - leaf(i);
	return sum;
}

/* Nobody calls it while the others wait. */
FUNCTION static int last(int n)
{
	volatile int room[20] = { n };

	return room[0] * 3;
}

static void on_signal(int number)
{
	in_handler(number);
}

static void on_end(int number)
{
	stopped = number;
}

static void add(void)
{
	__atomic_add_fetch(&all.leaf, made.leaf, __ATOMIC_RELAXED);
	__atomic_add_fetch(&all.deep, made.deep, __ATOMIC_RELAXED);
}

static void *work(void *unused)
{
	for (long i = 0; i < calls; i++) {
		deep((int)(i % 4));
		if (i % 64 == 0)
			usleep(100); /* the recorder gets a CPU */
	}
	add();
	return unused;
}

static void *wait_for_end(void *unused)
{
	while (!stopped) {
		for (int i = 0; i < 50; i++)
			leaf(i);
		usleep(200);
	}
	add();
	return unused;
}

/* The parent waits in the kernel, where nothing stops it, and then calls for as long. */
static int fork_in_place(long ms)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < 2; i++) {
		pid_t child = vfork();

		if (!child) {
			for (long k = 0; k < ms; k++)
				nanosleep(&pause, NULL);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		for (long k = 0; k < 2 * ms; k++) {
			leaf(1);
			nanosleep(&pause, NULL);
		}
	}
	return 0;
}

static int run_beside(void *ms)
{
	usleep((useconds_t)(*(long *)ms * 1000));
	return 0;
}

static int share_memory(long ms)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t child = clone(run_beside, stack + sizeof(stack), CLONE_VM | SIGCHLD, &ms);

	while (child > 0 && !waitpid(child, NULL, WNOHANG)) {
		leaf(1);
		usleep(1000);
	}
	return child < 0;
}

static void run(int threads, int signal_us, void *(*what)(void *))
{
	const struct itimerval often = { { 0, signal_us }, { 0, signal_us } }, never = { 0 };
	pthread_t t[THREADS];

	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, what, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
}

static void print(const struct counts *c)
{
	printf("calls leaf %ld\ncalls deep %ld\ncalls in_handler %ld\n", c->leaf, c->deep,
	       c->handler);
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[argc > 4 ? 1 : 2]) : 0, results[2];
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct counts sum = { 0 }, one;

	signal(SIGTERM, on_end);
	if (argc == 3 && !strcmp(argv[1], "vfork"))
		return fork_in_place(atol(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "beside"))
		return share_memory(atol(argv[2]));
	if (argc == 3 && threads <= THREADS) {
		run(threads, 0, wait_for_end);
		print(&all);
		return 0;
	}
	if (argc != 5 || threads > THREADS || pipe(results))
		return 2;
	calls = atol(argv[3]);
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < atoi(argv[2]); i++)
		if (!fork()) {
			run(threads, atoi(argv[4]), work);
			return write(results[1], &all, sizeof(all)) != sizeof(all);
		}
	run(threads, atoi(argv[4]), work);
	while (wait(NULL) > 0)
		;
	close(results[1]);
	sum = all;
	while (read(results[0], &one, sizeof(one)) == sizeof(one)) {
		sum.leaf += one.leaf;
		sum.deep += one.deep;
		sum.handler += one.handler;
	}
	print(&sum);
	return last(1) - 3;
}
