/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function without a frame that sleeps, called from three places: its return address is the word
 * at the stack pointer, or in the link register, where no step up the stack leads to it. The last
 * place signs its own return address where the processor can. The number of turns is the argument.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#define TRACED __attribute__((noinline, noclone))

#if defined(__aarch64__)
#define SIGNED __attribute__((target("branch-protection=pac-ret")))
#else
#define SIGNED
#endif

static const struct timespec a_moment = { .tv_nsec = 300000 };
static volatile unsigned long work;

TRACED static long nap(void)
{
#if defined(__aarch64__)
	register long number asm("x8") = SYS_nanosleep;
	register const struct timespec *time asm("x0") = &a_moment;
	register long remaining asm("x1") = 0;

	asm volatile("svc 0" : "+r"(time) : "r"(number), "r"(remaining) : "memory");
	return (long)time;
#else
	long ret = SYS_nanosleep;

	asm volatile("syscall" : "+a"(ret) : "D"(&a_moment), "S"(0L) : "rcx", "r11", "memory");
	return ret;
#endif
}

TRACED static void first_place(void)
{
	nap();
	work++;
}

TRACED static void second_place(void)
{
	nap();
	work += 2;
}

SIGNED TRACED static void signed_place(void)
{
	nap();
	work += 3;
}

TRACED static void turn(void)
{
	first_place();
	second_place();
	signed_place();
	work++;
}

TRACED static void ended(void)
{
	work++;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? strtoul(argv[1], NULL, 10) : 101;

	for (unsigned i = 0; i < n; i++)
		turn();
	ended();
	printf("slept in each of three places %u times\n", n);
	return 0;
}
