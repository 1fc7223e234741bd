/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of one block: its durations in order (the ISPOT paper's figure 7), and how they spread.
 */
#include <math.h>

#include "analysis/block.h"
#include "analysis/sci.h"
#include "base/text.h"
#include "report/html.h"

#define WIDTH  420
#define HEIGHT 190
#define LEFT   56
#define RIGHT  8
#define TOP    8
#define BOTTOM 24

/* A logarithmic scale of times. */
struct scale {
	double low, high; /* natural logarithms */
};

static struct scale scale_of(const struct block *b)
{
	double low = log(b->min_ns ? (double)b->min_ns : 1);
	double high = log(b->max_ns > 1 ? (double)b->max_ns : 2);

	return (struct scale){ low, high > low + 0.1 ? high : low + 0.1 };
}

static double part_of(const struct scale *s, double ns)
{
	double part = (log(ns > 1 ? ns : 1) - s->low) / (s->high - s->low);

	return part < 0 ? 0 : part > 1 ? 1 : part;
}

static double y_of(const struct scale *s, double ns)
{
	return TOP + (1 - part_of(s, ns)) * (HEIGHT - TOP - BOTTOM);
}

static void begin(struct text *out, const char *label)
{
	text_printf(out,
		    "<figure><svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
		    "aria-label=\"",
		    WIDTH, HEIGHT, WIDTH, HEIGHT);
	html_text(out, label);
	text_add(out, "\">");
}

static void end(struct text *out, const char *caption)
{
	text_add(out, "</svg><figcaption>");
	html_text(out, caption);
	text_add(out, "</figcaption></figure>\n");
}

static void line(struct text *out, const char *class, double x1, double y1, double x2, double y2)
{
	text_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
		    class, x1, y1, x2, y2);
}

static void label(struct text *out, double x, double y, const char *anchor, const char *s)
{
	text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y, anchor,
		    s);
}

static void time_axis(struct text *out, const struct scale *s)
{
	char time[TEXT_NUMBER];

	line(out, "axis", LEFT, TOP, LEFT, HEIGHT - BOTTOM);
	line(out, "axis", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
	for (double decade = 1; decade < 1e19; decade *= 10) {
		if (log(decade) < s->low || log(decade) > s->high)
			continue;
		line(out, "axis", LEFT, y_of(s, decade), WIDTH - RIGHT, y_of(s, decade));
		label(out, LEFT - 5, y_of(s, decade) + 4, "end", text_time(time, (uint64_t)decade));
	}
}

void html_ordered(const struct block *b, struct text *out)
{
	const struct hist *h = &b->sums->durations;
	struct scale s = scale_of(b);
	double room = WIDTH - LEFT - RIGHT;

	begin(out, "Durations of all calls, in order");
	time_axis(out, &s);
	line(out, "least", LEFT, y_of(&s, (double)b->min_ns), WIDTH - RIGHT,
	     y_of(&s, (double)b->min_ns));
	text_add(out, "<polyline class=\"curve\" points=\"");
	for (int i = 0; i <= HTML_POINTS_MAX; i++) {
		double q = (double)i / HTML_POINTS_MAX;
		uint64_t ns = !i ? h->min : i == HTML_POINTS_MAX ? h->max : hist_quantile(h, q);

		text_printf(out, "%.1f,%.1f ", LEFT + q * room, y_of(&s, (double)ns));
	}
	text_add(out, "\"/>");
	label(out, LEFT, HEIGHT - 8, "start", "fastest call");
	label(out, WIDTH - RIGHT, HEIGHT - 8, "end", "slowest");
	end(out, "Durations of its calls, in order. The dashed line is the fastest call: what lies "
		 "between it and the curve is the excess.");
}

#define BARS 48

/* Logarithmic bars from fastest to slowest, each in the colour of where its middle lies. */
void html_histogram(const struct block *b, struct text *out)
{
	const struct hist *h = &b->sums->durations;
	struct scale s = scale_of(b);
	double room = WIDTH - LEFT - RIGHT, width = room / BARS;
	uint64_t count[BARS] = { 0 }, most = 1, below = 0;
	char number[TEXT_NUMBER];

	for (unsigned i = 0; i < BARS; i++) {
		double end_ns = exp(s.low + (s.high - s.low) * (i + 1) / BARS);
		/* 0x1p64: a damaged file's durations may end anywhere */
		uint64_t to = i + 1 == BARS || end_ns >= 0x1p64 ? UINT64_MAX : (uint64_t)end_ns;
		uint64_t upto = hist_between(h, 0, to);

		count[i] = upto > below ? upto - below : 0;
		below = upto > below ? upto : below;
		most = count[i] > most ? count[i] : most;
	}
	begin(out, "Histogram of durations: fast calls, those between, slow calls");
	line(out, "axis", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
	for (unsigned i = 0; i < BARS; i++) {
		double middle = exp(s.low + (s.high - s.low) * (i + 0.5) / BARS);
		double tall =
			log1p((double)count[i]) / log1p((double)most) * (HEIGHT - TOP - BOTTOM);

		if (count[i])
			text_printf(out,
				    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				    "height=\"%.1f\"/>",
				    middle <= (double)b->p50_ns	  ? "f"
				    : middle >= (double)b->p90_ns ? "s"
								  : "m",
				    LEFT + i * width, HEIGHT - BOTTOM - tall, width - 1, tall);
	}
	label(out, LEFT, HEIGHT - 8, "start", text_time(number, b->min_ns));
	label(out, WIDTH - RIGHT, HEIGHT - 8, "end", text_time(number, b->max_ns));
	label(out, LEFT - 5, TOP + 10, "end", text_count(number, most));
	end(out,
	    "How many calls took how long (both scales logarithmic): green up to the median, red "
	    "from the 90th percentile.");
}
