/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/calls/paircost.h"
#include "analysis/result/result.h"
#include "analysis/result/slow.h"
#include "base/text.h"
#include "report/block/counters.h"
#include "report/block/view.h"
#include "report/slow/internal.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define BAR_WIDTH  40
#define ROWS_MAX   10
#define NAME_BYTES 256

static void time_cell(struct table *t, uint64_t ns)
{
	char number[TEXT_NUMBER];

	table_right(t, text_time(number, ns), 7);
}

static void count_cell(struct table *t, uint64_t count)
{
	char number[TEXT_NUMBER];

	table_right(t, text_count(number, count), 7);
}

static void share_cell(struct table *t, double part, double whole)
{
	char cell[16];

	snprintf(cell, sizeof(cell), "%.0f %%", whole > 0 ? 100 * part / whole : 0);
	table_right(t, cell, 7);
}

static void title(const struct view *v, const char *s, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };

	text_add(out, "\n");
	table_style(&t, TABLE_BOLD);
	table_last(&t, s);
}

static void summary(const struct block *b, struct text *out)
{
	char name[NAME_BYTES], min[TEXT_NUMBER], p50[TEXT_NUMBER], p90[TEXT_NUMBER],
		p99[TEXT_NUMBER], max[TEXT_NUMBER], calls[TEXT_NUMBER];

	text_add(out, text_printable(name, sizeof(name), b->name));
	if (b->key)
		text_printf(out, " %s", text_printable(name, sizeof(name), b->key));
	text_printf(out, "  %s calls  SCI %.2f", text_count(calls, b->calls), b->sci);
	text_printf(out, isnan(b->floor) ? " (floor n/a)" : " (floor %.3f)", b->floor);
	text_printf(out, "  %s\n", verdict_name(b->verdict));
	text_printf(out, "min %s  p50 %s  p90 %s  p99 %s  max %s\n", text_time(min, b->min_ns),
		    text_time(p50, b->p50_ns), text_time(p90, b->p90_ns), text_time(p99, b->p99_ns),
		    text_time(max, b->max_ns));
	if (b->cost && b->cost->known && b->p50_ns < 2 * b->cost->inner_min_ns)
		text_printf(out, "%s or more of each is the call's own probe\n",
			    text_time(min, b->cost->inner_min_ns));
}

void slow_octaves(const struct block *b, uint64_t counts[SLOW_OCTAVES])
{
	const struct hist *h = &b->sums->durations;
	uint64_t low = 1;

	for (unsigned o = 0; o < SLOW_OCTAVES; o++, low <<= 1)
		counts[o] = hist_between(h, o ? low : 0, low - 1 + low);
}

/* One line an octave. */
static void distribution(const struct view *v, const struct block *b, struct text *out)
{
	uint64_t most = 0, counts[SLOW_OCTAVES];
	unsigned first = SLOW_OCTAVES, last = 0;

	slow_octaves(b, counts);
	for (unsigned o = 0; o < SLOW_OCTAVES; o++) {
		if (!counts[o])
			continue;
		first = o < first ? o : first;
		last = o;
		most = counts[o] > most ? counts[o] : most;
	}
	title(v, "durations, calls", out);
	for (unsigned o = first; o <= last && o < SLOW_OCTAVES; o++) {
		struct table t = { .out = out, .width = v->width };
		char bar[BAR_WIDTH + 1];
		size_t n = (size_t)((double)counts[o] / (double)most * BAR_WIDTH + 0.999);

		memset(bar, '#', n);
		bar[n] = '\0';
		time_cell(&t, o ? 1ull << o : 0);
		count_cell(&t, counts[o]);
		table_last(&t, bar);
	}
}

static void group_row(struct table *t, const char *name, const struct slow_group *g)
{
	double ns = (double)g->ns, off;

	if (!g->calls)
		return;
	off = (double)(offcpu_ns(&g->own_off) + g->callees_ns);
	count_cell(t, g->calls);
	time_cell(t, g->ns / g->calls);
	share_cell(t, off < ns ? ns - off : 0, ns);
	share_cell(t, (double)g->own_off.preempted_ns, ns);
	share_cell(t, (double)(g->own_off.blocked_ns + g->own_off.idle_ns), ns);
	share_cell(t, (double)g->callees_ns, ns);
	share_cell(t, (double)g->migrated, (double)g->calls);
	table_last(t, name);
}

static void groups(const struct view *v, const struct slow *s, struct text *out)
{
	struct table t = { .out = out, .width = v->width };

	if (s->fast.calls + s->rest.calls + s->slow.calls == 0)
		return;
	title(v, "  calls    mean running preempt blocked callees migrate", out);
	group_row(&t, "fast: up to the median", &s->fast);
	group_row(&t, "between", &s->rest);
	group_row(&t, "slow: from p90", &s->slow);
}

double slow_excess(const struct slow_group *g, const struct block *b)
{
	return (double)g->ns - (double)g->calls * (double)b->min_ns;
}

/* Rows of one kind, worst first. */
struct ranked {
	const struct slow_group *group;
	char name[NAME_BYTES];
};

static int larger_sum(const void *a, const void *b)
{
	uint64_t x = ((const struct ranked *)a)->group->ns,
		 y = ((const struct ranked *)b)->group->ns;

	return (x < y) - (x > y);
}

static void print_ranked(const struct view *v, const struct block *b, const char *what,
			 struct ranked *rows, size_t n, struct text *out)
{
	struct table t = { .out = out, .width = v->width };
	char head[64];
	double all = 0;

	if (!n)
		return;
	qsort(rows, n, sizeof(*rows), larger_sum);
	for (size_t i = 0; i < n; i++)
		all += slow_excess(rows[i].group, b);
	snprintf(head, sizeof(head), "  calls    mean     min     max  excess %s", what);
	title(v, head, out);
	for (size_t i = 0; i < n && (i < ROWS_MAX || v->all); i++) {
		const struct slow_group *g = rows[i].group;

		count_cell(&t, g->calls);
		time_cell(&t, g->ns / g->calls);
		time_cell(&t, g->min_ns);
		time_cell(&t, g->max_ns);
		share_cell(&t, slow_excess(g, b), all);
		table_last(&t, rows[i].name);
	}
	if (n > ROWS_MAX && !v->all)
		text_printf(out, "   %zu more (-v)\n", n - ROWS_MAX);
}

static void threads(const struct view *v, const struct slow *s, struct text *out)
{
	struct ranked *rows = xcalloc(s->by_thread.n + 1, sizeof(*rows));
	size_t n = 0;

	for (size_t i = 0; i < s->by_thread.n; i++) {
		const struct thread *t = v->result->threads.data[i].thread;
		char comm[THREAD_COMM];

		if (!s->by_thread.data[i].calls)
			continue;
		rows[n].group = &s->by_thread.data[i];
		snprintf(rows[n++].name, NAME_BYTES, "%u %s", t->tid,
			 text_printable(comm, sizeof(comm), t->comm));
	}
	print_ranked(v, s->block, "thread", rows, n, out);
	free(rows);
}

static void callers(const struct view *v, const struct slow *s, struct text *out)
{
	struct ranked *rows = xcalloc(s->by_caller.n + 1, sizeof(*rows));
	size_t n = 0;

	for (size_t i = 0; i < s->by_caller.n; i++) {
		if (!s->by_caller.data[i].calls)
			continue;
		rows[n].group = &s->by_caller.data[i];
		text_printable(rows[n++].name, NAME_BYTES,
			       i ? v->result->meta->functions.data[i - 1].name
				 : "(no traced caller)");
	}
	print_ranked(v, s->block, "called from", rows, n, out);
	free(rows);
}

static void slowest(const struct view *v, const struct slow *s, struct text *out)
{
	struct table t = { .out = out, .width = v->width };

	if (!s->n_top)
		return;
	title(v, "       at s    took preempt blocked     tid slowest calls, in", out);
	for (uint32_t i = 0; i < s->n_top; i++) {
		const struct slow_call *c = &s->top[i];
		char at[32], tid[16], name[NAME_BYTES];

		snprintf(tid, sizeof(tid), "%u", c->tid);
		snprintf(at, sizeof(at), "%.6f",
			 (double)result_since_start(v->result, c->entry_ns) / 1e9);
		table_right(&t, at, 11);
		time_cell(&t, c->duration_ns);
		time_cell(&t, c->off.preempted_ns);
		time_cell(&t, c->off.blocked_ns + c->off.idle_ns);
		table_right(&t, tid, 7);
		table_last(&t, c->caller == UINT32_MAX
				       ? "-"
				       : text_printable(
						 name, sizeof(name),
						 v->result->meta->functions.data[c->caller].name));
	}
}

/* Where the tables are of fewer calls than what stands above them. */
static void left_out(const struct view *v, const struct slow *s, struct text *out)
{
	char count[TEXT_NUMBER];
	struct text line = { 0 };

	if (!s->unwritten)
		return;
	text_printf(
		&line,
		"%s of these calls left no more than their sums in the file (record --keep-slower): "
		"threads, callers, stacks and groups below are without them.",
		text_count(count, s->unwritten));
	text_add(out, "\n");
	text_wrap(line.s, v->width, out);
	text_release(&line);
}

/* The stretch of the slowest call, for the views that take one. */
static void next_look(const struct view *v, const struct slow *s, struct text *out)
{
	uint64_t at_ns;

	if (!s->n_top)
		return;
	at_ns = result_since_start(v->result, s->top[0].entry_ns);
	text_printf(out, "\nnext  ispot report --time %lluus-%lluus",
		    (unsigned long long)(at_ns / 1000),
		    (unsigned long long)((at_ns + s->top[0].duration_ns) / 1000 + 1));
	text_input_option(v, out);
	text_add(out, "\n");
}

void report_slow(const struct view *v, const struct slow *s, struct text *out)
{
	summary(s->block, out);
	distribution(v, s->block, out);
	left_out(v, s, out);
	slow_causes(v, s->block, out);
	groups(v, s, out);
	text_block_counters(v, s->block, out);
	text_coactive(v, s->block, out);
	slow_places(v, s, out);
	threads(v, s, out);
	callers(v, s, out);
	text_stacks(v, (struct callstacks *)&s->callstacks, s->block, out);
	slowest(v, s, out);
	next_look(v, s, out);
}
