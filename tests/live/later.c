/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first run calls f seldom and long, later runs often: FILE tells which it is. */
#include <fcntl.h>
#include <time.h>

static volatile unsigned long sum;

void f(unsigned long n);

__attribute__((noinline)) void f(unsigned long n)
{
	while (n--)
		sum += n;
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	int first = argc > 1 && open(argv[1], O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0;

	while (clock() < (first ? 1 : 2) * CLOCKS_PER_SEC)
		for (int i = 0; i < 1000; i++) {
			f(first ? 1000000 : 10);
			if (first)
				break;
		}
	return 0;
}
