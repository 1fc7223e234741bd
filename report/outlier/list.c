/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/outlier/list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/outlier/outlier.h"
#include "base/text.h"
#include "report/block/view.h"
#include "report/outlier/hints.h"
#include "report/outlier/outlier.h"
#include "report/screen/next.h"
#include "report/screen/row.h"
#include "report/table/table.h"
#include "report/table/wrap.h"

#define BLOCKS_DEFAULT 10
#define NUMBERS	       8 /* outliers that are named below a row; the others are counted */
#define CAUSE_COLUMNS  20
#define ROW_LINES      2 /* lines besides the rows: the heads, and the count of omitted rows */
#define ROWS_LEAST     2

static uint64_t busy_ns(const struct outlier *x)
{
	return x->duration_ns > x->off.idle_ns ? x->duration_ns - x->off.idle_ns : 0;
}

static const struct outlier *longest(const struct outlier_block *b)
{
	const struct outlier *longest = NULL;

	vec_for_each (&b->kept, const struct outlier, x)
		if (!x->passed && (!longest || busy_ns(x) > busy_ns(longest)))
			longest = x;
	return longest;
}

/*
 * Returns the words before the name, as in "run of the critical section g_lock taken in f". A
 * function needs none.
 */
static const char *kind_words(const struct outlier_block *b)
{
	return outlier_is_section(b)	 ? "the critical section "
	       : b->kind == BLOCK_MARKER ? "the marker "
					 : "";
}

static const struct outlier_hints *hints_of(const struct outlier_block *b)
{
	return b->own && b->own != b->divergent ? &b->own_hints : &b->hints;
}

/* Returns the part of the block's own outliers' time above the trend that has this cause. */
static double cause_share(const struct outlier_block *b, const char *cause)
{
	double all = 0, same = 0;

	vec_for_each (&b->kept, const struct outlier, x) {
		double ns = x->passed ? 0 : fmax(x->residual_ns, 0);

		all += ns;
		same += strcmp(outlier_cause_name(x), cause) ? 0 : ns;
	}
	return all > 0 ? same / all : 0;
}

/* Returns the cause of most of that time, or NULL if it is unknown. */
static const char *main_cause(const struct outlier_block *b, double *share)
{
	const char *best = NULL;

	*share = 0;
	vec_for_each (&b->kept, const struct outlier, x) {
		double of_it = x->passed ? 0 : cause_share(b, outlier_cause_name(x));

		if (of_it > *share) {
			*share = of_it;
			best = outlier_cause_name(x);
		}
	}
	return best && strcmp(best, "unknown") ? best : NULL;
}

#define HINT_LEAST  0.5 /* below it, the cause of most of the outliers says more */
#define CAUSE_LEAST 0.1 /* a smaller share says nothing about the outliers */

/* Adds the cause that accounts for most of the time above the trend, as in "slow path 56%". The
 * share is left out if the words would take more columns. */
static void add_cause(const struct outlier_block *b, unsigned columns, struct text *out)
{
	const struct outlier_hints *all = hints_of(b);
	const struct outlier_hint *h = all->n ? outlier_hint_at(all, 0) : NULL;
	double part = h ? h->share : 0, other_part;
	const char *title = h ? outlier_hint_title(h) : "unknown", *other;
	char share[16] = "";

	if (part < HINT_LEAST) { /* not if it has no share */
		other = main_cause(b, &other_part);
		if (other && other_part > part) {
			title = other;
			part = other_part;
		}
	}
	if (part < CAUSE_LEAST) {
		title = "unknown";
		part = 0;
	}
	if (part > 0)
		snprintf(share, sizeof(share), " %.0f%%", 100 * part);
	text_printf(out, "%s%s", title,
		    table_columns(title) + table_columns(share) <= columns ? share : "");
}

static void headline(const struct outlier_view *v, const struct outlier_block *b, struct text *out)
{
	const struct outlier *x = longest(b);
	char took[TEXT_NUMBER], p50[TEXT_NUMBER], n[TEXT_COUNTED];
	struct text line = { 0 };

	text_printf(&line, "%llu of %s of %s%s %s. The longest, number %llu, took %s%s",
		    (unsigned long long)b->own,
		    text_counted(n, b->durations.count, outlier_unit(b)), kind_words(b), b->name,
		    b->own == 1 ? "is an outlier" : "are outliers", (unsigned long long)x->index,
		    text_time(took, busy_ns(x)), x->off.idle_ns ? " without idle time" : "");
	if (b->durations.count > 2)
		text_printf(&line, "; the median is %s",
			    text_time(p50, hist_quantile(&b->durations, 0.5)));
	text_printf(&line, ". %s: %s.", b->own == 1 ? "Cause" : "Its cause", x->evidence);
	if (b->own > 1) {
		text_printf(&line, " All %llu: ", (unsigned long long)b->own);
		add_cause(b, v->width, &line);
		text_add(&line, ".");
	}
	text_wrap(line.s, v->width, out);
	text_release(&line);
	text_add(out, "\n");
}

/* Adds the indices of the block's own outliers, as in "0, 25, 48". */
static void indices(const struct outlier_view *v, const struct outlier_block *b, struct text *out)
{
	struct text line = { 0 };
	size_t n = 0;

	text_printf(&line, "%ss", outlier_unit(b));
	vec_for_each (&b->kept, const struct outlier, x) {
		if (n == NUMBERS && b->own > NUMBERS + 2)
			break;
		if (!x->passed)
			text_printf(&line, "%s %llu", n++ ? "," : "", (unsigned long long)x->index);
	}
	if (n < b->own)
		text_printf(&line, " … %llu more", (unsigned long long)(b->own - n));
	outlier_paragraph(v, line.s, out);
	text_release(&line);
}

static void evidence_row(const struct outlier_view *v, struct table *t,
			 const struct outlier_block *b)
{
	char cell[TEXT_NUMBER];

	outlier_time_cell(t, (double)(b->own_ns - b->own_idle_ns));
	outlier_time_cell(t, (double)b->durations.max);
	table_right(t, text_count(cell, b->durations.count), 6);
	outlier_time_cell(t, b->mean_y);
	outlier_time_cell(t, b->stddev_ns);
	snprintf(cell, sizeof(cell), "%.2g%%", 100 * outlier_own_share(b));
	table_right(t, cell, 8);
	text_add(t->out, "  ");
	t->used += 2;
	text_whole(t, b->name);
	if (b->own)
		indices(v, b, t->out);
	outlier_hints_text(v, b, hints_of(b), t->out);
}

static void cause_cell(struct table *t, const struct outlier_block *b)
{
	struct text cell = { 0 };

	add_cause(b, CAUSE_COLUMNS, &cell);
	table_left(t, cell.s, CAUSE_COLUMNS);
	text_release(&cell);
}

static void short_row(struct table *t, const struct outlier_block *b)
{
	const struct outlier *x = longest(b);
	char cell[TEXT_NUMBER];

	outlier_time_cell(t, (double)(b->own_ns - b->own_idle_ns));
	table_right(t, text_count(cell, b->own), 8);
	table_right(t, text_count(cell, b->durations.count), 6);
	table_right(t, text_time(cell, hist_quantile(&b->durations, 0.5)), 6);
	table_right(t, x ? text_time(cell, busy_ns(x)) : "", 6);
	cause_cell(t, b);
	text_whole(t, b->name);
}

/* Whether the block has outliers of its own or only a single call. */
static bool worth(const struct outlier_block *b)
{
	return b->own || b->begun + b->brief == 1;
}

#define CALLERS_NAMED 3

/* Names the functions whose outliers all count in the functions that they call. */
static void passed_on(const struct outlier_view *v, struct text *out)
{
	struct text line = { 0 };
	size_t n = 0;

	vec_for_each (&v->outliers->blocks, const struct outlier_block, b) {
		if (b->own || !b->divergent)
			continue;
		if (n++ < CALLERS_NAMED)
			text_printf(&line, "%s%s (%llu)", n > 1 ? ", " : "", b->name,
				    (unsigned long long)b->divergent);
	}
	if (n > CALLERS_NAMED)
		text_printf(&line, ", %zu more", n - CALLERS_NAMED);
	if (n) {
		text_add(&line, ": their outliers are those of calls in them (--of NAME).");
		text_wrap(line.s, v->width, out);
	}
	text_release(&line);
}

/* Adds the command that shows the outliers of the first block one by one. */
static void next(const struct outlier_view *v, const struct outlier_block *b, struct text *out)
{
	struct text line = { 0 };
	char file[1024];

	text_add(&line, "ispot outliers --of ");
	text_shell_word(&line, b->name);
	if (v->file && strcmp(v->file, "ispot.data") != 0) {
		text_add(&line, " -i ");
		text_shell_word(&line, text_printable(file, sizeof(file), v->file));
	}
	text_next_command(v->width, line.s, "its worst, and what they called", out);
	text_release(&line);
}

static void add_rest(size_t blocks, double ns, struct text *out)
{
	char time[TEXT_NUMBER];

	if (blocks)
		text_printf(out, "%8s %zu more (--top, -v)\n", text_time(time, (uint64_t)ns),
			    blocks);
}

static void evidence_rows(const struct outlier_view *v, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	size_t top = v->top ? v->top : BLOCKS_DEFAULT, n = 0, rest = 0;

	text_add(out, "    TIME     MAX  CALLS     MEAN   STDDEV    SHARE  FUNCTION\n");
	vec_for_each (&v->outliers->blocks, const struct outlier_block, b) {
		if (!worth(b))
			continue;
		if (n++ < top)
			evidence_row(v, &t, b);
		else
			rest++;
	}
	if (rest)
		text_printf(out, "%zu more with less time in outliers (--top)\n", rest);
}

/* Adds as many rows as fit on the screen with the other lines, or as many as the user asked for. */
static void short_rows(const struct outlier_view *v, size_t others, struct text *out)
{
	size_t most = v->top ? v->top : BLOCKS_DEFAULT, n = 0, rest = 0, lines = 0;
	double rest_ns = 0;

	text_add(out, "    TIME OUTLIERS  CALLS    P50    MAX CAUSE                FUNCTION\n");
	vec_for_each (&v->outliers->blocks, const struct outlier_block, b) {
		struct text row = { 0 };
		struct table t = { .out = &row, .width = v->width, .colours = v->colours };

		if (!b->own)
			continue;
		short_row(&t, b);
		lines += text_lines(&row);
		if (!rest && n < most &&
		    (v->top || n < ROWS_LEAST || others + ROW_LINES + lines <= SCREEN_LINES)) {
			text_add(out, row.s);
			n++;
		} else {
			rest++;
			rest_ns += (double)(b->own_ns - b->own_idle_ns);
		}
		text_release(&row);
	}
	add_rest(rest, rest_ns, out);
}

/* Explains the columns and names the next command. */
static void ending(const struct outlier_view *v, struct text *out)
{
	struct text note = { 0 };

	text_printf(&note,
		    "%s. An outlier takes longer than the "
		    "trend of its function by more than %s. If a call in it explains that, it "
		    "counts there alone.%s",
		    v->evidence
			    ? "TIME: of all outliers, without idle time. MAX: the longest "
			      "call, with idle time"
			    : "TIME, MAX: of all outliers and of the longest, without idle time",
		    v->outliers->rule == OUTLIER_PAPER ? "one standard deviation"
						       : "five robust standard deviations",
		    v->evidence ? " SHARE: of all calls. Behaviors: see "
				  "ispot-outliers(1)."
				: "");
	text_wrap(note.s, v->width, out);
	next(v, &v->outliers->blocks.data[0], out);
	text_release(&note);
}

void outlier_list(const struct outlier_view *v, const struct text *notices, struct text *out)
{
	struct text below = { 0 };

	headline(v, &v->outliers->blocks.data[0], out);
	text_add(&below, notices->n ? notices->s : "");
	if (v->evidence)
		passed_on(v, &below);
	ending(v, &below);
	if (v->evidence)
		evidence_rows(v, out);
	else
		short_rows(v, text_lines(out) + text_lines(&below), out);
	text_add(out, below.s);
	text_release(&below);
}
