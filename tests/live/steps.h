/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function to trace, which a program calls until SIGTERM. */
#ifndef ISPOT_TESTS_LIVE_STEPS_H
#define ISPOT_TESTS_LIVE_STEPS_H

#include <signal.h>

static volatile sig_atomic_t enough;
static volatile unsigned long work;

static void on_term(int number)
{
	(void)number;
	enough = 1;
}

__attribute__((noinline, noclone)) static void step(unsigned long n)
{
	for (unsigned long i = 0; i < n % 7 + 3; i++)
		work += i * n ^ work >> 3;
}

#endif
