/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of a block's slow calls: the causes with their evidence, and where in the code they differ. */
#include <stdio.h>
#include <string.h>

#include "analysis/cause/samples_compare.h"
#include "analysis/result/result.h"
#include "analysis/result/slow.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/view.h"
#include "report/slow/internal.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define INDENT 10

static void head(const struct view *v, const char *s, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };

	text_add(out, "\n");
	table_style(&t, TABLE_BOLD);
	table_last(&t, s);
}

/* A paragraph, indented. */
static void evidence(const char *s, unsigned width, struct text *out)
{
	struct text lines = { 0 };

	text_wrap(s, width - INDENT, &lines);
	for (char *line = strtok(lines.s, "\n"); line; line = strtok(NULL, "\n"))
		text_printf(out, "%*s%s\n", INDENT, "", line);
	text_release(&lines);
}

void slow_causes(const struct view *v, const struct block *b, struct text *out)
{
	struct table t = { .out = out, .width = v->width };

	if (!b->causes.n)
		return;
	head(v, "  share cause, evidence", out);
	vec_for_each (&b->causes, const struct cause, c) {
		struct text line = { 0 };
		char share[16];

		snprintf(share, sizeof(share), "%.0f %%", 100 * c->share);
		table_right(&t, share, 7);
		text_printf(&line, "%s%s", c->kind, c->confidence < CERTAIN ? "?" : "");
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
	text_add(out, text_printable(name, sizeof(name), *f->symbol ? f->symbol : f->object));
	if (line && *f->file && f->line)
		text_printf(out, " %s:%u", text_printable(name, sizeof(name), f->file), f->line);
}

static void per_call(struct table *t, double ns)
{
	char number[TEXT_NUMBER];

	table_right(t, text_time(number, (uint64_t)(ns + 0.5)), 7);
}

static void places(const struct view *v, const char *title, const struct places *p, bool line,
		   struct text *out)
{
	struct table t = { .out = out, .width = v->width };

	if (!p->n)
		return;
	head(v, title, out);
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

void slow_places(const struct view *v, const struct slow *s, struct text *out)
{
	places(v, "   slow atleast    fast samples lines with more CPU time in a slow call",
	       &s->differences.lines, true, out);
	places(v, "   slow atleast    fast samples functions called, the same",
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

/* What all calls of a thread, or from a function, have in common. */
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
