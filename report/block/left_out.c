/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/block/left_out.h"

#include <math.h>
#include <string.h>

#include "analysis/result/result.h"
#include "base/text.h"
#include "report/block/view.h"
#include "trace/meta/meta.h"

#define NAME_MAX_COLUMNS 48

static int hotter(const void *a, const void *b)
{
	const struct left_out_function *one = a, *other = b;
	const struct meta_not_traced *x = one->last, *y = other->last;
	double x_share = isnan(x->cpu_share) ? -1 : x->cpu_share;
	double y_share = isnan(y->cpu_share) ? -1 : y->cpu_share;

	if (!one->gaps != !other->gaps)
		return one->gaps ? 1 : -1;
	return x_share != y_share ? (x_share < y_share ? 1 : -1) : (x > y) - (x < y);
}

/* Returns the function's row if an earlier gap in its tracing has made one, else a new row. */
static struct left_out_function *row_of(struct left_out *all, const struct meta_not_traced *f)
{
	vec_for_each (all, struct left_out_function, known)
		if (f->traced_until_ns && known->gaps &&
		    meta_not_traced_is(f, known->last->name, known->last->object,
				       known->last->address))
			return known;
	return memset(vec_add(all), 0, sizeof(struct left_out_function));
}

/* Returns for how much of the window the function was not traced. */
static uint64_t gap_ns(const struct result *res, const struct meta_not_traced *f)
{
	uint64_t from = f->traced_until_ns > res->start_ns ? f->traced_until_ns : res->start_ns;
	uint64_t to = f->traced_again_ns && f->traced_again_ns < res->end_ns ? f->traced_again_ns
									     : res->end_ns;

	return to > from ? to - from : 0;
}

void report_left_out(const struct result *res, struct left_out *all)
{
	vec_for_each (&res->meta->not_traced, const struct meta_not_traced, f) {
		struct left_out_function *row = row_of(all, f);

		row->last = f;
		if (!f->traced_until_ns)
			continue;
		row->gaps++;
		row->out_ns += gap_ns(res, f);
	}
	vec_sort(all, hotter);
}

const char *report_left_out_label(const struct left_out_function *f)
{
	if (f->gaps)
		return "Partly traced";
	return isnan(f->last->cpu_share) ? "Not traced" : "Skipped";
}

/* Adds when the function was traced. */
static void add_times(const struct result *res, const struct left_out_function *row,
		      struct text *out)
{
	const struct meta_not_traced *f = row->last;
	char number[TEXT_NUMBER];

	if (row->gaps > 1 && res->end_ns > res->start_ns) {
		double out_share = (double)row->out_ns / (double)(res->end_ns - res->start_ns);

		text_printf(out, " in turns, %.0f%% of the time", 100 * (1 - out_share));
		return;
	}
	if (f->traced_until_ns)
		text_printf(out, " until %s",
			    text_time(number, result_since_start(res, f->traced_until_ns)));
	if (f->traced_again_ns)
		text_printf(out, " and from %s on",
			    text_time(number, result_since_start(res, f->traced_again_ns)));
}

void report_left_out_line(const struct result *res, const struct left_out_function *row,
			  struct text *out)
{
	const struct meta_not_traced *f = row->last;
	char name[4 * NAME_MAX_COLUMNS + 1], reason[256], number[TEXT_NUMBER], cost[TEXT_NUMBER];

	text_add(out,
		 text_shortened(name, sizeof(name), f->name ? f->name : "?", NAME_MAX_COLUMNS));
	add_times(res, row, out);
	if (f->traced_until_ns && !isnan(f->cpu_share))
		text_add(out, ",");
	if (!isnan(f->cpu_share))
		text_printf(out, " %.0f%% of CPU", 100 * f->cpu_share);
	if (!isnan(f->calls_per_s) && !isnan(f->cost_share))
		text_printf(out, ": %s calls/s %s %s", text_count(number, (uint64_t)f->calls_per_s),
			    f->traced_until_ns ? "cost" : "would cost",
			    text_multiple(cost, f->cost_share));
	else if (f->reason && *f->reason)
		text_printf(out, ": %s", text_printable(reason, sizeof(reason), f->reason));
}

void report_left_out_brief(const struct result *res, const struct left_out_function *row,
			   struct text *out)
{
	const struct meta_not_traced *f = row->last;
	char name[4 * NAME_MAX_COLUMNS + 1];

	text_add(out,
		 text_shortened(name, sizeof(name), f->name ? f->name : "?", NAME_MAX_COLUMNS));
	add_times(res, row, out);
	if (!row->gaps && !isnan(f->cpu_share))
		text_printf(out, " (%.0f%% of CPU)", 100 * f->cpu_share);
}
