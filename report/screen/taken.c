/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/taken.h"

#include <string.h>

#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "analysis/threads/takers.h"
#include "base/text.h"
#include "base/vec.h"
#include "trace/meta/meta.h"

#define READY_LEAST 0.1	 /* of thread time: a smaller share gets no line */
#define OTHER_LEAST 0.05 /* of thread time, behind other programs: from here on they are named */
#define PART_LEAST  0.01
#define TAKEN_MOST  0.5 /* of thread time behind other programs: from here on the first sentence */
#define NAMED_MAX   3
#define NAMED_LEAST 0.05 /* of the run queue time */

/* The processes that have the same name. */
struct named {
	const char *name;
	unsigned processes;
	uint64_t ns;
};

struct named_list {
	VEC(struct named)
};

static void add(struct named_list *list, const char *name, uint64_t ns)
{
	vec_for_each (list, struct named, n) {
		if (strcmp(n->name, name) != 0)
			continue;
		n->processes++;
		n->ns += ns;
		return;
	}
	*vec_add(list) = (struct named){ name, 1, ns };
}

static int most_first(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static uint64_t sum_of(const struct takers *t, enum taker_kind kind)
{
	uint64_t ns = 0;

	vec_for_each (t, const struct taker, taker)
		ns += taker->kind == kind ? taker->ns : 0;
	return ns;
}

/* Adds the names of other programs. other is the part of `all` spent behind other programs.
 * Programs that ran only briefly may have no name. */
static void add_others(const struct result *res, double other, double all, struct text *out)
{
	const struct takers *takers = &res->calls.threads.takers;
	struct named_list list = { 0 };
	char name[64], share[TEXT_NUMBER];
	size_t said = 0;

	vec_for_each (takers, const struct taker, t) {
		const char *of =
			t->kind == TAKER_OTHER ? meta_process_comm(res->meta, t->pid) : NULL;

		if (of)
			add(&list, of, t->ns);
	}
	vec_sort(&list, most_first);
	for (; said < list.n && said < NAMED_MAX; said++) {
		const struct named *n = &list.data[said];

		if ((double)n->ns < NAMED_LEAST * all)
			break;
		other -= (double)n->ns;
		text_printf(out, "%s%s", said ? ", " : " (",
			    text_printable(name, sizeof(name), n->name));
		if (n->processes > 1)
			text_printf(out, " (%u processes)", n->processes);
		text_printf(out, " %s", text_share(share, (double)n->ns / all));
	}
	if (said && other >= NAMED_LEAST * all)
		text_printf(out, ", the rest %s", text_share(share, other / all));
	text_add(out, said ? ")" : "");
	vec_release(&list);
}

static void add_part(const char *who, double part, const char **before, struct text *out)
{
	char share[TEXT_NUMBER];

	if (part < PART_LEAST)
		return;
	text_printf(out, "%s%s %s", *before, who, text_share(share, part));
	*before = ", ";
}

#define STEAL_LEAST 0.02 /* of the CPUs' time: a smaller share is not reported */

/* Adds the CPU time that the host took from this virtual machine. Threads that lost it seem to run
 * meanwhile. */
static void add_stolen(const struct result *res, struct text *out)
{
	const struct meta *meta = res->meta;
	double all =
		(double)(meta->end.end_ns - meta->session.start_ns) * (double)meta->session.cpus;
	char share[TEXT_NUMBER];

	if (!meta->end.present || meta->end.cpus_steal_ns == META_UNKNOWN || !(all > 0) ||
	    (double)meta->end.cpus_steal_ns < STEAL_LEAST * all)
		return;
	text_printf(out,
		    "%sthe host gave %s of this virtual machine's CPU time to others, which is in "
		    "the running time",
		    out->n ? "; " : "", text_share(share, (double)meta->end.cpus_steal_ns / all));
}

/* Adds what the header counts among the lost time, and what it calls run queue. */
static void add_lost(const struct result *res, struct text *out)
{
	double all = (double)res->threads_ns, other = (double)res->runnable_ns / all;
	double lost = (double)res->ready_ns / all - other;
	char number[TEXT_NUMBER];

	if (res->runnable_ns == BLOCK_NONE || lost < PART_LEAST)
		return;
	text_printf(out, " (%s lost", text_share(number, lost));
	text_printf(out, " + %s not lost)", text_share(number, other));
}

/* Time in the run queue, and how long the CPUs ran something else meanwhile. */
struct queued {
	double ready;	 /* of thread time, in the run queue */
	double taken_ns; /* by whom it is known, added up */
};

/* Returns false if it is not known. */
static bool find_queued(const struct result *res, struct queued *q)
{
	*q = (struct queued){ 0 };
	vec_for_each (&res->calls.threads.takers, const struct taker, taker)
		q->taken_ns += (double)taker->ns;
	if (!(q->taken_ns > 0) || res->ready_ns == BLOCK_NONE || !res->threads_ns)
		return false;
	q->ready = (double)res->ready_ns / (double)res->threads_ns;
	return true;
}

static void add_taken(const struct result *res, bool names, struct text *out)
{
	const struct takers *t = &res->calls.threads.takers;
	const double other = (double)sum_of(t, TAKER_OTHER);
	const char *before = "; the CPUs ran ";
	char share[TEXT_NUMBER];
	struct queued q;

	if (!find_queued(res, &q) || q.ready < READY_LEAST)
		return;
	text_printf(out, "%s of thread time%s", text_share(share, q.ready),
		    names ? " waits for a CPU" : "");
	add_lost(res, out);
	add_part(names ? "the program's own threads" : "own threads",
		 (double)sum_of(t, TAKER_PROGRAM) / q.taken_ns, &before, out);
	add_part("other programs", other / q.taken_ns, &before, out);
	if (names && other > 0)
		add_others(res, other, q.taken_ns, out);
	add_part("ispot", (double)sum_of(t, TAKER_RECORDER) / q.taken_ns, &before, out);
	if (names && q.ready * other / q.taken_ns >= OTHER_LEAST)
		text_add(out, "; measure where nothing else runs, or give the program CPUs of its "
			      "own (taskset(1))");
}

void text_taken(const struct result *res, bool names, struct text *out)
{
	add_taken(res, names, out);
	add_stolen(res, out);
}

void text_mostly_taken(const struct result *res, struct text *out)
{
	const double other = (double)sum_of(&res->calls.threads.takers, TAKER_OTHER);
	char share[TEXT_NUMBER];
	struct queued q;

	if (!find_queued(res, &q) || q.ready * other / q.taken_ns < TAKEN_MOST)
		return;
	text_printf(
		out,
		"Threads wait for a CPU for %s of thread time, mostly while other programs run: "
		"stop these, or record on a quiet machine.",
		text_share(share, q.ready));
}
