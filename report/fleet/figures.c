/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/fleet/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/fleet/crowd.h"
#include "analysis/fleet/fleet.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/text.h"
#include "report/fleet/fleet.h"
#include "report/html/figure.h"
#include "report/html/html.h"
#include "report/html/page.h"

/* bars of a chart; larger numbers of CPUs or applications share the last bar */
#define BARS_MAX   128
#define COMMON_MAX 8 /* co-runners in a figure, as in the paper */
#define BINS	   60

static const struct html_plot plot = {
	.width = 420, .height = 200, .left = 46, .right = 412, .top = 10, .bottom = 170
};

/* ---- how full machines are ---- */

/* Sets the share of the time at each number of CPUs or applications. Returns the largest share. */
static double shares_of(const struct fleet_view *v, uint32_t kind,
			const struct fleet_crowd_summary *sum, double *shares)
{
	double most = 0;

	vec_for_each (&v->fleet->rows->crowds, const struct fleet_crowd, c)
		if (c->kind == kind && sum->ns)
			shares[c->number < BARS_MAX ? c->number : BARS_MAX] +=
				(double)c->ns / (double)sum->ns;
	for (unsigned i = 0; i <= BARS_MAX; i++)
		most = fmax(most, shares[i]);
	return most;
}

static void crowd(const struct fleet_view *v, uint32_t kind, const char *what, const char *caption,
		  struct text *out)
{
	struct fleet_crowd_summary sum = fleet_crowd_sum(v->fleet->rows, kind);
	double shares[BARS_MAX + 1] = { 0 }, most = shares_of(v, kind, &sum, shares);
	unsigned n = sum.most < BARS_MAX ? sum.most : BARS_MAX, step = n < 12 ? 1 : (n + 11) / 12;
	double width = (plot.right - plot.left) / (n + 1);
	char s[32];

	if (!sum.ns)
		return;
	html_figure(out, &plot, what, "");
	html_axis(out, &plot);
	for (unsigned i = 0; i <= n; i++) {
		double tall = shares[i] / most * (plot.bottom - plot.top);

		snprintf(s, sizeof(s), "%u: %.1f%%", i, 100 * shares[i]);
		html_rect(out, i == sum.median ? "f" : "m", plot.left + i * width,
			  plot.bottom - tall, fmax(width - 1, 0.5), tall, s);
		if (i % step == 0)
			html_label(out, plot.left + (i + 0.5) * width, plot.height - 14, "middle",
				   text_count(s, i));
	}
	snprintf(s, sizeof(s), "%.0f%%", 100 * most);
	html_label(out, plot.left - 4, plot.top + 8, "end", s);
	html_caption(out, caption);
	text_printf(out, " Half of the time %u or more (green), %.1f on average, at most %u.",
		    sum.median, sum.mean, sum.most);
	html_figure_end(out);
}

void fleet_html_crowds(const struct fleet_view *v, struct text *out)
{
	text_add(out, "<div class=\"figures\">\n");
	crowd(v, FLEET_BUSY_CPUS, "Share of the time by how many CPUs are busy",
	      "Share of the time in which so many CPUs of a machine are busy (figure 1).", out);
	crowd(v, FLEET_APPS, "Share of the time by how many applications run at once",
	      "Share of the time in which so many applications run at once (figure 2).", out);
	text_add(out, "</div>\n");
}

/* ---- one application ---- */

struct common {
	const struct fleet_cell *cells[COMMON_MAX];
	unsigned n;
};

/* Returns the co-runners of a class with the most samples, among those with enough samples. */
static struct common common_of(const struct fleet_view *v, const struct fleet_base *base,
			       enum corunner_class class)
{
	const struct fleet_cell *cell = v->fleet->cells.data + base->first;
	struct common found = { .n = 0 };

	for (uint32_t i = 0; i < base->n; i++, cell++) {
		unsigned at;

		if (cell->class != class || cell->effect == FLEET_TOO_FEW)
			continue;
		for (at = found.n; at && found.cells[at - 1]->tally->n < cell->tally->n; at--)
			if (at < COMMON_MAX)
				found.cells[at] = found.cells[at - 1];
		if (at < COMMON_MAX)
			found.cells[at] = cell;
		found.n += found.n < COMMON_MAX;
	}
	return found;
}

/*
 * Sets the share of a tally's samples in each bin. A bucket counts in a bin by the part of it that
 * lies in the bin. Returns the largest share.
 */
static double density(const struct tally *t, const struct html_scale *s, double *bins)
{
	double most = 0;

	memset(bins, 0, BINS * sizeof(*bins));
	for (uint32_t i = 0; i < t->room; i++) {
		double low = tally_bucket_low(t->first + i),
		       high = low + (double)tally_bucket_width(t->first + i),
		       from = html_scale_part(s, low) * BINS, to = html_scale_part(s, high) * BINS,
		       share = (double)t->counts[i] / (double)t->n;

		for (int bin = (int)from; share > 0 && to > from && bin < to; bin++)
			bins[bin] += share * (fmin(to, bin + 1) - fmax(from, bin)) / (to - from);
	}
	for (unsigned i = 0; i < BINS; i++)
		most = fmax(most, bins[i]);
	return most;
}

static void curve(struct text *out, const char *class, const double *bins, double most,
		  const char *name)
{
	html_curve(out, class);
	for (unsigned i = 0; i < BINS; i++)
		html_point(out, plot.left + (i + 0.5) * (plot.right - plot.left) / BINS,
			   html_plot_y(&plot, bins[i] / most));
	html_curve_end(out, name);
}

static void value_axis(const struct fleet_view *v, const struct fleet_base *base,
		       const struct html_scale *s, struct text *out)
{
	char value[TEXT_NUMBER];
	double x = html_plot_x(&plot, html_scale_part(s, base->median)), y = plot.height - 14;

	html_axis(out, &plot);
	html_line(out, "least", x, plot.top, x, plot.bottom);
	html_label(out, x, y, "middle", fleet_view_value(v, base->median, value));
	if (x > plot.left + 50)
		html_label(out, plot.left, y, "start", fleet_view_value(v, exp(s->low), value));
	if (x < plot.right - 50)
		html_label(out, plot.right, y, "end", fleet_view_value(v, exp(s->high), value));
}

void fleet_html_curves(const struct fleet_view *v, const struct fleet_base *base,
		       enum corunner_class class, struct text *out)
{
	const struct strtab *apps = &v->fleet->rows->apps;
	struct common beside = common_of(v, base, class);
	struct html_scale s = { log(fmax(tally_quantile(base->tally, 0.002), 1)),
				log(fmax(tally_quantile(base->tally, 0.998), 1)) };
	double bins[COMMON_MAX + 1][BINS], most;

	s.high = s.high > s.low + 0.05 ? s.high : s.low + 0.05;
	most = density(base->tally, &s, bins[COMMON_MAX]);
	for (unsigned i = 0; i < beside.n; i++)
		most = fmax(most, density(beside.cells[i]->tally, &s, bins[i]));
	html_figure(out, &plot, "Distribution of the indicator of ", strtab_get(apps, base->app));
	value_axis(v, base, &s, out);
	for (unsigned i = 0; i < beside.n; i++)
		curve(out, "thin", bins[i], most, strtab_get(apps, beside.cells[i]->corunner));
	curve(out, "curve", bins[COMMON_MAX], most, "all samples");
	html_caption(out, "");
	html_text(out, v->meta->indicator);
	text_printf(out,
		    " of all its samples (thick), and alongside each of its %u most common "
		    "co-runners of class %s; the dashed line is its median (figure 5).",
		    beside.n, corunner_class_names[class]);
	html_figure_end(out);
}

/* The bars are horizontal, so that names fit beside them. */
#define BAR	   17
#define NAMES	   150
#define NAME_CHARS 24

static double bar_x(double performance, double most)
{
	return NAMES + performance / most * (plot.right - NAMES);
}

static void bar(const struct fleet_view *v, const struct fleet_cell *cell, double y, double most,
		struct text *out)
{
	char name[4 * NAME_CHARS + 1], change[32];

	html_label(out, NAMES - 5, y + 12, "end",
		   text_shortened(name, sizeof(name),
				  strtab_get(&v->fleet->rows->apps, cell->corunner), NAME_CHARS));
	snprintf(change, sizeof(change), "%+.1f%%", 100 * cell->change);
	html_rect(out,
		  cell->effect == FLEET_NEGATIVE   ? "s"
		  : cell->effect == FLEET_POSITIVE ? "f"
						   : "m",
		  NAMES, y + 2, bar_x(1 + cell->change, most) - NAMES, BAR - 4, change);
}

static void across(struct text *out, const char *class, double x, double bottom)
{
	html_line(out, class, x, plot.top, x, bottom);
}

void fleet_html_bars(const struct fleet_view *v, const struct fleet_base *base,
		     enum corunner_class class, struct text *out)
{
	struct common beside = common_of(v, base, class);
	double most = 1 + base->noise, bottom = plot.top + BAR * beside.n;
	struct html_plot lying = plot;

	if (!beside.n || !isfinite(most))
		return;
	for (unsigned i = 0; i < beside.n; i++)
		most = fmax(most, 1 + beside.cells[i]->change);
	lying.height = (int)bottom + 30;
	html_figure(out, &lying, "Performance alongside co-runners, of ",
		    strtab_get(&v->fleet->rows->apps, base->app));
	for (unsigned i = 0; i < beside.n; i++)
		bar(v, beside.cells[i], plot.top + BAR * i, most, out);
	across(out, "axis", NAMES, bottom);
	across(out, "axis", bar_x(1, most), bottom);
	across(out, "noise", bar_x(fmax(1 - base->noise, 0), most), bottom);
	across(out, "noise", bar_x(1 + base->noise, most), bottom);
	html_label(out, bar_x(1, most), bottom + 16, "middle", "its median");
	html_caption(out,
		     "Its median performance alongside each of them, and, dashed, the noise of "
		     "all its samples; red: slower beyond it, green: faster (figure 7).");
	html_figure_end(out);
}
