/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paragraphs on a screen. */
#ifndef ISPOT_REPORT_TABLE_WRAP_H
#define ISPOT_REPORT_TABLE_WRAP_H

struct text;

/* Adds s as one paragraph, broken at width; a number stays with its percent sign. */
void text_wrap(const char *s, unsigned width, struct text *out);
/* Returns the columns of the widest word, which no line break makes shorter. */
unsigned text_widest_word(const char *s);

#endif
