/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/imbalance/figures.h"

#include <math.h>
#include <stdio.h>

#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/imbalance.h"
#include "base/text.h"
#include "report/html/figure.h"
#include "report/html/html.h"
#include "report/html/page.h"
#include "report/imbalance/imbalance.h"
#include "report/imbalance/internal.h"

#define NUMBERS 16 /* most bars that all have a number below them */

#define BAR	   5 /* width of a bar in a row of counts */
#define ROW_HEIGHT 22

static const struct html_plot plot = {
	.width = 420, .height = 190, .left = 44, .right = 412, .top = 8, .bottom = 166
};

static void begin(struct text *out, const char *label)
{
	char share[TEXT_NUMBER];

	html_figure(out, &plot, label, "");
	for (int i = 0; i <= 2; i++) {
		double y = html_plot_y(&plot, i / 2.0);

		html_line(out, "axis", plot.left, y, plot.right, y);
		snprintf(share, sizeof(share), "%d%%", 50 * i);
		html_label(out, plot.left - 5, y + 4, "end", share);
	}
}

/* Returns the x at which bar i of n begins; i + 0.5 gives its middle. */
static double x_of(double i, size_t n)
{
	return html_plot_x(&plot, i / (double)n);
}

/* Draws a bar of work, and of waiting on top of it; both are shares of the chart's full height. */
static void stacked(struct text *out, size_t i, size_t n, double work, double idle)
{
	double x = x_of((double)i + 0.1, n), width = (plot.right - plot.left) / (double)n * 0.8;
	double done = html_plot_y(&plot, work), all = html_plot_y(&plot, work + idle);

	html_rect(out, "done", x, done, width, plot.bottom - done, NULL);
	if (idle > 0)
		html_rect(out, "idle", x, all, width, done - all, NULL);
}

static void numbers(struct text *out, size_t n)
{
	char number[TEXT_NUMBER];

	for (size_t i = 0; i < n; i++) {
		snprintf(number, sizeof(number), "%zu", i + 1);
		if (n <= NUMBERS || !i || i + 1 == n)
			html_label(out, x_of((double)i + 0.5, n), plot.height - 8, "middle",
				   number);
	}
}

static void counts_line(struct text *out, const double *counts, size_t n, size_t number)
{
	double most = 0;
	char class[TEXT_NUMBER];

	for (size_t i = 0; i < n; i++)
		most = fmax(most, counts[i]);
	snprintf(class, sizeof(class), "count%zu", number);
	html_curve(out, class);
	for (size_t i = 0; i < n && most > 0; i++)
		html_point(out, x_of((double)i + 0.5, n), html_plot_y(&plot, counts[i] / most));
	html_curve_end(out, NULL);
}

static void legend(const struct imbalance_view *v, const struct counted_section *of,
		   struct text *out)
{
	struct text place = { 0 };

	text_add(out, "<span class=\"key done\"></span>until it waits<span class=\"key "
		      "idle\"></span>waiting");
	for (size_t i = 0; of && i < of->causes.n && i < FIGURE_CAUSES; i++) {
		const struct counted_cause *c = &of->causes.data[i];

		imbalance_place(v, c->place, &place);
		text_printf(out,
			    "<svg class=\"dash\" width=\"26\" height=\"10\" aria-hidden=\"true\">"
			    "<line class=\"count%zu\" x1=\"0\" y1=\"5\" x2=\"26\" y2=\"5\"/></svg>",
			    i);
		html_short(out, place.s ? place.s : "");
		text_printf(out, " %s", imbalance_happened(c));
		text_release(&place);
	}
}

static size_t drawn(size_t n)
{
	return n < HTML_THREADS_MAX ? n : HTML_THREADS_MAX;
}

void figure_threads(const struct imbalance_view *v, const struct parallel_section *s,
		    struct text *out)
{
	const struct counted_section *of =
		v->counted ? &v->counted->sections.data[s->number] : NULL;
	size_t n = drawn(s->threads.n);
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, s->threads.data[i].time + s->threads.data[i].idle);
	begin(out, "The time of each thread until it waits, and its waiting, of all iterations");
	for (size_t i = 0; i < n && most > 0; i++)
		stacked(out, i, n, s->threads.data[i].time / most, s->threads.data[i].idle / most);
	for (size_t i = 0; of && i < of->causes.n && i < FIGURE_CAUSES; i++)
		counts_line(out, of->causes.data[i].counts, n, i);
	numbers(out, n);
	html_caption(out, "Time of each thread in all instances, of the longest.");
	text_printf(out, "%s%s ", n < s->threads.n ? " The first threads only." : "",
		    of && of->causes.n ? " Lines: how often what is to blame happened, of its most."
				       : "");
	legend(v, of, out);
	html_figure_end(out);
}

void figure_largest(const struct imbalance_view *v, const struct parallel_section *s,
		    struct text *out)
{
	size_t n = drawn(s->largest_parts.n);
	double longest = 0;
	char number[TEXT_NUMBER];

	if (s->instances < 2)
		return;
	vec_for_each (&s->largest_parts, const struct section_part, p)
		longest = fmax(longest, p->time);
	begin(out, "The time of each thread in the iteration that lost most");
	for (size_t i = 0; i < n && longest > 0; i++) {
		double part = s->largest_parts.data[i].time / longest;

		stacked(out, i, n, part, 1 - part);
	}
	numbers(out, n);
	html_caption(out, "The instance that lost most, number ");
	text_printf(out,
		    "%llu, by thread: <span class=\"num\" data-key=\"largest_lost\" "
		    "data-value=\"%.0f\">%s</span>.",
		    (unsigned long long)s->largest, s->largest_lost,
		    (v->exact_time ? text_time : text_count)(number, (uint64_t)s->largest_lost));
	legend(v, NULL, out);
	html_figure_end(out);
}

void figure_instances(const struct parallel_section *s, struct text *out)
{
	size_t n = section_steps(s);
	double most = 0;

	if (s->instances < 2)
		return;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, s->steps[i].worked + s->steps[i].idle);
	begin(out, "Work and waiting in the iterations, one after the other");
	for (size_t i = 0; i < n && most > 0; i++)
		stacked(out, i, n, s->steps[i].worked / most, s->steps[i].idle / most);
	if (s->step_instances == 1)
		numbers(out, n);
	html_caption(out, "The iterations one after the other, thread time");
	if (s->step_instances > 1)
		text_printf(out, ", %llu to a bar", (unsigned long long)s->step_instances);
	text_add(out, ". <span class=\"key done\"></span>until they wait<span class=\"key "
		      "idle\"></span>waiting");
	html_figure_end(out);
}

void figure_counts(const double *counts, size_t n, struct text *out)
{
	size_t n_drawn = drawn(n);
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, counts[i]);
	text_printf(out,
		    "<svg class=\"row\" width=\"%zu\" height=\"%d\" viewBox=\"0 0 %zu %d\" "
		    "role=\"img\" aria-label=\"by thread:",
		    n_drawn * (BAR + 1), ROW_HEIGHT, n_drawn * (BAR + 1), ROW_HEIGHT);
	for (size_t i = 0; i < n_drawn; i++)
		text_printf(out, " %.0f", counts[i]);
	text_add(out, "\">");
	for (size_t i = 0; i < n_drawn; i++) {
		double tall = most > 0 ? counts[i] / most * ROW_HEIGHT : 0;

		text_printf(out,
			    "<rect class=\"done\" x=\"%zu\" y=\"%.1f\" width=\"%d\" "
			    "height=\"%.1f\"/>",
			    i * (BAR + 1), ROW_HEIGHT - tall, BAR, tall);
	}
	text_add(out, "</svg>");
}
