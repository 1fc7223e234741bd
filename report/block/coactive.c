/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/block/coactive.h"

#include <math.h>
#include <stdio.h>

#include "analysis/evidence/coactivity.h"
#include "analysis/result/result.h"
#include "analysis/threads/standard.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/view.h"
#include "report/table/table.h"
#include "trace/meta/meta.h"
#include "symbol/name.h"

static const struct thread *thread_of(const struct result *res, const struct coactive *c)
{
	return c->thread == UINT32_MAX ? NULL : res->calls.threads.all.data[c->thread];
}

static void set_text(struct json *j, const char *key, const char *s)
{
	char printable[VALUE_SCRATCH];

	json_set_string(j, key, s && *s ? text_printable(printable, sizeof(printable), s) : NULL);
}

static struct json *one(const struct result *res, const struct coactive *c)
{
	const struct thread *t = thread_of(res, c);
	struct json *j = json_new_object();

	set_text(j, "function", c->part == COACTIVE_CPU ? NULL : c->name);
	json_set_string(j, "part", coactive_part_name(c->part));
	set_text(j, "running", c->running);
	if (c->part == COACTIVE_CPU)
		json_set_u64(j, "pid", c->id);
	else if (t)
		json_set_u64(j, "pid", t->tgid);
	else
		json_set_null(j, "pid");
	if (t)
		json_set_u64(j, "tid", t->tid);
	else
		json_set_null(j, "tid");
	set_text(j, "comm", t ? t->comm : c->part == COACTIVE_CPU ? c->name : NULL);
	json_set_f64(j, "lift", c->lift);
	json_set_f64(j, "low", c->low);
	json_set_f64(j, "high", isinf(c->high) ? NAN : c->high);
	json_set_f64(j, "share", c->share);
	json_set_f64(j, "slow_rate", c->slow_rate);
	json_set_f64(j, "fast_rate", c->fast_rate);
	return j;
}

void report_set_coactive(struct json *block, const struct result *res, const struct block *b)
{
	struct json *j;

	if (!b->coactive.measured) {
		json_set_null(block, "coactive");
		return;
	}
	j = json_new_array();
	vec_for_each (&b->coactive, const struct coactive, c)
		json_add_take(j, one(res, c));
	json_set_take(block, "coactive", j);
}

/* Names what ran: "evict in 4711 worker", "code after lock", "process 77 gcc, on its CPU". */
static void who(const struct result *res, const struct coactive *c, struct text *out)
{
	const struct thread *t = thread_of(res, c);
	char name[VALUE_SCRATCH];

	if (c->part == COACTIVE_CPU) {
		text_printf(out, "process %u", c->id);
		if (c->name)
			text_printf(out, " %s", text_printable(name, sizeof(name), c->name));
		text_add(out, ", on its CPU");
		return;
	}
	coactive_code(c, text_printable(name, sizeof(name), c->name), out);
	if (t)
		text_printf(out, " in %u %s", t->tid, text_printable(name, sizeof(name), t->comm));
}

static bool begins_thread(const struct result *res, const struct coactive *c)
{
	return c->part != COACTIVE_CPU &&
	       standard_begins_thread(res->meta, &res->meta->functions.data[c->id]);
}

static bool may_be_of_one(const struct coactive *a, const struct coactive *b)
{
	return a->thread == b->thread || a->thread == UINT32_MAX || b->thread == UINT32_MAX;
}

bool report_coactive_is_outer(const struct result *res, const struct block *b,
			      const struct coactive *c)
{
	if (!begins_thread(res, c))
		return false;
	vec_for_each (&b->coactive, const struct coactive, other)
		if (other->part == COACTIVE_INSIDE && other->name && !begins_thread(res, other) &&
		    may_be_of_one(c, other))
			return true;
	return false;
}

#define NAME_COLUMNS 60

/*
 * A rate is a share of the calls' time while at most one thread at a time runs the code; above 1 it
 * is a number of threads.
 */
void text_meanwhile(const struct coactive *c, struct text *out)
{
	char name[4 * NAME_COLUMNS + 1];
	struct text code = { 0 };

	name_brief(name, sizeof(name), c->name ? c->name : "?", NAME_COLUMNS);
	coactive_code(c, name, &code);
	if (c->part == COACTIVE_CPU)
		text_printf(
			out,
			"process %u (%s) has its CPU in %.0f%% of slow calls, %.0f%% of fast ones",
			c->id, name, 100 * c->slow_rate, 100 * c->fast_rate);
	else if (c->slow_rate > 1)
		text_printf(out, "%.1f other threads run %s in slow calls, %.1f in fast ones",
			    c->slow_rate, code.s, c->fast_rate);
	else
		text_printf(out,
			    "another thread runs %s in %.0f%% of slow calls, %.0f%% of fast ones",
			    code.s, 100 * c->slow_rate, 100 * c->fast_rate);
	text_release(&code);
}

static void times_cell(struct table *t, double x)
{
	char cell[24];

	snprintf(cell, sizeof(cell), x < 10 ? "%.1f" : x < 1000 ? "%.0f" : ">999", x);
	table_right(t, cell, 7);
}

static void percent_cell(struct table *t, double x)
{
	char cell[24];

	snprintf(cell, sizeof(cell), "%.0f%%", 100 * x);
	table_right(t, cell, 7);
}

void text_coactive(const struct view *v, const struct block *b, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };

	if (!b->coactive.measured || !b->coactive.n)
		return;
	text_add(out, "\n");
	table_style(&t, TABLE_BOLD);
	table_last(&t, "   SLOW    FAST   RATIO   UP TO OTHER THREADS RUN");
	vec_for_each (&b->coactive, const struct coactive, c) {
		struct text name = { 0 };

		who(v->result, c, &name);
		percent_cell(&t, c->slow_rate);
		percent_cell(&t, c->fast_rate);
		times_cell(&t, c->low);
		times_cell(&t, c->high);
		table_last(&t, name.s);
		text_release(&name);
	}
}
