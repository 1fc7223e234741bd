/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/score/marker.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calls/calls.h"
#include "analysis/score/sci.h"
#include "base/text.h"
#include "trace/meta/meta.h"

void markers_scale_loops(struct sci *sci)
{
	const struct threads *th = &sci->calls->threads;

	for (uint32_t slot = 1; slot < sci->cells.n; slot++) {
		const struct meta_function *f = &sci->meta->functions.data[th->slots.data[slot].id];
		struct sci_cell *cell = &sci->cells.data[slot];

		if (f->period <= 1 || f->period == META_UNKNOWN)
			continue;
		cell->unrecorded += (cell->calls + cell->unrecorded) * (f->period - 1);
		cell->unrecorded_outer +=
			(cell->outer_calls + cell->unrecorded_outer) * (f->period - 1);
	}
}

struct words {
	const char *one, *one_does, *many, *many_do;
};

static const struct words unended = {
	"begin", "has no end (left by a way without ISPOT_END?): it is not timed", "begins",
	"have no end (left by a way without ISPOT_END?): they are not timed"
};
/* The texts for pairs of static probes. A block with several exits needs an end probe for each. */
static const struct words unended_pair = {
	"begin", "has no end on its thread: it is not timed; ends may be several, BEGIN..END|END",
	"begins",
	"have no end on their thread: they are not timed; ends may be several, BEGIN..END|END"
};
static const struct words unbegun = {
	"end", "has no begin on its thread, or that was before the recording: it is left out",
	"ends", "have no begin on their thread, or that was before the recording: they are left out"
};
static const struct words overlapping = {
	"block", "ended inside another that began in it: the time they share counts in both",
	"blocks", "ended inside others that began in them: the time they share counts in both"
};

static bool is_pair(const struct meta_function *f)
{
	return f->symbol && !strncmp(f->symbol, "usdt:", 5);
}

static void report_fault(const struct words *w, uint64_t count, const struct meta_function *f,
			 void (*say)(void *ctx, const char *sentence), void *ctx)
{
	char number[TEXT_NUMBER], *line;

	if (!count)
		return;
	line = xasprintf("%s %s of %s%s %s", text_count(number, count),
			 count == 1 ? w->one : w->many, is_pair(f) ? "" : "marker ", f->name,
			 count == 1 ? w->one_does : w->many_do);
	say(ctx, line);
	free(line);
}

static void report_endless(const struct meta_function *f,
			   void (*say)(void *ctx, const char *sentence), void *ctx)
{
	char *line;

	if (!f->symbol || f->exit != EXIT_NONE || strncmp(f->symbol, "marker:", 7))
		return;
	line = xasprintf("marker %s has no end in the program: its begins are counted, not timed; "
			 "put ISPOT_END(%s) where it ends",
			 f->name, f->name);
	say(ctx, line);
	free(line);
}

/* Reports all static probes that were chosen without an end, `usdt:PROVIDER:NAME`, in one
 * sentence. */
static void report_single(const struct meta *meta, void (*say)(void *ctx, const char *sentence),
			  void *ctx)
{
	const char *name = NULL;
	unsigned n = 0;
	char *line;

	vec_for_each (&meta->functions, const struct meta_function, f)
		if (f->symbol && f->exit == EXIT_NONE && !strncmp(f->symbol, "usdt:", 5) && !n++)
			name = f->name;
	if (!n)
		return;
	line = n == 1 ? xasprintf(
				"%s is one static probe: how often it is passed is counted, not "
				"timed; what lies between two takes -F 'usdt:PROVIDER:BEGIN..END'",
				name)
		      : xasprintf(
				"%u static probes were chosen one by one, %s among them: how often "
				"they are passed is counted, not timed; what lies between two "
				"takes -F 'usdt:PROVIDER:BEGIN..END'",
				n, name);
	say(ctx, line);
	free(line);
}

void markers_report_faults(const struct calls *c, const struct meta *meta,
			   void (*say)(void *ctx, const char *sentence), void *ctx)
{
	for (uint32_t id = 0; id < c->n_functions; id++) {
		const struct marker_faults *faults = &c->marker_faults[id];
		const struct meta_function *f = &meta->functions.data[id];

		report_endless(f, say, ctx);
		report_fault(is_pair(f) ? &unended_pair : &unended, faults->unended, f, say, ctx);
		report_fault(&unbegun, faults->unbegun, f, say, ctx);
		report_fault(&overlapping, faults->overlaps, f, say, ctx);
	}
	report_single(meta, say, ctx);
}

bool marker_encloses(const struct calls *c, uint32_t id, uint64_t blocks)
{
	const struct marker_faults *faults = &c->marker_faults[id];
	uint64_t wrong = faults->unended + faults->overlaps;

	return !wrong || wrong < blocks / 10;
}

uint64_t markers_unended(const struct calls *c)
{
	uint64_t sum = 0;

	for (uint32_t id = 0; id < c->n_functions; id++)
		sum += c->marker_faults[id].unended;
	return sum;
}
