/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of a few characters. */
#ifndef ISPOT_REPORT_TABLE_SPARK_H
#define ISPOT_REPORT_TABLE_SPARK_H

#include <stdbool.h>
#include <stddef.h>

struct hist;
struct text;

#define SPARK_COLUMNS 6

/* A histogram, fastest to slowest, both scales logarithmic. Appends SPARK_COLUMNS characters,
 * blanks without a histogram (NULL) or in an empty one. */
void spark(const struct hist *h, bool utf8, struct text *out);

/* Values from 0 to the largest, a character each; one that is 0 has a blank. */
void spark_values(const double *values, size_t n, bool utf8, struct text *out);

/* So much of so many columns, from the left; what is more than nothing has a mark. Not padded. */
void bar(double share, unsigned columns, bool utf8, struct text *out);

#endif
