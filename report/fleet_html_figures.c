/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures 1, 2, 5 and 7 of the paper of corunner.h, as SVG. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/fleet.h"
#include "analysis/fleet_crowd.h"
#include "analysis/fleet_store.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/fleet.h"
#include "report/html.h"

#define WIDTH	   420
#define HEIGHT	   200
#define LEFT	   46
#define RIGHT	   8
#define TOP	   10
#define BOTTOM	   30
#define BARS_MAX   128 /* numbers of CPUs, or applications; above they are together */
#define COMMON_MAX 8   /* co-runners, as in the paper */
#define BINS	   60

static const double room = WIDTH - LEFT - RIGHT, tall = HEIGHT - TOP - BOTTOM;

static void begin(struct text *out, int height, const char *label, const char *of)
{
	text_printf(out,
		    "<figure><svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
		    "aria-label=\"%s",
		    WIDTH, height, WIDTH, height, label);
	html_short(out, of);
	text_add(out, "\">");
}

static void line(struct text *out, const char *class, double x1, double y1, double x2, double y2)
{
	text_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
		    class, x1, y1, x2, y2);
}

static void label(struct text *out, double x, double y, const char *anchor, const char *s)
{
	text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	html_short(out, s);
	text_add(out, "</text>");
}

static void number_label(struct text *out, double x, double y, const char *anchor, unsigned n)
{
	char s[TEXT_NUMBER];

	label(out, x, y, anchor, text_count(s, n));
}

/* ---- how full machines are ---- */

/* Shares of the time by number; returns the largest. */
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
	double width = room / (n + 1);
	char s[32];

	if (!sum.ns)
		return;
	begin(out, HEIGHT, what, "");
	line(out, "axis", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
	for (unsigned i = 0; i <= n; i++) {
		text_printf(out,
			    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			    "height=\"%.1f\"><title>%u: %.1f %%</title></rect>",
			    i == sum.median ? "f" : "m", LEFT + i * width,
			    HEIGHT - BOTTOM - shares[i] / most * tall, fmax(width - 1, 0.5),
			    shares[i] / most * tall, i, 100 * shares[i]);
		if (i % step == 0)
			number_label(out, LEFT + (i + 0.5) * width, HEIGHT - 14, "middle", i);
	}
	snprintf(s, sizeof(s), "%.0f %%", 100 * most);
	label(out, LEFT - 4, TOP + 8, "end", s);
	text_printf(out,
		    "</svg><figcaption>%s Half of the time %u or more (green), %.1f on average, "
		    "at most %u.</figcaption></figure>\n",
		    caption, sum.median, sum.mean, sum.most);
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

/* Of a class those with the most samples, if these are enough. */
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

struct scale {
	double low, high; /* logarithms of values */
};

/* Where a value is, in bins. */
static double place_of(const struct scale *s, double value)
{
	double at = (log(fmax(value, 1)) - s->low) / (s->high - s->low) * BINS;

	return at < 0 ? 0 : at > BINS ? BINS : at;
}

/* Shares of a tally's samples by bin: of each bucket as much as lies in the bin. */
static double density(const struct tally *t, const struct scale *s, double *bins)
{
	double most = 0;

	memset(bins, 0, BINS * sizeof(*bins));
	for (uint32_t i = 0; i < t->room; i++) {
		double low = tally_bucket_low(t->first + i), from = place_of(s, low),
		       to = place_of(s, low + (double)tally_bucket_width(t->first + i)),
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
	text_printf(out, "<polyline class=\"%s\" points=\"", class);
	for (unsigned i = 0; i < BINS; i++)
		text_printf(out, "%.1f,%.1f ", LEFT + (i + 0.5) * room / BINS,
			    HEIGHT - BOTTOM - bins[i] / most * tall);
	text_add(out, "\"><title>");
	html_short(out, name);
	text_add(out, "</title></polyline>");
}

static void value_axis(const struct fleet_view *v, const struct fleet_base *base,
		       const struct scale *s, struct text *out)
{
	char value[TEXT_NUMBER];
	double x = LEFT + (log(fmax(base->median, 1)) - s->low) / (s->high - s->low) * room;

	line(out, "axis", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
	line(out, "least", x, TOP, x, HEIGHT - BOTTOM);
	label(out, x, HEIGHT - 14, "middle", fleet_view_value(v, base->median, value));
	if (x > LEFT + 50)
		label(out, LEFT, HEIGHT - 14, "start", fleet_view_value(v, exp(s->low), value));
	if (x < WIDTH - RIGHT - 50)
		label(out, WIDTH - RIGHT, HEIGHT - 14, "end",
		      fleet_view_value(v, exp(s->high), value));
}

void fleet_html_curves(const struct fleet_view *v, const struct fleet_base *base,
		       enum corunner_class class, struct text *out)
{
	const struct strtab *apps = &v->fleet->rows->apps;
	struct common beside = common_of(v, base, class);
	struct scale s = { log(fmax(tally_quantile(base->tally, 0.002), 1)),
			   log(fmax(tally_quantile(base->tally, 0.998), 1)) };
	double bins[COMMON_MAX + 1][BINS], most;

	s.high = s.high > s.low + 0.05 ? s.high : s.low + 0.05;
	most = density(base->tally, &s, bins[COMMON_MAX]);
	for (unsigned i = 0; i < beside.n; i++)
		most = fmax(most, density(beside.cells[i]->tally, &s, bins[i]));
	begin(out, HEIGHT, "Distribution of the indicator of ", strtab_get(apps, base->app));
	value_axis(v, base, &s, out);
	for (unsigned i = 0; i < beside.n; i++)
		curve(out, "thin", bins[i], most, strtab_get(apps, beside.cells[i]->corunner));
	curve(out, "curve", bins[COMMON_MAX], most, "all samples");
	text_add(out, "</svg><figcaption>");
	html_text(out, v->meta->indicator);
	text_printf(out,
		    " of all its samples (thick), and beside each of its %u most common "
		    "co-runners of class %s; the dashed line is its median (figure 5)."
		    "</figcaption></figure>\n",
		    beside.n, corunner_class_names[class]);
}

/* Bars lie, so that names fit beside them. */
#define BAR	   17
#define NAMES	   150
#define NAME_CHARS 24

static double bar_x(double performance, double most)
{
	return NAMES + performance / most * (WIDTH - NAMES - RIGHT);
}

static void bar(const struct fleet_view *v, const struct fleet_cell *cell, double y, double most,
		struct text *out)
{
	char name[4 * NAME_CHARS + 1];

	label(out, NAMES - 5, y + 12, "end",
	      text_shortened(name, sizeof(name), strtab_get(&v->fleet->rows->apps, cell->corunner),
			     NAME_CHARS));
	text_printf(out,
		    "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"><title>"
		    "%+.1f %%</title></rect>",
		    cell->effect == FLEET_NEGATIVE   ? "s"
		    : cell->effect == FLEET_POSITIVE ? "f"
						     : "m",
		    NAMES, y + 2, bar_x(1 + cell->change, most) - NAMES, BAR - 4,
		    100 * cell->change);
}

void fleet_html_bars(const struct fleet_view *v, const struct fleet_base *base,
		     enum corunner_class class, struct text *out)
{
	struct common beside = common_of(v, base, class);
	double most = 1 + base->noise, bottom = TOP + BAR * beside.n;

	if (!beside.n || !isfinite(most))
		return;
	for (unsigned i = 0; i < beside.n; i++)
		most = fmax(most, 1 + beside.cells[i]->change);
	begin(out, (int)bottom + BOTTOM, "Performance beside co-runners, of ",
	      strtab_get(&v->fleet->rows->apps, base->app));
	for (unsigned i = 0; i < beside.n; i++)
		bar(v, beside.cells[i], TOP + BAR * i, most, out);
	line(out, "axis", NAMES, TOP, NAMES, bottom);
	line(out, "axis", bar_x(1, most), TOP, bar_x(1, most), bottom);
	line(out, "noise", bar_x(fmax(1 - base->noise, 0), most), TOP,
	     bar_x(fmax(1 - base->noise, 0), most), bottom);
	line(out, "noise", bar_x(1 + base->noise, most), TOP, bar_x(1 + base->noise, most), bottom);
	label(out, bar_x(1, most), bottom + 16, "middle", "its median");
	text_add(out, "</svg><figcaption>Its median performance beside each of them, and, dashed, "
		      "the noise of all its samples; red: slower beyond it, green: faster "
		      "(figure 7).</figcaption></figure>\n");
}
