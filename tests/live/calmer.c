/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For two seconds f is called far too often to be traced, then seldom and long. Before that for so
 * many seconds, too, as are given. By CPU time, so that a busy machine changes nothing. */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sum;

void f(unsigned long n);

__attribute__((noinline)) void f(unsigned long n)
{
	while (n--)
		sum += n;
	__asm__ volatile("" ::: "memory");
}

static void until(long seconds, int times, unsigned long n)
{
	while (clock() < seconds * CLOCKS_PER_SEC)
		for (int i = 0; i < times; i++)
			f(n);
}

int main(int argc, char **argv)
{
	long calm = argc > 1 ? atol(argv[1]) : 0;

	until(calm, 1, 1000000);
	until(calm + 2, 1000, 2000);
	until(calm + 28, 1, 1000000);
	return 0;
}
