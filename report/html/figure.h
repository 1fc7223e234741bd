/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The elements of figures on pages, as inline SVG: axes, scales, bars, curves, labels. */
#ifndef ISPOT_REPORT_HTML_FIGURE_H
#define ISPOT_REPORT_HTML_FIGURE_H

#include <stdint.h>

struct text;

/* The size of a figure, and the area where values are drawn, in pixels from the upper left. */
struct html_plot {
	int width, height;
	double left, right, top, bottom;
};

/* Return the coordinate of a part, from 0 (left, bottom) to 1 (right, top) of the area. Other
 * values are clamped. */
double html_plot_x(const struct html_plot *p, double part);
double html_plot_y(const struct html_plot *p, double part);

/* A logarithmic scale. */
struct html_scale {
	double low, high; /* natural logarithms */
};
struct html_scale html_scale_of(uint64_t least, uint64_t most);
double html_scale_part(const struct html_scale *s, double value); /* returns 0 to 1, clamped */

/* Begins a figure, whose elements follow. Its accessible name is label and of; of is shortened if
 * it is too long. */
void html_figure(struct text *out, const struct html_plot *p, const char *label, const char *of);
/* Ends the drawing and begins the caption with s, which is markup. */
void html_caption(struct text *out, const char *s);
void html_figure_end(struct text *out);

/* Draws the horizontal axis at the bottom of the area. */
void html_axis(struct text *out, const struct html_plot *p);
/* Writes what the axes measure: along the horizontal one, and at the top of the vertical one. */
void html_axis_names(struct text *out, const struct html_plot *p, const char *x, const char *y);
/*
 * Draws a horizontal line for each power of ten of a scale in nanoseconds, with fewer than two of
 * them at the ends of the scale.
 */
void html_decades(struct text *out, const struct html_plot *p, const struct html_scale *s);
void html_line(struct text *out, const char *class, double x1, double y1, double x2, double y2);
/* anchor: "start", "middle", "end" */
void html_label(struct text *out, double x, double y, const char *anchor, const char *s);
/* title: shown when the pointer is over the rectangle, or NULL */
void html_rect(struct text *out, const char *class, double x, double y, double width, double height,
	       const char *title);
/* Draw a curve: html_curve(), html_point() for each point, html_curve_end(). title: as for
 * html_rect(). */
void html_curve(struct text *out, const char *class);
void html_point(struct text *out, double x, double y);
void html_curve_end(struct text *out, const char *title);

#endif
