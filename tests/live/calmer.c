/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For two seconds f is called far too often to be traced, then seldom and long. */
#include <time.h>

static volatile unsigned long sum;

void f(unsigned long n);

__attribute__((noinline)) void f(unsigned long n)
{
	while (n--)
		sum += n;
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	while (clock() < 2 * CLOCKS_PER_SEC)
		for (int i = 0; i < 1000; i++)
			f(2000);
	while (clock() < 28 * CLOCKS_PER_SEC)
		f(1000000);
	return 0;
}
