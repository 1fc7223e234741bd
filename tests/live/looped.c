/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function whose first instruction is the head of its own loop, as compilers make of some: called
 * a thousand times, a million rounds each. */
#include <stdio.h>
#include <stdlib.h>

void looped(unsigned long rounds);

#ifdef __x86_64__
__asm__(".text\n.globl looped\n.type looped, @function\nlooped:\n"
	"	subq $1, %rdi\n	jne looped\n	ret\n.size looped, . - looped\n");
#else
__asm__(".text\n.globl looped\n.type looped, %function\nlooped:\n"
	"	subs x0, x0, #1\n	b.ne looped\n	ret\n.size looped, . - looped\n");
#endif

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;

	for (unsigned long i = 0; i < calls; i++)
		looped(1000000);
	printf("calls %lu\n", calls);
	return 0;
}
