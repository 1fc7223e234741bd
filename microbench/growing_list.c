/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scan of a list that grows with each call: the calls get slower because there is more to do,
 * not because anybody interferes. A score that looks like interference, and is workload.
 */
#include "common.h"

static struct truth scans = { .block = "scan_list", .cause = "workload", .verdict = "workload" };

struct node {
	struct node *next;
	uint64_t value;
};

TRACED uint64_t scan_list(unsigned thread, const struct node *list)
{
	uint64_t begin = now_ns(), sum = 0;

	for (; list; list = list->next)
		sum += list->value;
	truth_call(&scans, thread, begin);
	return sum;
}

static void run(struct worker *w)
{
	struct node *nodes = calloc(w->calls, sizeof(*nodes)), *list = NULL;
	uint64_t sum = 0;

	if (!nodes)
		bench_die("calloc");
	for (uint64_t i = 0; i < w->calls; i++) {
		nodes[i] = (struct node){ .next = list, .value = i };
		list = &nodes[i];
		sum += scan_list(w->index, list);
	}
	__asm__ volatile("" : : "r"(sum));
	free(nodes);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "growing_list",
				   .what = "Scans a list that grows.",
				   .threads = 1,
				   .iterations = 20011,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	truth_print(&scans);
	return 0;
}
