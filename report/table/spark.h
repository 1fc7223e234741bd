/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of a few characters. */
#ifndef ISPOT_REPORT_TABLE_SPARK_H
#define ISPOT_REPORT_TABLE_SPARK_H

#include <stdbool.h>
#include <stddef.h>

struct hist;
struct text;

#define SPARK_COLUMNS 6

/*
 * Appends SPARK_COLUMNS characters that show a histogram from the fastest to the slowest call, with
 * logarithmic scales; blanks if h is NULL or empty.
 */
void spark(const struct hist *h, bool utf8, struct text *out);

/* Appends one character for each value, scaled from 0 to the largest value; a blank for 0. */
void spark_values(const double *values, size_t n, bool utf8, struct text *out);

/*
 * Appends a bar that fills a share of the columns from the left, without padding. A share above 0
 * always shows a mark.
 */
void bar(double share, unsigned columns, bool utf8, struct text *out);

#endif
