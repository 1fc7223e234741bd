/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks marked with probes/ispot.h: one that begins in one function and ends, at several places,
 * in another; one in a leaf function that keeps its data in the red zone; a loop that records one
 * iteration in 100; a block that contains itself. --fault makes each of the mistakes that can be
 * made with markers; --cost prints what a pair costs.
 */
#include "common.h"
#include "probes/ispot.h"

#define LOOP_PERIOD 100
#define COST_ROUNDS 7

static struct truth replies = { .block = "wait_reply", .cause = "sleep" };

static uint64_t begun[WORKERS_MAX];

TRACED void send_request(unsigned thread, uint64_t i)
{
	ISPOT_BEGIN(wait_reply, thread, i);
	begun[thread] = now_ns();
}

TRACED int take_reply(unsigned thread, uint64_t i, uint64_t delay_ns)
{
	if (i % 3 == 0) {
		sleep_ns(delay_ns);
		truth_call(&replies, thread, begun[thread]);
		ISPOT_END(wait_reply, i);
		return 1;
	}
	truth_call(&replies, thread, begun[thread]);
	ISPOT_END(wait_reply, i);
	return 0;
}

/* No call and no frame: the array lies below the stack pointer, where a probe must not write. */
TRACED uint64_t in_the_red_zone(uint64_t x)
{
	volatile uint64_t a[12];
	uint64_t sum = 0;

	for (unsigned k = 0; k < 12; k++)
		a[k] = x + k;
	ISPOT_BEGIN(red_zone, x, sum, 3, 4, 5, 6);
	for (unsigned k = 0; k < 12; k++)
		sum += a[k];
	ISPOT_END(red_zone);
	for (unsigned k = 0; k < 12; k++)
		sum -= a[k];
	return sum;
}

TRACED uint64_t scan(uint64_t n)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < n; i++) {
		ISPOT_LOOP_BEGIN(scan_step, LOOP_PERIOD);
		x = x * 7 + i;
		__asm__ volatile("" : "+r"(x));
		ISPOT_LOOP_END(scan_step);
	}
	return x;
}

TRACED unsigned descend(unsigned depth)
{
	unsigned below = 0;

	ISPOT_BEGIN(nested, depth);
	if (depth)
		below = descend(depth - 1);
	__asm__ volatile("" : "+r"(below));
	ISPOT_END(nested);
	return below + 1;
}

static void run(struct worker *w)
{
	for (uint64_t i = 0; i < w->calls; i++) {
		send_request(w->index, i);
		take_reply(w->index, i, w->options->delay_us * 1000);
		spin_ns(50000);
		if (in_the_red_zone(i)) {
			fprintf(stderr, "the red zone has been written to\n");
			exit(1);
		}
		scan(LOOP_PERIOD / 2);
		descend(2);
	}
}

/* ---- mistakes ---- */

static void leave_early(uint64_t i)
{
	ISPOT_BEGIN(early);
	if (i % 7 == 3)
		return;
	ISPOT_END(early);
}

static void overlap(void)
{
	ISPOT_BEGIN(first);
	ISPOT_BEGIN(second);
	ISPOT_END(first);
	ISPOT_END(second);
}

static void make_mistakes(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		leave_early(i);
		if (i % 11 == 5 && i % 7 != 3)
			ISPOT_END(early);
		overlap();
	}
	printf("early_calls %" PRIu64 "\nearly_unended %" PRIu64 "\nearly_unbegun %" PRIu64
	       "\noverlaps %" PRIu64 "\n",
	       n, (n + 3) / 7, (n + 5) / 11 - (n + 38) / 77, n);
}

/* ---- cost ---- */

TRACED double plain_loop(uint64_t n)
{
	uint64_t begin = now_ns();

	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(i) : "memory");
	return (double)(now_ns() - begin) / (double)n;
}

TRACED double marked_loop(uint64_t n)
{
	uint64_t begin = now_ns();

	for (uint64_t i = 0; i < n; i++) {
		ISPOT_BEGIN(cost, i);
		__asm__ volatile("" : : "r"(i) : "memory");
		ISPOT_END(cost);
	}
	return (double)(now_ns() - begin) / (double)n;
}

/* In turn, so that the machine's neighbours meet both; the least is what it costs. */
static void print_cost(uint64_t n)
{
	double plain = 1e9, marked = 1e9;

	for (unsigned i = 0; i < COST_ROUNDS; i++) {
		double p = plain_loop(n), m = marked_loop(n);

		plain = p < plain ? p : plain;
		marked = m < marked ? m : marked;
	}
	printf("ns_per_pair %.3f\nns_per_marker %.3f\n", marked - plain, (marked - plain) / 2);
}

int main(int argc, char **argv)
{
	uint64_t cost = 0, fault = 0;
	const struct bench_extra extras[] = {
		{ "cost", "N", "print what N pairs cost", &cost, NULL },
		{ "fault", "N", "make every mistake N times", &fault, NULL },
		{ 0 },
	};
	struct bench_options o = { .name = "markers",
				   .what = "Blocks marked with probes/ispot.h.",
				   .threads = 2,
				   .iterations = 2003,
				   .delay_us = 1000,
				   .seed = 1,
				   .extras = extras };

	bench_parse(&o, argc, argv);
	if (cost)
		print_cost(cost);
	else if (fault)
		make_mistakes(fault);
	if (cost || fault)
		return 0;
	workers_run(&o, run);
	truth_print(&replies);
	expect_calls("red_zone", o.iterations);
	expect_calls("nested", 3 * o.iterations);
	return 0;
}
