/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program of phases: `calm` calls f seldom and long, `dear` far too often to be traced, even in
 * turns, `other` calls g seldom and long. SIGUSR1 begins the next one, so each lasts until the test
 * has seen what it waits for, however busy the machine is; behind the last one the program ends.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t phase; /* index into argv, less one */
static volatile unsigned long sum;

void f(unsigned long n);
void g(unsigned long n);

static void next(int signal_number)
{
	(void)signal_number;
	phase++;
}

static inline __attribute__((always_inline)) void work(unsigned long n)
{
	while (n--)
		sum += n;
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void f(unsigned long n)
{
	work(n);
}

__attribute__((noinline)) void g(unsigned long n)
{
	work(n);
}

static void some(const char *kind)
{
	if (!strcmp(kind, "dear")) {
		for (int i = 0; i < 10000; i++)
			f(200);
	} else if (!strcmp(kind, "calm")) {
		f(1000000);
	} else {
		g(1000000);
	}
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = next, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
	while (phase < argc - 1)
		some(argv[1 + phase]);
	return 0;
}
