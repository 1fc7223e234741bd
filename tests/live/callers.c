/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known call sites, in code without frame pointers: leaf() from two lines of middle(), from a
 * function inlined into main(), and by a tail call, whose site is that of the function that jumps.
 * Prints how often each was: site CALLEE CALLER LINE COUNT.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TRACED __attribute__((noinline, noclone))

static volatile unsigned long work;

TRACED static void leaf(unsigned n)
{
	while (n--)
		work++;
}

static unsigned first_line, second_line, inlined_line, tail_line, again_line;

TRACED static void middle(void)
{
	first_line = __LINE__ + 1;
	leaf(3);
	work++;
	second_line = __LINE__ + 1;
	leaf(5);
	work++;
}

TRACED static void outer(void)
{
	middle();
	work++;
}

TRACED __attribute__((optimize("O2"))) static void tail(void)
{
	leaf(2);
}

static inline __attribute__((always_inline)) void inlined(void)
{
	inlined_line = __LINE__ + 1;
	leaf(4);
	work++;
}

TRACED static void again(unsigned depth)
{
	if (depth) {
		again_line = __LINE__ + 1;
		again(depth - 1);
	}
	work++;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1009;

	for (unsigned i = 0; i < n; i++) {
		outer();
		inlined();
		tail_line = __LINE__ + 1;
		tail();
		work++;
		if (i % 7 == 0)
			again(3);
		getppid();
	}
	printf("site leaf middle %u %u\n", first_line, n);
	printf("site leaf middle %u %u\n", second_line, n);
	printf("site leaf inlined %u %u\n", inlined_line, n);
	printf("site leaf main %u %u\n", tail_line, n);
	printf("site again again %u %u\n", again_line, 3 * ((n + 6) / 7));
	return 0;
}
