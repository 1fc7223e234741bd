/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that is called once and whose time is all in one loop of its own, which calls nothing.
 */
#include <stdlib.h>

static volatile unsigned long sum;

void once(unsigned long n);

__attribute__((noinline)) void once(unsigned long n)
{
	while (n--)
		sum += n;
}

int main(int argc, char **argv)
{
	once(argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000000);
	return 0;
}
