/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A histogram in six characters: fastest to slowest, both scales logarithmic. */
#ifndef ISPOT_REPORT_SPARK_H
#define ISPOT_REPORT_SPARK_H

#include <stdbool.h>

struct hist;
struct text;

#define SPARK_COLUMNS 6

/* Appends SPARK_COLUMNS characters, blanks without a histogram (NULL) or in an empty one. */
void spark(const struct hist *h, bool utf8, struct text *out);

#endif
