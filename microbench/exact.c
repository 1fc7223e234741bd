/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known numbers of calls through nested, recursive and tail-calling functions, from several
 * threads. Can end with any status or signal, so that a recorder's own exit can be compared.
 */
#include <signal.h>

#include "common.h"

enum { FACTORIAL_DEPTH = 11 };

TRACED uint64_t inner(uint64_t x)
{
	return x * 3;
}

TRACED uint64_t middle(uint64_t x)
{
	return inner(x) + inner(x + 1) + 1;
}

TRACED uint64_t outer(uint64_t x)
{
	return middle(x) ^ inner(x);
}

TRACED uint64_t factorial(uint64_t n)
{
	uint64_t below = n < 2 ? 1 : factorial(n - 1);

	__asm__ volatile("" : "+r"(below)); /* or gcc makes a loop of it */
	return n * below;
}

TRACED uint64_t tail_target(uint64_t x)
{
	return x + 7;
}

/* Leaves by a jump: two entries and two exits with the same stack pointer. */
TRACED uint64_t tail_caller(uint64_t x)
{
	return tail_target(x + 1);
}

TRACED uint64_t only_thread_zero(uint64_t x)
{
	return x;
}

/* Never called: a report must not count it. */
TRACED uint64_t never_called(uint64_t x)
{
	return x + 1;
}

static uint64_t zero_calls;

static void run(struct worker *w)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < w->calls; i++) {
		sum += outer(i) + factorial(FACTORIAL_DEPTH) + tail_caller(i);
		if (w->index == 0) {
			sum += only_thread_zero(i);
			zero_calls++;
		}
		if (sum == 1)
			sum += never_called(i);
	}
	__asm__ volatile("" : : "r"(sum));
}

static void expect_all(uint64_t n)
{
	expect_calls("outer", n);
	expect_calls("middle", n);
	expect_calls("inner", 3 * n);
	expect_calls("factorial", FACTORIAL_DEPTH * n);
	expect_calls("tail_caller", n);
	expect_calls("tail_target", n);
	expect_calls("only_thread_zero", zero_calls);
}

int main(int argc, char **argv)
{
	uint64_t status = 0, signal_number = 0;
	const struct bench_extra extras[] = {
		{ "exit", "STATUS", "exit status (0)", &status, NULL },
		{ "signal", "N", "die of signal N", &signal_number, NULL },
		{ 0 }
	};
	struct bench_options o = { .name = "exact",
				   .what = "Known numbers of calls.",
				   .threads = 3,
				   .iterations = 10007,
				   .seed = 1,
				   .extras = extras };

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	expect_all(o.iterations);
	fflush(stdout);
	if (signal_number)
		raise((int)signal_number);
	return (int)status;
}
