/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/figure.h"

#include <math.h>

#include "base/text.h"
#include "report/html/html.h"
#include "report/html/page.h"

/* ---- coordinates ---- */

static double clamped(double part)
{
	return part < 0 ? 0 : part > 1 ? 1 : part;
}

double html_plot_x(const struct html_plot *p, double part)
{
	return p->left + clamped(part) * (p->right - p->left);
}

double html_plot_y(const struct html_plot *p, double part)
{
	return p->top + (1 - clamped(part)) * (p->bottom - p->top);
}

struct html_scale html_scale_of(uint64_t least, uint64_t most)
{
	double low = log(least ? (double)least : 1);
	double high = log(most > 1 ? (double)most : 2);

	return (struct html_scale){ low, high > low + 0.1 ? high : low + 0.1 };
}

double html_scale_part(const struct html_scale *s, double value)
{
	return clamped((log(value > 1 ? value : 1) - s->low) / (s->high - s->low));
}

/* ---- elements ---- */

void html_figure(struct text *out, const struct html_plot *p, const char *label, const char *of)
{
	text_printf(out,
		    "<figure><svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
		    "aria-label=\"",
		    p->width, p->height, p->width, p->height);
	html_text(out, label);
	html_short(out, of);
	text_add(out, "\">");
}

void html_caption(struct text *out, const char *s)
{
	text_printf(out, "</svg><figcaption>%s", s);
}

void html_figure_end(struct text *out)
{
	text_add(out, "</figcaption></figure>\n");
}

void html_axis(struct text *out, const struct html_plot *p)
{
	html_line(out, "axis", p->left, p->bottom, p->right, p->bottom);
}

void html_axis_names(struct text *out, const struct html_plot *p, const char *x, const char *y)
{
	html_label(out, p->right, p->bottom - 4, "end", x);
	html_label(out, p->left + 4, p->top + 8, "start", y);
}

static void mark_time(struct text *out, const struct html_plot *p, const struct html_scale *s,
		      double ns)
{
	double y = html_plot_y(p, html_scale_part(s, ns));
	char time[TEXT_NUMBER];

	html_line(out, "axis", p->left, y, p->right, y);
	/* 0x1p64: durations in a damaged file may have any value */
	html_label(out, p->left - 5, y + 4, "end",
		   text_time(time, ns >= 0x1p64 ? UINT64_MAX : (uint64_t)(ns + 0.5)));
}

/* A scale with one decade or none in it has its ends marked instead: one mark makes no scale. */
void html_decades(struct text *out, const struct html_plot *p, const struct html_scale *s)
{
	unsigned within = 0;

	for (double decade = 1; decade < 1e19; decade *= 10)
		within += log(decade) >= s->low && log(decade) <= s->high;
	if (within < 2) {
		mark_time(out, p, s, exp(s->low));
		mark_time(out, p, s, exp(s->high));
		return;
	}
	for (double decade = 1; decade < 1e19; decade *= 10)
		if (log(decade) >= s->low && log(decade) <= s->high)
			mark_time(out, p, s, decade);
}

void html_line(struct text *out, const char *class, double x1, double y1, double x2, double y2)
{
	text_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
		    class, x1, y1, x2, y2);
}

void html_label(struct text *out, double x, double y, const char *anchor, const char *s)
{
	text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	html_short(out, s);
	text_add(out, "</text>");
}

/* Ends an element, with a title if there is one. */
static void titled(struct text *out, const char *element, const char *title)
{
	if (!title) {
		text_add(out, "/>");
		return;
	}
	text_add(out, "><title>");
	html_short(out, title);
	text_printf(out, "</title></%s>", element);
}

void html_rect(struct text *out, const char *class, double x, double y, double width, double height,
	       const char *title)
{
	text_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
		    class, x, y, width, height);
	titled(out, "rect", title);
}

void html_curve(struct text *out, const char *class)
{
	text_printf(out, "<polyline class=\"%s\" points=\"", class);
}

void html_point(struct text *out, double x, double y)
{
	text_printf(out, "%.1f,%.1f ", x, y);
}

void html_curve_end(struct text *out, const char *title)
{
	text_add(out, "\"");
	titled(out, "polyline", title);
}
