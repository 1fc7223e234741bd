/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/chart.h"

#include <math.h>

#include "analysis/score/block.h"
#include "analysis/score/sci.h"
#include "base/text.h"
#include "report/html/figure.h"
#include "report/html/html.h"

#define BARS 48

static const struct html_plot plot = {
	.width = 420, .height = 190, .left = 56, .right = 412, .top = 8, .bottom = 166
};

static double y_of(const struct html_scale *s, uint64_t ns)
{
	return html_plot_y(&plot, html_scale_part(s, (double)ns));
}

void html_ordered(const struct block *b, struct text *out)
{
	const struct hist *h = &b->sums->durations;
	struct html_scale s = html_scale_of(b->min_ns, b->max_ns);

	html_figure(out, &plot, "Durations of all calls, in order", "");
	html_line(out, "axis", plot.left, plot.top, plot.left, plot.bottom);
	html_axis(out, &plot);
	html_decades(out, &plot, &s);
	html_axis_names(out, &plot, "calls", "duration");
	html_line(out, "least", plot.left, y_of(&s, b->min_ns), plot.right, y_of(&s, b->min_ns));
	html_curve(out, "curve");
	for (int i = 0; i <= HTML_POINTS_MAX; i++) {
		double q = (double)i / HTML_POINTS_MAX;
		uint64_t ns = !i ? h->min : i == HTML_POINTS_MAX ? h->max : hist_quantile(h, q);

		html_point(out, html_plot_x(&plot, q), y_of(&s, ns));
	}
	html_curve_end(out, NULL);
	html_label(out, plot.left, plot.height - 8, "start", "fastest call");
	html_label(out, plot.right, plot.height - 8, "end", "slowest");
	html_caption(
		out,
		"Durations of its calls, in order. The dashed line is the fastest call, without "
		"its wait if a call need not wait: what lies between it and the curve is the "
		"excess.");
	html_figure_end(out);
}

/* Counts calls by duration, in bars of equal width on the scale. Returns the highest count. */
static uint64_t count_bars(const struct hist *h, const struct html_scale *s, uint64_t *count)
{
	uint64_t most = 1, below = 0;

	for (unsigned i = 0; i < BARS; i++) {
		double end_ns = exp(s->low + (s->high - s->low) * (i + 1) / BARS);
		/* 0x1p64: durations in a damaged file may have any value */
		uint64_t to = i + 1 == BARS || end_ns >= 0x1p64 ? UINT64_MAX : (uint64_t)end_ns;
		uint64_t upto = hist_between(h, 0, to);

		count[i] = upto > below ? upto - below : 0;
		below = upto > below ? upto : below;
		most = count[i] > most ? count[i] : most;
	}
	return most;
}

/* Logarithmic bars from fastest to slowest, each in the color of its fastest calls. */
void html_histogram(const struct block *b, struct text *out)
{
	struct html_scale s = html_scale_of(b->min_ns, b->max_ns);
	double width = (plot.right - plot.left) / BARS;
	uint64_t count[BARS], most = count_bars(&b->sums->durations, &s, count);
	double fast_max_ns = (double)block_fast_max_ns(b);
	double slow_min_ns = (double)block_slow_min_ns(b);
	char number[TEXT_NUMBER];

	html_figure(out, &plot, "Histogram of durations: fast calls, those between, slow calls",
		    "");
	html_axis(out, &plot);
	html_axis_names(out, &plot, "duration", "calls");
	for (unsigned i = 0; i < BARS; i++) {
		double low_ns = exp(s.low + (s.high - s.low) * i / BARS);
		double tall =
			log1p((double)count[i]) / log1p((double)most) * (plot.bottom - plot.top);

		if (count[i])
			html_rect(out,
				  low_ns <= fast_max_ns	  ? "f"
				  : low_ns >= slow_min_ns ? "s"
							  : "m",
				  plot.left + i * width, plot.bottom - tall, width - 1, tall, NULL);
	}
	html_label(out, plot.left, plot.height - 8, "start", text_time(number, b->min_ns));
	html_label(out, plot.right, plot.height - 8, "end", text_time(number, b->max_ns));
	html_label(out, plot.left - 5, plot.top + 10, "end", text_count(number, most));
	html_caption(out, "How many calls took how long (both scales logarithmic): green up to the "
			  "median, red from the 90th percentile.");
	html_figure_end(out);
}
