/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/block/stacks.h"

#include <stdio.h>
#include <string.h>

#include "analysis/result/result.h"
#include "analysis/result/slow.h"
#include "analysis/score/callstack.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/view.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define STACKS_MAX 10 /* stacks of a block in JSON */
#define STACKS_FEW 5  /* stacks on the screen without -v */
#define FRAMES_FEW 8

/* brief: file names without directories. */
static void frame_text(const struct meta *meta, uint32_t id, bool brief, struct text *out)
{
	const struct meta_frame *f = meta_frame(meta, id);
	char name[VALUE_SCRATCH];

	if (!f || !f->object || (!*f->symbol && !*f->object)) {
		text_add(out, "?");
		return;
	}
	text_add(out, text_printable(name, sizeof(name), *f->symbol ? f->symbol : f->object));
	if (f->file && *f->file && f->line)
		text_printf(out, " (%s:%u)",
			    text_printable(name, sizeof(name),
					   brief ? text_base_name(f->file) : f->file),
			    f->line);
	else
		text_printf(out, "+0x%llx", (unsigned long long)f->offset);
}

static struct json *frames_json(const struct meta *meta, uint32_t stack)
{
	const struct meta_stack *m = &meta->stacks.data[stack];
	struct json *frames = json_new_array();

	for (uint32_t i = 0; i < m->n_frames; i++) {
		struct text frame = { 0 };

		frame_text(meta, m->frames[i], false, &frame);
		json_add_string(frames, frame.s);
		text_release(&frame);
	}
	return frames;
}

/* ---- blocking stacks ---- */

/* Whether a comes after b: stacks with more sleeps come first, then those with lower numbers. */
static bool comes_after(const struct site_visit *a, const struct site_visit *b)
{
	if (!b || a->sleeps != b->sleeps)
		return !b || a->sleeps < b->sleeps;
	return a->stack > b->stack;
}

static void add_waits(struct json *stacks, const struct result *res, const struct block *b)
{
	const struct sites *sites = &res->site_sums;
	const struct site_visit *last = NULL;

	for (unsigned n = 0; n < STACKS_MAX; n++) {
		const struct site_visit *best = NULL;
		struct json *row;

		vec_for_each (&sites->visits, const struct site_visit, v)
			if (v->site == b->id && comes_after(v, last) &&
			    (!best || comes_after(best, v)))
				best = v;
		if (!best)
			return;
		row = json_new_object();
		json_set_u64(row, "count", best->sleeps);
		json_set_take(row, "frames",
			      frames_json(res->meta, sites->stacks.data[best->stack].stack));
		json_add_take(stacks, row);
		last = best;
	}
}

/* ---- call stacks ---- */

struct callstacks *report_callstacks(const struct result *res, const struct block *b)
{
	/* callstacks_of() only adds to maps that speed it up, which changes nothing reported */
	return (struct callstacks *)(b->grouped ? &res->keyed.stacks : &res->callstacks);
}

struct json *report_callstacks_json(const struct result *res, struct callstacks *s,
				    const struct block *b)
{
	struct callstack_list list = { 0 };
	struct json *stacks = json_new_array();

	callstacks_of(s, b, &list);
	for (size_t i = 0; i < list.n && i < STACKS_MAX; i++) {
		const struct callstack *c = &list.data[i];
		struct json *row = json_new_object();

		json_set_u64(row, "count", (uint64_t)(c->calls + 0.5));
		json_set_u64(row, "taken", c->taken);
		if (c->timed > 0)
			json_set_u64(row, "total_ns", (uint64_t)(c->ns + 0.5));
		else
			json_set_null(row, "total_ns");
		if (s->slow_min_ns != UINT64_MAX)
			json_set_u64(row, "slow", (uint64_t)(c->slow + 0.5));
		json_set_take(row, "frames", frames_json(res->meta, c->stack));
		json_add_take(stacks, row);
	}
	vec_release(&list);
	return stacks;
}

struct json *report_stacks_json(const struct result *res, const struct block *b)
{
	struct json *waits;

	if (!block_is_wait(b))
		return report_callstacks_json(res, report_callstacks(res, b), b);
	waits = json_new_array();
	add_waits(waits, res, b);
	return waits;
}

#define OUTER_FRAMES 3

/* "from use (four_locks.c:31), run (common.h:210), start_thread: 72 % of the time" */
void text_called_from(const struct view *v, const struct block *b, unsigned indent,
		      struct text *out)
{
	struct callstack_list list = { 0 };
	struct text line = { 0 }, wrapped = { 0 };
	const struct meta *meta = v->result->meta;
	double all = 0;

	callstacks_of(report_callstacks(v->result, b), b, &list);
	vec_for_each (&list, const struct callstack, c)
		all += c->ns;
	if (list.n && all > 0) {
		const struct callstack *c = &list.data[0];
		const struct meta_stack *m = &meta->stacks.data[c->stack];
		uint32_t first = c->taken ? meta_stack_own(meta, m) : 0;

		for (uint32_t i = first; i < m->n_frames && i < first + OUTER_FRAMES; i++) {
			text_add(&line, i == first ? "from " : ", ");
			frame_text(meta, m->frames[i], true, &line);
		}
		if (line.n)
			text_printf(&line, "%s: %.0f%% of its time",
				    m->n_frames > first + OUTER_FRAMES ? ", …" : "",
				    100 * c->ns / all);
	}
	if (line.n)
		text_wrap(line.s, v->width - indent, &wrapped);
	for (const char *s = wrapped.n ? wrapped.s : ""; *s; s += strcspn(s, "\n") + 1)
		text_printf(out, "%*s%.*s\n", indent, "", (int)strcspn(s, "\n"), s);
	text_release(&line);
	text_release(&wrapped);
	vec_release(&list);
}

static void numbers(struct table *t, const struct callstack *c, double all_slow)
{
	char number[TEXT_NUMBER], cell[16];

	table_right(t, text_count(number, (uint64_t)(c->calls + 0.5)), 7);
	if (c->timed >= 0.5)
		table_right(t, text_time(number, (uint64_t)(c->ns / c->timed + 0.5)), 7);
	else
		table_right(t, "n/a", 7);
	snprintf(cell, sizeof(cell), "%.0f%%", all_slow > 0 ? 100 * c->slow / all_slow : 0);
	table_right(t, cell, 7);
}

/* Prints the callers, one per line, without the function itself. */
static void print_stack(const struct view *v, const struct callstack *c, double all_slow,
			struct text *out)
{
	const struct meta *meta = v->result->meta;
	const struct meta_stack *m = &meta->stacks.data[c->stack];
	uint32_t first = c->taken ? meta_stack_own(meta, m) : 0;

	for (uint32_t i = first; i < m->n_frames || i == first; i++) {
		struct table t = { .out = out, .width = v->width };
		struct text frame = { 0 };

		if (i >= first + FRAMES_FEW && !v->all && m->n_frames - i > 1) {
			text_printf(out, "%21s %u further out (-v)\n", "", m->n_frames - i);
			return;
		}
		if (i < m->n_frames)
			frame_text(meta, m->frames[i], true, &frame);
		else
			text_add(&frame, "?");
		if (i == first)
			numbers(&t, c, all_slow);
		else
			table_left(&t, "", 21);
		table_last(&t, frame.s);
		text_release(&frame);
	}
}

void text_stacks(const struct view *v, struct callstacks *s, const struct block *b,
		 struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	struct callstack_list list = { 0 };
	double all_slow = 0;
	size_t n;

	callstacks_of(s, b, &list);
	if (!list.n)
		return;
	vec_for_each (&list, const struct callstack, c)
		all_slow += c->slow;
	n = list.n > STACKS_FEW && !v->all ? STACKS_FEW : list.n;
	text_add(out, "\n");
	table_style(&t, TABLE_BOLD);
	table_last(&t, "  CALLS    MEAN    SLOW CALL STACK");
	for (size_t i = 0; i < n; i++)
		print_stack(v, &list.data[i], all_slow, out);
	if (n < list.n)
		text_printf(out, "   %zu more (-v)\n", list.n - n);
	vec_release(&list);
}
