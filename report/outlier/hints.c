/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/outlier/hints.h"

#include <math.h>
#include <string.h>

#include "analysis/outlier/outlier.h"
#include "base/text.h"
#include "report/outlier/outlier.h"
#include "report/table/table.h"
#include "report/table/wrap.h"

/* with such a share of outliers the durations vary, and no call stands out */
#define WIDE_SHARE 0.1

void outlier_time_cell(struct table *t, double ns)
{
	char number[TEXT_NUMBER];

	table_right(t, text_time(number, ns > 0 ? (uint64_t)(ns + 0.5) : 0), 8);
}

double outlier_own_share(const struct outlier_block *b)
{
	return (double)b->own / (double)b->durations.count;
}

void outlier_paragraph(const struct outlier_view *v, const char *s, struct text *out)
{
	struct text wrapped = { 0 };
	unsigned indent = OUTLIER_INDENT;

	text_wrap(s, v->width - OUTLIER_INDENT - 2, &wrapped);
	for (const char *l = wrapped.s; l && *l; l += strcspn(l, "\n") + 1) {
		text_printf(out, "%*s%.*s\n", indent, "", (int)strcspn(l, "\n"), l);
		indent = OUTLIER_INDENT + 2;
	}
	text_release(&wrapped);
}

/*
 * Whether x comes before y: hints that account for more come first, those without a share last, in
 * their own order.
 */
static bool comes_before(const struct outlier_hint *x, const struct outlier_hint *y)
{
	if (!isnan(x->share) && !isnan(y->share) && x->share != y->share)
		return x->share > y->share;
	if (isnan(x->share) != isnan(y->share))
		return isnan(y->share);
	return x < y;
}

const struct outlier_hint *outlier_hint_at(const struct outlier_hints *hints, size_t place)
{
	vec_for_each (hints, const struct outlier_hint, h) {
		size_t before = 0;

		vec_for_each (hints, const struct outlier_hint, other)
			before += other != h && comes_before(other, h);
		if (before == place)
			return h;
	}
	return hints->data;
}

const char *outlier_hint_title(const struct outlier_hint *h)
{
	static const struct {
		const char *name, *title;
	} titles[] = {
		{ "preemption", "run queue" },
		{ "contention", "lock contention" },
		{ "first execution", "first call" },
		{ "executed once", "called once" },
		{ "cheap accessor", "very short calls" },
		{ "locality", "cache misses" },
		{ "input/output", "waiting for I/O" },
	};

	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (!strcmp(h->name, titles[i].name))
			return titles[i].title;
	return h->name;
}

void outlier_hints_text(const struct outlier_view *v, const struct outlier_block *b,
			const struct outlier_hints *all, struct text *out)
{
	struct text line = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		const struct outlier_hint *h = outlier_hint_at(all, i);

		text_add(&line, outlier_hint_title(h));
		if (!isnan(h->share))
			text_printf(&line, " %.0f%%", 100 * h->share);
		text_printf(&line, ": %s", h->evidence);
		outlier_paragraph(v, line.s, out);
		text_release(&line);
		line = (struct text){ 0 };
	}
	if (outlier_own_share(b) > WIDE_SHARE && b->durations.count >= 100)
		outlier_paragraph(
			v,
			"wide range: so many calls are outliers that none stands out; the time may "
			"depend on the arguments",
			out);
}
