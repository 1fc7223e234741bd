/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that were wanted, or are hot, and were not traced, or not to the end. */
#include <math.h>

#include "analysis/result.h"
#include "base/text.h"
#include "report/report.h"
#include "trace/meta.h"

#define NAME_MAX_COLUMNS 48

static int hotter(const void *a, const void *b)
{
	const struct meta_not_traced *x = *(const struct meta_not_traced *const *)a;
	const struct meta_not_traced *y = *(const struct meta_not_traced *const *)b;
	double x_share = isnan(x->cpu_share) ? -1 : x->cpu_share;
	double y_share = isnan(y->cpu_share) ? -1 : y->cpu_share;

	if (!x->traced_until_ns != !y->traced_until_ns)
		return x->traced_until_ns ? 1 : -1;
	return x_share != y_share ? (x_share < y_share ? 1 : -1) : (x > y) - (x < y);
}

void report_left_out(const struct meta *meta, struct left_out *all)
{
	vec_for_each (&meta->not_traced, const struct meta_not_traced, f)
		*vec_add(all) = f;
	vec_sort(all, hotter);
}

const char *report_left_out_label(const struct meta_not_traced *f)
{
	if (f->traced_until_ns)
		return "traced in part";
	return isnan(f->cpu_share) ? "not traced" : "hot, not traced";
}

void report_left_out_line(const struct result *res, const struct meta_not_traced *f,
			  struct text *out)
{
	char name[4 * NAME_MAX_COLUMNS + 1], reason[256], number[TEXT_NUMBER];

	text_add(out,
		 text_shortened(name, sizeof(name), f->name ? f->name : "?", NAME_MAX_COLUMNS));
	if (f->traced_until_ns)
		text_printf(out, " until %s",
			    text_time(number, result_since_start(res, f->traced_until_ns)));
	if (f->traced_again_ns)
		text_printf(out, " and from %s on",
			    text_time(number, result_since_start(res, f->traced_again_ns)));
	if (f->traced_until_ns && !isnan(f->cpu_share))
		text_add(out, ",");
	if (!isnan(f->cpu_share))
		text_printf(out, " %.0f %% of CPU", 100 * f->cpu_share);
	if (!isnan(f->calls_per_s) && !isnan(f->cost_share))
		text_printf(out, ": %s calls/s %s %.0f %%",
			    text_count(number, (uint64_t)f->calls_per_s),
			    f->traced_until_ns ? "cost" : "would cost", 100 * f->cost_share);
	else if (f->reason && *f->reason)
		text_printf(out, ": %s", text_printable(reason, sizeof(reason), f->reason));
}
