/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/block/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/view.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define CELL_WIDTH   15
#define CELLS_MAX    3 /* counters side by side in 80 columns, with room for a name after them */
#define BLOCKS_SHOWN 15

static const struct counter_mean *mean_of(const struct block *b, const struct meta_counter *m)
{
	static const struct counter_mean none = { .mean = NAN, .mean_fast = NAN, .mean_slow = NAN };

	return b->counters.all && !*m->why ? &b->counters.all->value[m->id] : &none;
}

static struct json *mean_json(const struct counter_mean *mean)
{
	struct json *j = json_new_object();

	json_set_f64(j, "mean", mean->mean);
	json_set_f64(j, "mean_fast", mean->mean_fast);
	json_set_f64(j, "mean_slow", mean->mean_slow);
	json_set_u64(j, "calls", mean->calls);
	return j;
}

struct json *counters_json(const struct meta *meta, const struct block *b)
{
	struct json *j = json_new_object();

	if (b->kind == BLOCK_THREAD || block_is_wait(b))
		return j;
	vec_for_each (&meta->counters, const struct meta_counter, m)
		if (*m->name)
			json_set_take(j, m->name, mean_json(mean_of(b, m)));
	return j;
}

double counters_mean(const struct block *b, const struct meta_counter *m)
{
	return mean_of(b, m)->mean;
}

void counters_csv_head(const struct meta *meta, struct text *out)
{
	static const char *const of[] = { "", "_fast", "_slow" };

	vec_for_each (&meta->counters, const struct meta_counter, m)
		for (unsigned i = 0; *m->name && i < 3; i++) {
			char head[256];
			struct value value = { .type = VALUE_TEXT, .text = head };

			snprintf(head, sizeof(head), "%s%s", m->name, of[i]);
			text_add(out, ",");
			value_print_csv(&value, out);
		}
}

static void write_csv(double mean, struct text *out)
{
	struct value value = { .type = isnan(mean) ? VALUE_NONE : VALUE_RATIO, .ratio = mean };

	text_add(out, ",");
	value_print_csv(&value, out);
}

void counters_csv(const struct meta *meta, const struct block *b, struct text *out)
{
	vec_for_each (&meta->counters, const struct meta_counter, m) {
		const struct counter_mean *mean = mean_of(b, m);

		if (!*m->name)
			continue;
		write_csv(mean->mean, out);
		write_csv(mean->mean_fast, out);
		write_csv(mean->mean_slow, out);
	}
}

/* ---- text ---- */

const char *counters_number(char buf[TEXT_NUMBER], double value)
{
	if (isnan(value))
		return "n/a";
	if (value >= 1000)
		return text_count(buf, (uint64_t)(value + 0.5));
	snprintf(buf, TEXT_NUMBER, value && value < 0.01 ? "%.0e" : "%.3g", value);
	return buf;
}

static bool was_asked(const struct meta *meta)
{
	vec_for_each (&meta->counters, const struct meta_counter, m)
		if (*m->name && !*m->why && !m->by_default && m->period == 1)
			return true;
	return false;
}

static bool any_counted(const struct view *v)
{
	for (size_t row = 0; row < v->n_rows; row++)
		if (v->rows[row]->counters.all)
			return true;
	return false;
}

/* The next counters to show, starting with the first-th, as many as fit side by side. */
struct page {
	const struct meta_counter *counters[CELLS_MAX];
	unsigned n;
};

static void fill_page(const struct meta *meta, unsigned first, struct page *page)
{
	unsigned seen = 0;

	page->n = 0;
	vec_for_each (&meta->counters, const struct meta_counter, m) {
		if (!*m->name || *m->why || !strcmp(m->role, META_STAMP))
			continue;
		if (seen++ >= first && page->n < CELLS_MAX)
			page->counters[page->n++] = m;
	}
}

static void print_page(const struct view *v, const struct page *page, size_t rows, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	size_t shown = 0;

	table_style(&t, TABLE_BOLD);
	for (unsigned i = 0; i < page->n; i++) {
		char head[CELL_WIDTH + 1];

		text_printable(head, sizeof(head), page->counters[i]->name);
		table_right(&t, head, CELL_WIDTH);
	}
	table_last(&t, "in fast / slow calls of");
	for (size_t row = 0; row < v->n_rows && shown < rows; row++) {
		const struct block *b = v->rows[row];
		char name[256];

		if (!b->counters.all)
			continue;
		shown++;
		for (unsigned i = 0; i < page->n; i++) {
			const struct counter_mean *mean = mean_of(b, page->counters[i]);
			char fast[TEXT_NUMBER], slow[TEXT_NUMBER], cell[2 * TEXT_NUMBER + 4];

			snprintf(cell, sizeof(cell), "%s / %s",
				 counters_number(fast, mean->mean_fast),
				 counters_number(slow, mean->mean_slow));
			table_right(&t, cell, CELL_WIDTH);
		}
		table_last(&t, text_printable(name, sizeof(name), b->name));
	}
	text_add(out, "\n");
}

static void print_missing(const struct meta *meta, unsigned width, struct text *out)
{
	struct text all = { 0 };
	const char *why = NULL;
	char *printable;

	vec_for_each (&meta->counters, const struct meta_counter, m) {
		if (!*m->why)
			continue;
		if (!why || strcmp(why, m->why))
			text_printf(&all, "%sn/a (%s): %s", why ? "; " : "", m->why, m->name);
		else
			text_printf(&all, ", %s", m->name);
		why = m->why;
	}
	if (why) {
		printable = text_printable_new(all.s);
		text_wrap(printable, width, out);
		free(printable);
	}
	text_release(&all);
}

static void print_pages(const struct view *v, struct text *out)
{
	const struct meta *meta = v->result->meta;
	struct page page;
	size_t before;

	fill_page(meta, 0, &page);
	for (unsigned first = 0; page.n; fill_page(meta, first += page.n, &page))
		print_page(v, &page, BLOCKS_SHOWN, out);
	before = out->n;
	print_missing(meta, v->width, out);
	if (out->n > before)
		text_add(out, "\n");
}

void text_counters(const struct view *v, size_t rows, struct text *out)
{
	const struct meta *meta = v->result->meta;
	struct page first, second;

	if (!was_asked(meta) || v->by_thread || !any_counted(v))
		return;
	if (v->shortened == SHORTEN_NOTHING) {
		print_pages(v, out);
		return;
	}
	fill_page(meta, 0, &first);
	fill_page(meta, first.n, &second);
	if (v->shortened == SHORTEN_COUNTERS)
		print_page(v, &first, rows < BLOCKS_SHOWN ? rows : BLOCKS_SHOWN, out);
	if (v->shortened == SHORTEN_COUNTERS && second.n)
		text_add(out, "More counters, and more functions: -v.\n\n");
	else if (v->shortened > SHORTEN_COUNTERS && v->shortened < SHORTEN_MOST)
		text_add(out, "Counters of fast and slow calls: -v.\n\n");
}

void text_block_counters(const struct view *v, const struct block *b, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	const struct meta *meta = v->result->meta;
	bool any = false;

	vec_for_each (&meta->counters, const struct meta_counter, m) {
		const struct counter_mean *mean = mean_of(b, m);
		char buf[TEXT_NUMBER], name[256];

		if (!*m->name || *m->why)
			continue;
		if (!any) {
			text_add(out, "\n");
			table_style(&t, TABLE_BOLD);
			table_last(&t, "counted    mean    fast    slow  per call");
		}
		any = true;
		table_right(&t, mean->calls ? text_count(buf, mean->calls) : "n/a", 7);
		table_right(&t, counters_number(buf, mean->mean), 7);
		table_right(&t, counters_number(buf, mean->mean_fast), 7);
		table_right(&t, counters_number(buf, mean->mean_slow), 7);
		*name = ' ';
		text_printable(name + 1, sizeof(name) - 1, m->name);
		table_last(&t, name);
	}
	if (any)
		print_missing(meta, v->width, out);
}
