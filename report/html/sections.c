/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/kind.h"
#include "analysis/evidence/coactivity.h"
#include "analysis/result/result.h"
#include "analysis/result/timeline.h"
#include "analysis/score/block.h"
#include "analysis/threads/wait.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/block/coactive.h"
#include "report/block/column.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/html/chart.h"
#include "report/html/figure.h"
#include "report/html/flame.h"
#include "report/html/html.h"
#include "report/html/page.h"
#include "trace/meta/meta.h"

#define TIME_ROWS    8
#define TIME_WIDTH   1000
#define TIME_HEIGHT  44
#define HEAT_COLUMNS 8
#define TICKS	     9
#define GAP_LEAST    2.0 /* least width of a gap, in units of TIME_WIDTH */

/* ---- time ---- */

/* Returns the lost threads in a slice: the excess over the fastest call, divided by the slice's
 * width. */
static double slice_lost(const struct timeline *tl, const struct block *b, unsigned i)
{
	const struct slice *s = &tl->slices.rows.data[b->id]->at[i];
	double excess = s->sum[SLICE_NS] - (double)s->calls * (double)b->min_ns;

	return excess > 0 ? excess / (double)tl->slices.width_ns : 0;
}

static bool has_slices(const struct timeline *tl, const struct block *b)
{
	return b->kind == BLOCK_FUNCTION && !b->grouped && b->min_ns != BLOCK_NONE &&
	       b->id < tl->slices.rows.n && tl->slices.rows.data[b->id];
}

static double x_of(const struct view *v, uint64_t ns)
{
	double part = ((double)ns - (double)v->result->start_ns) / (double)v->result->duration_ns;

	return (part < 0 ? 0 : part > 1 ? 1 : part) * TIME_WIDTH;
}

/* Draws a gap, unless it is within GAP_LEAST of the previous one, which bounds the number of
 * rectangles. *drawn: end of the previous gap. */
static void gap(const struct view *v, const char *class, const struct timeline_loss *l,
		double *drawn, struct text *out)
{
	double from = x_of(v, l->from_ns), to = x_of(v, l->to_ns);

	from = from > *drawn ? from : *drawn;
	if (to < from + GAP_LEAST)
		to = from + GAP_LEAST;
	if (x_of(v, l->to_ns) < *drawn)
		return;
	*drawn = to;
	html_rect(out, class, from, 0, to - from, TIME_HEIGHT, NULL);
}

/* Shows the gaps, which are the same in each row: drawn in the first row, and referred to in the
 * others. */
static void gaps(const struct view *v, const struct timeline *tl, bool first, struct text *out)
{
	double drawn = 0;

	if (!tl->losses.n && !tl->pauses.n)
		return;
	if (!first) {
		text_add(out, "<use href=\"#gaps\"/>");
		return;
	}
	text_add(out, "<g id=\"gaps\">");
	vec_for_each (&tl->pauses, const struct timeline_loss, p)
		gap(v, "pause", p, &drawn, out);
	if (tl->pauses.n && tl->paused_ns)
		gap(v, "pause", &(struct timeline_loss){ tl->paused_ns, v->result->end_ns, 0 },
		    &drawn, out);
	drawn = 0;
	vec_for_each (&tl->losses, const struct timeline_loss, l)
		gap(v, "gap", l, &drawn, out);
	text_add(out, "</g>");
}

static double most_lost(const struct timeline *tl, const struct block *b)
{
	double most = 0;

	for (unsigned i = 0; i < tl->slices.n; i++)
		most = slice_lost(tl, b, i) > most ? slice_lost(tl, b, i) : most;
	return most;
}

static void time_row(const struct view *v, const struct timeline *tl, const struct block *b,
		     bool first, struct text *out)
{
	double most = most_lost(tl, b);

	text_add(out, "<tr><th scope=\"row\" class=\"name\">");
	html_name(out, b);
	text_printf(out,
		    "</th><td class=\"num\">%.2f</td><td><svg width=\"%d\" height=\"%d\" "
		    "viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
		    "aria-label=\"Excess over time, at most %.2f threads\">",
		    most, TIME_WIDTH * 7 / 10, TIME_HEIGHT, TIME_WIDTH, TIME_HEIGHT, most);
	for (unsigned i = 0; i < tl->slices.n; i++) {
		uint64_t from = tl->slices.start_ns + i * tl->slices.width_ns;
		double tall = most > 0 ? slice_lost(tl, b, i) / most * TIME_HEIGHT : 0;

		if (tall >= 0.3)
			html_rect(out, "area", x_of(v, from), TIME_HEIGHT - tall,
				  x_of(v, from + tl->slices.width_ns) - x_of(v, from), tall, NULL);
	}
	gaps(v, tl, first, out);
	text_add(out, "</svg></td></tr>\n");
}

/* Returns 1, 2 or 5 times a power of ten, so that there are at most TICKS ticks. */
static uint64_t tick_ns(uint64_t duration_ns)
{
	uint64_t step = 1;

	for (unsigned i = 0; duration_ns / step > TICKS; i++)
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
	return step;
}

/* Times count from the start of the recording, even with a window. */
static void axis(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	uint64_t step = tick_ns(res->duration_ns), from = res->window_from_ns;
	uint64_t first = (from + step - 1) / step * step - from;
	unsigned width = TIME_WIDTH * 7 / 10;
	char time[TEXT_NUMBER];

	text_printf(out,
		    "<tr><th scope=\"row\" class=\"name\">time</th><td></td><td><svg "
		    "width=\"%u\" height=\"18\" viewBox=\"0 0 %u 18\" "
		    "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Time since the start "
		    "of the recording\">",
		    width, width);
	for (unsigned i = 0; i <= TICKS && first + i * step <= res->duration_ns; i++) {
		double x = (double)(first + i * step) / (double)res->duration_ns * width;

		html_line(out, "axis", x, 0, x, 5);
		html_label(out, x, 16,
			   x < 20	      ? "start"
			   : x > width - 40.0 ? "end"
					      : "middle",
			   from + first + i ? text_time(time, from + first + i * step) : "0");
	}
	text_add(out, "</svg></td></tr>\n");
}

static void time_head(struct text *out)
{
	html_section(out, "time", "Over time");
	html_table(out, "time", "");
	text_add(out, "<thead><tr><th scope=\"col\" class=\"name\">function</th><th "
		      "scope=\"col\">at most</th><th scope=\"col\" class=\"name\">excess, callees "
		      "included, from start to end</th></tr></thead>\n<tbody>\n");
}

void html_timeline(const struct view *v, const struct timeline *tl, struct text *out)
{
	unsigned n = 0;

	for (size_t i = 0; v->result->duration_ns && i < v->n_rows && n < TIME_ROWS; i++) {
		if (!has_slices(tl, v->rows[i]) || v->rows[i]->verdict == VERDICT_NOISE ||
		    (n && most_lost(tl, v->rows[i]) < 0.005))
			continue;
		if (!n++)
			time_head(out);
		time_row(v, tl, v->rows[i], n == 1, out);
	}
	if (!n)
		return;
	axis(v, out);
	html_table_end(out);
	text_add(out, "<p class=\"quiet\">In threads, by slices of ");
	html_time(out, tl->slices.width_ns);
	text_printf(out, ", counted when calls end.%s%s</p>\n</section>\n",
		    tl->losses.n ? " Grey: events were dropped there." : "",
		    tl->pauses.n ? " Pale: nothing was traced there." : "");
}

/* ---- threads ---- */

struct heat {
	const struct block *column[HEAT_COLUMNS];
	unsigned n;
	double *excess; /* [thread index * HEAT_COLUMNS + column], ns */
};

static void fill_heat(const struct view *v, struct heat *h)
{
	const struct result *res = v->result;

	for (size_t i = 0; i < v->n_rows && h->n < HEAT_COLUMNS; i++)
		if (v->rows[i]->kind == BLOCK_FUNCTION && !v->rows[i]->grouped &&
		    report_worth(v->rows[i]))
			h->column[h->n++] = v->rows[i];
	h->excess = xcalloc(res->calls.threads.all.n * HEAT_COLUMNS + 1, sizeof(*h->excess));
	for (uint32_t slot = 1; slot < res->sci.cells.n; slot++) {
		const struct sci_cell *cell = &res->sci.cells.data[slot];
		const struct slot *s = &res->calls.threads.slots.data[slot];

		for (unsigned c = 0; c < h->n; c++)
			if (h->column[c]->id == s->id && h->column[c]->self_min_ns != BLOCK_NONE)
				h->excess[s->thread * HEAT_COLUMNS + c] =
					(double)cell->own_ns -
					(double)cell->own_timed * (double)h->column[c]->self_min_ns;
	}
}

static void heat_cell(double share, struct text *out)
{
	double strength = share > 0.5 ? 0.6 : 1.2 * share;

	if (share >= 0.005)
		text_printf(out,
			    "<td class=\"heat\" style=\"background:color-mix(in srgb,var(--heat) "
			    "%.0f%%,transparent)\">%.2f</td>",
			    100 * strength, share);
	else
		text_add(out, "<td>–</td>");
}

static void heat_rows(const struct view *v, const struct heat *h, struct text *out)
{
	const struct result *res = v->result;
	size_t n = 0;

	vec_for_each (&res->threads, const struct result_thread, t) {
		const double *row = &h->excess[t->thread->index * HEAT_COLUMNS];

		if (!t->observed_ns || ++n > HTML_THREADS_MAX)
			continue;
		text_add(out, "<tr><th scope=\"row\" class=\"name\">");
		html_text(out, t->thread->comm[0] ? t->thread->comm : "?");
		text_printf(out, " <span class=\"quiet\">%u</span></th><td>", t->thread->tid);
		html_time(out, t->observed_ns);
		text_add(out, "</td>");
		for (unsigned c = 0; c < h->n; c++)
			heat_cell(row[c] / (double)t->observed_ns, out);
		text_add(out, "</tr>\n");
	}
	html_table_end(out);
	html_more(out, n, HTML_THREADS_MAX,
		  "threads are left out; <code>ispot report --by thread --csv</code> has all.");
}

void html_threads(const struct view *v, struct text *out)
{
	struct heat h = { 0 };

	fill_heat(v, &h);
	if (h.n) {
		html_section(out, "threads", "Threads and functions");
		html_table(out, "threads", "");
		text_add(out, "<thead><tr><th scope=\"col\" class=\"name\">thread</th><th "
			      "scope=\"col\">observed</th>");
		for (unsigned c = 0; c < h.n; c++) {
			text_add(out, "<th scope=\"col\" class=\"name head\">");
			html_name(out, h.column[c]);
			text_add(out, "</th>");
		}
		text_add(out, "</tr></thead>\n<tbody>\n");
		heat_rows(v, &h, out);
		text_add(out, "<p class=\"quiet\">Own excess time of the function as a share of "
			      "the thread's time.</p>\n</section>\n");
	}
	free(h.excess);
}

/* ---- blocks in detail ---- */

static void causes(const struct block *b, struct text *out)
{
	static const char *const names[] = { "share", "confidence", "cause", "evidence", NULL };

	if (!b->causes.n)
		return;
	text_add(out, "<h3>Why</h3>\n<table>");
	html_heads(out, names, 2);
	vec_for_each (&b->causes, const struct cause, c) {
		text_printf(out,
			    "<tr data-cause=\"%s\" data-share=\"%.9g\" data-confidence=\"%.9g\">"
			    "<td>%.0f%%</td><td>%.2f</td><th scope=\"row\" "
			    "class=\"name\">%s</th><td class=\"name\">",
			    c->kind, c->share, c->confidence, 100 * c->share, c->confidence,
			    cause_name(b, c->kind));
		vec_for_each (&c->evidence, char *, e) {
			text_add(out, e == c->evidence.data ? "" : "; ");
			html_text(out, *e);
		}
		text_add(out, "</td></tr>\n");
	}
	text_add(out, "</tbody></table>\n");
}

static void facts(const struct block *b, struct text *out)
{
	static const char *const keys[] = {
		"object",    "file_line",	 "calls",    "timed_calls", "threads", "sci_low",
		"sci_high",  "sci_worst_thread", "self_sci", "floor",	    "class",   "exit",
		"excess_ns", "total_ns"
	};

	const char *between = "";

	text_add(out, "<p class=\"quiet\">");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct column *c = column_find(keys[i]);
		char scratch[VALUE_SCRATCH];

		if (c->get(b, scratch).type == VALUE_NONE)
			continue;
		text_printf(out, "%s%s <span class=\"num\"", between, c->head);
		between = " · ";
		html_value(out, c, b);
		text_add(out, "</span>");
	}
	text_add(out, "</p>\n");
}

static void coactive(const struct view *v, const struct block *b, struct text *out)
{
	struct text lines = { 0 };

	text_coactive(v, b, &lines);
	if (lines.n) {
		text_add(out, "<pre>");
		html_lines(out, lines.s);
		text_add(out, "</pre>\n");
	}
	text_release(&lines);
}

static void detail(const void *view, size_t i, struct text *out)
{
	const struct view *v = view;
	const struct block *b = v->rows[i];

	text_printf(out, "<details id=\"block%zu\"%s><summary>", i, i ? "" : " open");
	html_name(out, b);
	text_printf(out, " <span class=\"quiet\">%s</span></summary>\n", verdict_words(b->verdict));
	facts(b, out);
	if (b->sums && b->sums->durations.count) {
		text_add(out, "<div class=\"figures\">\n");
		html_ordered(b, out);
		html_histogram(b, out);
		text_add(out, "</div>\n");
	}
	causes(b, out);
	html_flame(v, b, out);
	coactive(v, b, out);
	text_add(out, "</details>\n");
}

size_t html_details(const struct view *v, struct text *out)
{
	const struct html_parts parts = {
		.n = v->n_rows,
		.most = HTML_DETAILS_MAX,
		.one = detail,
		.left_out = "functions are not shown in detail.",
	};

	return html_each(out, "Each function", &parts, v);
}

/* ---- who waits for whom: time asleep in blocks, by the thread and function of the wakeup ---- */

#define ROWS_MAX 20

struct wait_row {
	const struct block *block;
	const char *kind;
	struct wait_waker waker;
};

struct wait_rows {
	VEC(struct wait_row)
};

static void collect(const struct view *v, struct wait_rows *rows)
{
	const struct threads *th = &v->result->calls.threads;

	for (size_t i = 0; i < v->n_rows; i++) {
		const struct block *b = v->rows[i];

		/* the waits of a function include those of its groups */
		if (!b->waits || !report_worth(b) ||
		    (b->grouped && v->blocks == &v->result->blocks))
			continue;
		vec_for_each (b->waits, const struct wait_cell, cell)
			for (unsigned w = 0; w < WAIT_WAKERS_MAX; w++)
				if (cell->wakers[w].sleeps)
					*vec_add(rows) =
						(struct wait_row){ b, wait_cause_of(th, cell).kind,
								   cell->wakers[w] };
	}
}

static int longest_first(const void *a, const void *b)
{
	const struct wait_row *x = a, *y = b;

	if (x->waker.ns != y->waker.ns)
		return x->waker.ns > y->waker.ns ? -1 : 1;
	return (x->block->id > y->block->id) - (x->block->id < y->block->id);
}

static void print_waker(const struct result *res, const struct wait_waker *w, struct text *out)
{
	const struct thread *t = w->thread < res->calls.threads.all.n
					 ? res->calls.threads.all.data[w->thread]
					 : NULL;
	const struct meta_function *f =
		w->function == SLEEP_NOBODY ? NULL : meta_function(res->meta, w->function);

	if (!t) {
		text_add(out, "outside of the program");
		return;
	}
	html_text(out, t->comm[0] ? t->comm : "?");
	text_printf(out, " <span class=\"quiet\">%u</span>", t->tid);
	if (f) {
		text_add(out, " in ");
		html_text(out, f->name && *f->name ? f->name : f->symbol);
	}
}

static void print_row(const struct result *res, const struct wait_row *row, struct text *out)
{
	char number[TEXT_NUMBER];

	text_add(out, "<tr><td>");
	html_time(out, row->waker.ns);
	text_printf(out,
		    "</td><td>%s</td><td class=\"name\">%s</td><th scope=\"row\" class=\"name\">",
		    text_count(number, row->waker.sleeps), cause_name(row->block, row->kind));
	html_name(out, row->block);
	text_add(out, "</th><td class=\"name\">");
	print_waker(res, &row->waker, out);
	text_add(out, "</td></tr>\n");
}

void html_waits(const struct view *v, struct text *out)
{
	static const char *const names[] = { "blocked",	 "waits",    "cause",
					     "function", "woken by", NULL };
	struct wait_rows rows = { 0 };

	collect(v, &rows);
	vec_sort(&rows, longest_first);
	if (rows.n) {
		html_section(out, "waits", "Who waits for whom");
		html_table(out, "waits", "");
		html_heads(out, names, 2);
		for (size_t i = 0; i < rows.n && i < ROWS_MAX; i++)
			print_row(v->result, &rows.data[i], out);
		html_table_end(out);
		if (rows.n > ROWS_MAX)
			text_printf(out, "<p class=\"quiet\">%zu shorter ones are left out.</p>\n",
				    rows.n - ROWS_MAX);
		html_section_end(out);
	}
	vec_release(&rows);
}
