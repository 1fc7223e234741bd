/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/slow/slow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cause/kind.h"
#include "analysis/calls/paircost.h"
#include "analysis/cause/samples_compare.h"
#include "analysis/evidence/coactivity.h"
#include "analysis/lock/table.h"
#include "analysis/result/result.h"
#include "analysis/result/slow.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/coactive.h"
#include "report/block/column.h"
#include "report/block/counters.h"
#include "report/block/json.h"
#include "report/block/slowed.h"
#include "report/block/stacks.h"
#include "report/block/view.h"
#include "report/screen/next.h"
#include "report/screen/text.h"
#include "report/screen/told.h"
#include "report/table/spark.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "symbol/name.h"
#include "trace/meta/meta.h"

#define BAR_WIDTH   40
#define RANGE_WIDTH 14
#define ROWS_MAX    10
#define NAME_BYTES  256
#define NAME_LEAST  12 /* columns of a name that is shortened */

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

	snprintf(cell, sizeof(cell), "%.0f%%", whole > 0 ? 100 * part / whole : 0);
	table_right(t, cell, 7);
}

static void title(const struct view *v, const char *s, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };

	text_add(out, "\n");
	table_style(&t, TABLE_BOLD);
	table_last(&t, s);
}

/* Explains the score, which the first line of the details leaves to -v. */
static void score(const struct block *b, struct text *out)
{
	text_printf(out, "slowdown score (SCI, 0 to 1): %.2f", b->sci);
	text_printf(out, isnan(b->floor) ? ", noise floor n/a\n" : ", noise floor %.3f\n",
		    b->floor);
}

/* Adds "interference costs 7.9% of thread time (1.5ms)", or another verdict. */
static void verdict(const struct view *v, const struct block *b, struct text *out)
{
	double ns = b->lost_threads * (double)v->result->probed_ns;
	char share[TEXT_NUMBER], time[TEXT_NUMBER];

	text_add(out, verdict_words(b->verdict));
	if (b->verdict == VERDICT_INTERFERENCE && ns > 0 && v->result->threads_ns)
		text_printf(out, " costs %s of thread time (%s)",
			    text_lost_share(share, ns / (double)v->result->threads_ns),
			    text_time(time, (uint64_t)llround(ns)));
}

/* Adds the block's name, shortened to the columns that are left of the screen beside the rest. */
static void add_name(const struct view *v, const struct block *b, const char *rest,
		     struct text *out)
{
	unsigned taken = table_columns(rest);
	char part[NAME_BYTES], brief[2 * NAME_BYTES];
	struct text whole = { 0 };

	text_add(&whole, text_printable(part, sizeof(part), b->name));
	if (b->key)
		text_printf(&whole, " %s", text_printable(part, sizeof(part), b->key));
	if (table_columns(whole.s) + taken > v->width && taken + NAME_LEAST < v->width)
		text_add(out, name_brief(brief, sizeof(brief), whole.s, v->width - taken));
	else
		text_add(out, whole.s);
	text_add(out, rest);
	text_release(&whole);
}

static bool has_room(const struct view *v, const struct block *b, const char *rest)
{
	unsigned name = table_columns(b->name) + (b->key ? 1 + table_columns(b->key) : 0);

	return name + table_columns(rest) <= v->width;
}

/* Adds two lines. How many calls there are is on the second one if the first has no room for it. */
static void summary(const struct view *v, const struct block *b, struct text *out)
{
	char min[TEXT_NUMBER], p50[TEXT_NUMBER], p90[TEXT_NUMBER], p99[TEXT_NUMBER],
		max[TEXT_NUMBER], calls[TEXT_NUMBER];
	struct text lost = { 0 }, first = { 0 }, caution = { 0 };

	text_add(&lost, "  ");
	verdict(v, b, &lost);
	text_count(calls, b->calls);
	text_printf(&first, "  %s calls%s", calls, lost.s);
	if (has_room(v, b, first.s)) {
		add_name(v, b, first.s, out);
		text_add(out, "\n");
	} else {
		add_name(v, b, lost.s, out);
		text_printf(out, "\n%s calls  ", calls);
	}
	text_printf(out, "min %s  p50 %s  p90 %s  p99 %s  max %s",
		    text_time(min, block_seen_min_ns(b)), text_time(p50, b->p50_ns),
		    text_time(p90, b->p90_ns), text_time(p99, b->p99_ns),
		    text_time(max, b->max_ns));
	if (b->cost && b->cost->known && b->p50_ns < 2 * b->cost->inner_min_ns)
		text_printf(out, "  (probe: %s)", text_time(min, b->cost->inner_min_ns));
	text_add(out, "\n");
	if (v->all)
		score(b, out);
	text_slowed(v->result, &caution);
	if (caution.n)
		text_wrap(caution.s, v->width, out);
	text_release(&caution);
	text_release(&lost);
	text_release(&first);
}

/*
 * Counts the calls by octave: octave i holds those from 2^i ns to less than twice that, octave 0
 * also those under 1 ns.
 */
#define SLOW_OCTAVES 64
static void slow_octaves(const struct block *b, uint64_t counts[SLOW_OCTAVES])
{
	const struct hist *h = &b->sums->durations;
	uint64_t low = 1;

	for (unsigned o = 0; o < SLOW_OCTAVES; o++, low <<= 1)
		counts[o] = hist_between(h, o ? low : 0, low - 1 + low);
}

/*
 * Merges the octaves that hold calls into at most `rows` rows. Returns the octaves of a row; the
 * first octave of a row gets all of the row's calls.
 */
static unsigned merge_octaves(uint64_t counts[SLOW_OCTAVES], unsigned rows, unsigned *first,
			      unsigned *last)
{
	unsigned step;

	*first = SLOW_OCTAVES;
	*last = 0;
	for (unsigned o = 0; o < SLOW_OCTAVES; o++)
		if (counts[o]) {
			*first = o < *first ? o : *first;
			*last = o;
		}
	if (*first > *last)
		return 1;
	step = (*last - *first + rows) / rows;
	for (unsigned o = *first; o <= *last; o++)
		if ((o - *first) % step) {
			counts[o - (o - *first) % step] += counts[o];
			counts[o] = 0;
		}
	return step;
}

static void octave_row(const struct view *v, unsigned o, unsigned step, uint64_t count,
		       double share, struct text *out)
{
	char from[TEXT_NUMBER], to[TEXT_NUMBER], label[2 * TEXT_NUMBER + 2];
	struct table t = { .out = out, .width = v->width };
	struct text cell = { 0 };

	bar(share, BAR_WIDTH, v->utf8, &cell);
	if (step > 1) {
		snprintf(label, sizeof(label), "%s-%s", text_time(from, o ? 1ull << o : 0),
			 text_time(to, 1ull << (o + step < 63 ? o + step : 63)));
		table_right(&t, label, RANGE_WIDTH);
	} else {
		time_cell(&t, o ? 1ull << o : 0);
	}
	count_cell(&t, count);
	table_last(&t, cell.n ? cell.s : "");
	text_release(&cell);
}

/* Prints one line for each octave, or for several. */
static void distribution(const struct view *v, const struct block *b, unsigned rows,
			 struct text *out)
{
	uint64_t most = 0, counts[SLOW_OCTAVES];
	unsigned first, last, step;

	slow_octaves(b, counts);
	step = merge_octaves(counts, rows, &first, &last);
	for (unsigned o = first; o <= last; o++)
		most = counts[o] > most ? counts[o] : most;
	title(v, step > 1 ? "LATENCY           CALLS" : "LATENCY    CALLS", out);
	for (unsigned o = first; o <= last; o += step)
		octave_row(v, o, step, counts[o], (double)counts[o] / (double)most, out);
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
	title(v, "  CALLS    MEAN RUNNING   QUEUE BLOCKED CALLEES NEW CPU", out);
	group_row(&t, "fast (up to p50)", &s->fast);
	group_row(&t, "middle", &s->rest);
	group_row(&t, "slow (from p90)", &s->slow);
}

/* Returns the durations of a group beyond those of the fastest call, in ns. */
static double slow_excess(const struct slow_group *g, const struct block *b)
{
	return (double)g->ns - (double)g->calls * (double)b->min_ns;
}

/* A row; rows of a kind are sorted by their sum, largest first. */
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
	snprintf(head, sizeof(head), "  CALLS    MEAN     MIN     MAX  EXCESS %s", what);
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
	print_ranked(v, s->block, "THREAD", rows, n, out);
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
	print_ranked(v, s->block, "CALLER", rows, n, out);
	free(rows);
}

static void slowest(const struct view *v, const struct slow *s, struct text *out)
{
	struct table t = { .out = out, .width = v->width };

	if (!s->n_top)
		return;
	title(v, "       AT s    TOOK   QUEUE BLOCKED     TID SLOWEST CALLS, CALLER", out);
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

/* Notes that the tables cover fewer calls than the lines above them. */
static void left_out(const struct view *v, const struct slow *s, struct text *out)
{
	char count[TEXT_NUMBER];
	struct text line = { 0 };

	if (!s->unwritten)
		return;
	text_printf(
		&line,
		"The file has only the sums of %s of these calls (record --keep-slower): threads, "
		"callers, stacks and groups do not include them.",
		text_count(count, s->unwritten));
	text_add(out, "\n");
	text_wrap(line.s, v->width, out);
	text_release(&line);
}

/* Whether threads queue for a lock there, and the recording tells which one. */
static bool queues_for_lock(const struct block *b)
{
	const struct cause *cause = report_main_cause(b);
	const struct lock_function *l = lock_function_of(b->function);

	/* waiting for a condition releases a lock, but what it waits for is none */
	if (!cause || strcmp(cause->kind, "lock") != 0 || !l || l->action == LOCK_WAIT)
		return false;
	for (uint32_t i = 0; i < b->function->n_arguments; i++)
		if (b->function->arguments[i].bit == l->bit)
			return true;
	return false;
}

/* Adds the command that shows the events of the slowest call: a single call cannot be ranked, but
 * its events show what happened meanwhile. */
static void events_of_slowest(const struct view *v, const struct slow *s, struct text *out)
{
	uint64_t at_ns = result_since_start(v->result, s->top[0].entry_ns);

	text_printf(out, "ispot dump --events --time %lluus-%lluus",
		    (unsigned long long)(at_ns / 1000),
		    (unsigned long long)((at_ns + s->top[0].duration_ns) / 1000 + 1));
}

/* Adds the one command that leads on: to who has the lock, or to what these calls have in common
 * beyond this screen, and from there to the events. */
static void add_next_command(const struct view *v, const struct slow *s, struct text *out)
{
	bool lock = !v->all && queues_for_lock(s->block); /* that view leads to -v */
	const char *what = lock	    ? "who holds it, and how long"
			   : v->all ? "the events of the slowest call"
				    : "threads, callers, stacks, slowest calls";
	struct text line = { 0 };

	if (v->all && !lock && !s->n_top)
		return;
	if (lock)
		text_add(out, "-v adds threads, callers, stacks, the slowest calls, counters, "
			      "sampled lines\n");
	if (lock) {
		text_add(&line, "ispot report --by lock");
	} else if (v->all) {
		events_of_slowest(v, s, &line);
	} else {
		text_add(&line, "ispot report -v --slow ");
		text_slow_name(v->result, s->block, &line);
	}
	text_input_option(v, &line);
	text_add(out, v->all ? "\n" : "");
	text_next_line(v, line.s, what, out);
	text_release(&line);
}

/* Prints one line about the slowest call; -v prints more calls. */
static void slowest_one(const struct view *v, const struct slow *s, struct text *out)
{
	char took[TEXT_NUMBER], queue[TEXT_NUMBER], blocked[TEXT_NUMBER];
	const struct slow_call *c = s->top;
	struct text line = { 0 };

	if (!s->n_top)
		return;
	text_printf(&line, "Slowest: %s at %.6f s in thread %u", text_time(took, c->duration_ns),
		    (double)result_since_start(v->result, c->entry_ns) / 1e9, c->tid);
	if (c->off.preempted_ns || c->off.blocked_ns + c->off.idle_ns)
		text_printf(&line, " (%s run queue, %s blocked)",
			    text_time(queue, c->off.preempted_ns),
			    text_time(blocked, c->off.blocked_ns + c->off.idle_ns));
	text_wrap(line.s, v->width, out);
	text_release(&line);
}

/* ---- why ---- */

#define INDENT	    10
#define FACT_INDENT 6

/* Adds an indented paragraph. */
static void evidence(const char *s, unsigned width, struct text *out)
{
	struct text lines = { 0 };

	text_wrap(s, width - INDENT, &lines);
	for (char *line = strtok(lines.s, "\n"); line; line = strtok(NULL, "\n"))
		text_printf(out, "%*s%s\n", INDENT, "", line);
	text_release(&lines);
}

#define CAUSE_LEAST 0.05 /* of the excess: only -v shows causes with less */

/* Prints a line for each cause: its share, its name, and the first fact. */
static void causes_in_brief(const struct view *v, const struct block *b, struct text *out)
{
	vec_for_each (&b->causes, const struct cause, c) {
		const char *fact = c->evidence.n ? c->evidence.data[0] : "";
		struct text line = { 0 }, wrapped = { 0 };
		unsigned indent = 2;

		if (c != b->causes.data && c->share < CAUSE_LEAST)
			continue;
		text_printf(&line, "%.0f%% %s%s%s%.*s", 100 * c->share, cause_name(b, c->kind),
			    c->confidence < CERTAIN ? "?" : "", *fact ? ": " : "",
			    (int)strcspn(fact, ";"), fact);
		text_wrap(line.s, v->width - FACT_INDENT, &wrapped);
		for (char *s = strtok(wrapped.s, "\n"); s; s = strtok(NULL, "\n")) {
			text_printf(out, "%*s%s\n", indent, "", s);
			indent = FACT_INDENT;
		}
		text_release(&line);
		text_release(&wrapped);
	}
}

static void slow_causes(const struct view *v, const struct block *b, struct text *out)
{
	struct table t = { .out = out, .width = v->width };
	char all[TEXT_NUMBER];
	struct text why = { 0 };

	if (!b->causes.n)
		return;
	text_printf(&why, "Why slow calls are slow (shares of the %s beyond the fastest call)",
		    text_time(all, (uint64_t)llround(block_pools_ns(b))));
	title(v, why.s, out);
	text_release(&why);
	if (!v->all) {
		causes_in_brief(v, b, out);
		return;
	}
	vec_for_each (&b->causes, const struct cause, c) {
		struct text line = { 0 };
		char share[16];

		snprintf(share, sizeof(share), "%.0f%%", 100 * c->share);
		table_right(&t, share, 7);
		text_printf(&line, "%s%s", cause_name(b, c->kind),
			    c->confidence < CERTAIN ? "?" : "");
		table_last(&t, line.s);
		text_release(&line);
		vec_for_each (&c->evidence, char *, e)
			evidence(*e, v->width, out);
	}
}

static void where(const struct meta_frame *f, bool line, struct text *out)
{
	char name[VALUE_SCRATCH];

	if (!f) {
		text_add(out, "(in the kernel)");
		return;
	}
	text_add(out,
		 !*f->symbol && !*f->object
			 ? "(unknown code)"
			 : text_printable(name, sizeof(name), *f->symbol ? f->symbol : f->object));
	if (line && *f->file && f->line)
		text_printf(out, " %s:%u", text_printable(name, sizeof(name), f->file), f->line);
}

static void per_call(struct table *t, double ns)
{
	char number[TEXT_NUMBER];

	table_right(t, text_time(number, (uint64_t)(ns + 0.5)), 7);
}

static void places(const struct view *v, const char *head, const struct places *p, bool line,
		   struct text *out)
{
	struct table t = { .out = out, .width = v->width };

	if (!p->n)
		return;
	title(v, head, out);
	vec_for_each (p, const struct place, place) {
		struct text name = { 0 };
		char cell[16];

		per_call(&t, place->slow_ns);
		per_call(&t, place->slow_low_ns);
		per_call(&t, place->fast_high_ns);
		snprintf(cell, sizeof(cell), "%u", place->slow);
		table_right(&t, cell, 7);
		where(place->frame, line, &name);
		table_last(&t, name.s);
		text_release(&name);
	}
}

static void slow_places(const struct view *v, const struct slow *s, struct text *out)
{
	places(v, "   SLOW ATLEAST    FAST SAMPLES LINE WITH MORE CPU TIME IN SLOW CALLS",
	       &s->differences.lines, true, out);
	places(v, "   SLOW ATLEAST    FAST SAMPLES FUNCTION WITH MORE, CALLEES INCLUDED",
	       &s->differences.callees, false, out);
}

static struct json *places_json(const struct places *p)
{
	struct json *j = json_new_array();

	vec_for_each (p, const struct place, place) {
		const struct meta_frame *f = place->frame;
		struct json *row = json_new_object();
		char name[VALUE_SCRATCH];

		json_set_string(row, "function",
				f ? text_printable(name, sizeof(name), f->symbol) : NULL);
		json_set_string(row, "file",
				f && *f->file ? text_printable(name, sizeof(name), f->file) : NULL);
		if (f && f->line)
			json_set_u64(row, "line", f->line);
		else
			json_set_null(row, "line");
		json_set_u64(row, "slow_samples", place->slow);
		json_set_u64(row, "fast_samples", place->fast);
		json_set_f64(row, "slow_ns", place->slow_ns);
		json_set_f64(row, "slow_low_ns", place->slow_low_ns);
		json_set_f64(row, "slow_high_ns", place->slow_high_ns);
		json_set_f64(row, "fast_ns", place->fast_ns);
		json_set_f64(row, "fast_high_ns", place->fast_high_ns);
		json_set_f64(row, "share", place->share);
		json_add_take(j, row);
	}
	return j;
}

static struct json *group_json(const struct slow_group *g)
{
	struct json *j = json_new_object();

	json_set_u64(j, "calls", g->calls);
	json_set_u64(j, "total_ns", g->ns);
	json_set_u64(j, "preempted_ns", g->own_off.preempted_ns);
	json_set_u64(j, "blocked_ns", g->own_off.blocked_ns);
	json_set_u64(j, "idle_ns", g->own_off.idle_ns);
	json_set_u64(j, "callees_ns", g->callees_ns);
	json_set_u64(j, "callees", g->callees);
	json_set_u64(j, "migrated", g->migrated);
	return j;
}

static struct json *durations_json(const struct block *b)
{
	struct json *j = json_new_array();
	uint64_t counts[SLOW_OCTAVES];

	slow_octaves(b, counts);
	for (unsigned o = 0; o < SLOW_OCTAVES; o++) {
		struct json *row;

		if (!counts[o])
			continue;
		row = json_new_object();
		json_set_u64(row, "from_ns", o ? 1ull << o : 0);
		json_set_u64(row, "calls", counts[o]);
		json_add_take(j, row);
	}
	return j;
}

/* Adds a row for all calls of a thread, or all calls from a function. */
static void add_part(struct json *parts, struct json *row, const struct slow_group *g,
		     const struct block *b)
{
	double excess = slow_excess(g, b);

	json_set_u64(row, "calls", g->calls);
	json_set_u64(row, "total_ns", g->ns);
	json_set_u64(row, "min_ns", g->min_ns);
	json_set_u64(row, "max_ns", g->max_ns);
	json_set_u64(row, "excess_ns", excess > 0 ? (uint64_t)(excess + 0.5) : 0);
	json_add_take(parts, row);
}

static struct json *threads_json(const struct view *v, const struct slow *s)
{
	struct json *j = json_new_array();

	for (size_t i = 0; i < s->by_thread.n; i++) {
		const struct thread *t = v->result->threads.data[i].thread;
		char comm[THREAD_COMM];
		struct json *row;

		if (!s->by_thread.data[i].calls)
			continue;
		row = json_new_object();
		json_set_u64(row, "tid", t->tid);
		json_set_u64(row, "pid", t->tgid);
		json_set_string(row, "comm", text_printable(comm, sizeof(comm), t->comm));
		add_part(j, row, &s->by_thread.data[i], s->block);
	}
	return j;
}

static struct json *callers_json(const struct view *v, const struct slow *s)
{
	struct json *j = json_new_array();

	for (size_t i = 0; i < s->by_caller.n; i++) {
		char name[VALUE_SCRATCH];
		struct json *row;

		if (!s->by_caller.data[i].calls)
			continue;
		row = json_new_object();
		json_set_string(row, "function",
				i ? text_printable(name, sizeof(name),
						   v->result->meta->functions.data[i - 1].name)
				  : NULL);
		add_part(j, row, &s->by_caller.data[i], s->block);
	}
	return j;
}

static struct json *slowest_json(const struct view *v, const struct slow *s)
{
	struct json *j = json_new_array();

	for (uint32_t i = 0; i < s->n_top; i++) {
		const struct slow_call *c = &s->top[i];
		struct json *row = json_new_object();
		char name[VALUE_SCRATCH];

		json_set_u64(row, "at_ns", result_since_start(v->result, c->entry_ns));
		json_set_u64(row, "duration_ns", c->duration_ns);
		json_set_u64(row, "preempted_ns", c->off.preempted_ns);
		json_set_u64(row, "blocked_ns", c->off.blocked_ns + c->off.idle_ns);
		json_set_u64(row, "tid", c->tid);
		json_set_string(
			row, "caller",
			c->caller == UINT32_MAX
				? NULL
				: text_printable(name, sizeof(name),
						 v->result->meta->functions.data[c->caller].name));
		json_add_take(j, row);
	}
	return j;
}

void report_slow_json(const struct view *v, const struct slow *s, struct text *out)
{
	struct json *j = json_new_object();

	json_set_u64(j, "version", REPORT_JSON_VERSION);
	json_set_take(j, "block", report_block_json(v->result, s->block));
	json_set_u64(j, "fast_max_ns", s->fast_max_ns);
	json_set_u64(j, "slow_min_ns", s->slow_min_ns);
	json_set_take(j, "fast", group_json(&s->fast));
	json_set_take(j, "between", group_json(&s->rest));
	json_set_take(j, "slow", group_json(&s->slow));
	json_set_u64(j, "unwritten", s->unwritten);
	json_set_take(j, "durations", durations_json(s->block));
	json_set_take(j, "threads", threads_json(v, s));
	json_set_take(j, "callers", callers_json(v, s));
	json_set_take(
		j, "stacks",
		report_callstacks_json(v->result, (struct callstacks *)&s->callstacks, s->block));
	json_set_take(j, "lines", places_json(&s->differences.lines));
	json_set_take(j, "callees", places_json(&s->differences.callees));
	json_set_take(j, "slowest", slowest_json(v, s));
	json_print(j, out, true);
	text_add(out, "\n");
	json_free(j);
}

/* ---- the view ---- */

static void details(const struct view *v, const struct slow *s, struct text *out)
{
	text_block_counters(v, s->block, out);
	slow_places(v, s, out);
	threads(v, s, out);
	callers(v, s, out);
	text_stacks(v, (struct callstacks *)&s->callstacks, s->block, out);
	slowest(v, s, out);
}

#define NAMED_MEANWHILE 3
#define NAMED_SPECIFIC	0.5 /* of the first one's ratio: what is less specific calls it, mostly */

/*
 * Prints what runs concurrently with the slow calls but not with the fast ones; -v has a table of
 * it, with the callers.
 */
static void meanwhile(const struct view *v, const struct block *b, struct text *out)
{
	unsigned named = 0;
	double first = 0;

	for (size_t i = 0; i < b->coactive.n && named < NAMED_MEANWHILE; i++) {
		struct text line = { 0 };

		if (report_coactive_is_outer(v->result, b, &b->coactive.data[i]))
			continue;
		if (b->coactive.data[i].low < NAMED_SPECIFIC * first)
			break;
		first = named ? first : b->coactive.data[i].low;
		text_add(&line, named++ ? "And " : "Meanwhile ");
		text_meanwhile(&b->coactive.data[i], &line);
		text_wrap(line.s, v->width, out);
		text_release(&line);
	}
}

#define OCTAVES_LEAST 3

/* Returns the number of rows that the screen has left for the distribution. */
static unsigned octaves_room(const struct view *v, const struct text *above,
			     const struct text *below)
{
	unsigned others = text_lines(above) + text_lines(below) + 2;

	if (v->all)
		return SLOW_OCTAVES;
	return others + OCTAVES_LEAST > SCREEN_LINES ? OCTAVES_LEAST : SCREEN_LINES - others;
}

void report_slow(const struct view *v, const struct slow *s, struct text *out)
{
	struct text below = { 0 };

	summary(v, s->block, out);
	slow_causes(v, s->block, out);
	if (!v->all)
		meanwhile(v, s->block, out);
	left_out(v, s, out);
	groups(v, s, out);
	if (v->all)
		text_coactive(v, s->block, out);
	if (v->all)
		details(v, s, &below);
	else
		slowest_one(v, s, &below);
	add_next_command(v, s, &below);
	distribution(v, s->block, octaves_room(v, out, &below), out);
	text_add(out, below.s ? below.s : "");
	text_release(&below);
}
