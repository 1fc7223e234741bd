/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kit of the pages' figures, as inline SVG: axes, scales, bars, curves, labels. */
#ifndef ISPOT_REPORT_HTML_FIGURE_H
#define ISPOT_REPORT_HTML_FIGURE_H

#include <stdint.h>

struct text;

/* A figure's size, and within it where values are drawn; in pixels, from the upper left. */
struct html_plot {
	int width, height;
	double left, right, top, bottom;
};

/*
 * Returns the coordinate at this share of the way from left to right, or from bottom to top; below
 * 0 it is the begin, above 1 the end.
 */
double html_plot_x(const struct html_plot *p, double part);
double html_plot_y(const struct html_plot *p, double part);

/* A logarithmic scale. */
struct html_scale {
	double low, high; /* natural logarithms */
};
struct html_scale html_scale_of(uint64_t least, uint64_t most);
double html_scale_part(const struct html_scale *s, double value); /* 0 to 1 */

/* Up to where things are drawn. label: says what it shows, of: of what, which is shortened, or ""
 */
void html_figure(struct text *out, const struct html_plot *p, const char *label, const char *of);
/* All is drawn: on to its caption, which begins with s, markup. */
void html_caption(struct text *out, const char *s);
void html_figure_end(struct text *out);

/* The line below all. */
void html_axis(struct text *out, const struct html_plot *p);
/* A line across for each power of ten of a scale of nanoseconds. */
void html_decades(struct text *out, const struct html_plot *p, const struct html_scale *s);
void html_line(struct text *out, const char *class, double x1, double y1, double x2, double y2);
/* anchor: "start", "middle", "end" */
void html_label(struct text *out, double x, double y, const char *anchor, const char *s);
/* title: what is shown of it when it is pointed at, or NULL */
void html_rect(struct text *out, const char *class, double x, double y, double width, double height,
	       const char *title);
/* A curve through points. title: as above */
void html_curve(struct text *out, const char *class);
void html_point(struct text *out, double x, double y);
void html_curve_end(struct text *out, const char *title);

#endif
