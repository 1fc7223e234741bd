/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transition graph for Graphviz: the most frequent transitions, and the states between them. */
#include <stdlib.h>

#include "analysis/result/grouping.h"
#include "analysis/result/result.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/block/transitions.h"
#include "report/export/export.h"
#include "report/export/rows.h"

#define LIMIT	   200
#define NAME_WIDTH 60

/* Appends a name for a quoted string, printable and shortened to NAME_WIDTH columns. */
static void add_name(struct text *out, const char *name)
{
	char buf[4 * NAME_WIDTH + 1];

	text_shortened(buf, sizeof(buf), name, NAME_WIDTH);
	for (const char *c = buf; *c; c++) {
		if (*c == '"' || *c == '\\')
			text_add(out, "\\");
		text_addn(out, c, 1);
	}
}

static void add_times(struct text *out, const struct transition_times *times)
{
	char number[TEXT_NUMBER];

	text_add(out, text_count(number, times->count));
	if (times->timed)
		text_add(out, "\\n");
	report_transition_range(times, out);
}

static void add_state(struct text *out, const struct transitions *t, uint32_t i)
{
	text_printf(out, "\ts%u [label=\"", i);
	add_name(out, t->states.data[i].name);
	if (t->states.data[i].times.count) {
		text_add(out, "\\n");
		add_times(out, &t->states.data[i].times);
	}
	text_add(out, "\"]\n");
}

static void add_transition(struct text *out, const struct transition *one)
{
	static const char *const ends[] = { [TRANSITION_CALL] = "style=dashed",
					    [TRANSITION_NEXT] = "style=solid",
					    [TRANSITION_RETURN] = "style=dotted",
					    [TRANSITION_BEGIN] = "style=solid",
					    [TRANSITION_END] = "style=solid" };

	if (one->kind == TRANSITION_BEGIN)
		text_printf(out, "\tbegin -> s%u", one->to);
	else if (one->kind == TRANSITION_END)
		text_printf(out, "\ts%u -> end", one->from);
	else
		text_printf(out, "\ts%u -> s%u", one->from, one->to);
	text_add(out, " [label=\"");
	add_times(out, &one->times);
	text_printf(out, "\" %s]\n", ends[one->kind]);
}

static void add_graph(struct export *e, const struct transitions *t)
{
	uint64_t limit = e->options->limit ? e->options->limit : e->format->limit;
	bool *used = xcalloc(t->states.n + 1, sizeof(*used));
	struct text *out = &e->out;

	e->exported = t->all.n < limit ? t->all.n : limit;
	e->beyond = t->all.n - e->exported;
	text_add(out, "digraph transitions {\n\tnode [shape=box]\n"
		      "\tbegin [shape=circle label=\"\" width=0.2]\n"
		      "\tend [shape=doublecircle label=\"\" width=0.15]\n");
	for (size_t i = 0; i < e->exported; i++) {
		used[t->all.data[i].from] = true;
		used[t->all.data[i].to] = true;
	}
	for (uint32_t i = 0; i < t->states.n; i++)
		if (used[i])
			add_state(out, t, i);
	for (size_t i = 0; i < e->exported; i++)
		add_transition(out, &t->all.data[i]);
	text_add(out, "}\n");
	free(used);
}

static int whole(struct export *e, struct trace_reader *r, struct err *err)
{
	struct grouping grouping = { .of_sequences = e->options->of_sequences };
	struct result_options o = { .from_ns = e->options->from_ns, .to_ns = e->options->to_ns };
	struct result result;
	int rc = grouping_find("transition", &grouping.by, err);

	if (!rc)
		rc = grouping_read(&grouping, r, &o, &result, err);
	if (!rc) {
		add_graph(e, result.transitions);
		e->interrupted = result.interrupted;
		result_release(&result);
	}
	grouping_release(&grouping);
	return rc;
}

const struct export_format export_dot = {
	.name = "dot",
	.what = "the transition graph, for Graphviz",
	.limit = LIMIT,
	.unit = "transitions",
	.whole = whole,
};
