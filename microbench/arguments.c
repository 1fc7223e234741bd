/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions whose arguments and results are known: small and negative numbers, one behind a
 * floating-point number, one narrower than its register, and more than three.
 */
#include "common.h"

static uint64_t calls;

/* A tag of 8 bits arrives with other bits in the rest of its register. */
TRACED long weigh(int item, double weight, uint64_t size, unsigned char tag)
{
	__asm__ volatile("" : : "x"(weight));
	return item < 0 ? item : (long)(size + tag);
}

TRACED int pick(int a, int b, int c, int d, int e)
{
	return a + b + c + d + e;
}

struct box {
	long sides[5];
};

/* A structure by value, and what is behind it. */
TRACED long weigh_box(struct box b, int number)
{
	return b.sides[0] * number;
}

static void run(struct worker *w)
{
	volatile int sink = 0;

	sink += (int)weigh_box((struct box){ { 1 } }, 2);
	for (uint64_t i = 0; i < w->calls; i++) {
		int item = (int)(i % 5) - 2;

		sink += (int)weigh(item, 1.5, 1000u << i % 3, (unsigned char)(i % 4 + 0xf0));
		sink += pick(1, 2, 3, (int)(i % 2), 5);
	}
	__atomic_fetch_add(&calls, w->calls, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "arguments",
				   .what = "Arguments and results that are known.",
				   .threads = 2,
				   .iterations = 12000,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	printf("expect block=weigh calls=%" PRIu64 "\n", calls);
	printf("expect block=pick calls=%" PRIu64 "\n", calls);
	return 0;
}
