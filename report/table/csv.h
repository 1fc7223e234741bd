/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text in CSV. The traced program chooses its names, so they may hold anything: control characters
 * become '?', and a cell that a spreadsheet would take for a formula (it begins with = + - @ or a
 * tab) gets an apostrophe in front, which makes it text there.
 */
#ifndef ISPOT_REPORT_TABLE_CSV_H
#define ISPOT_REPORT_TABLE_CSV_H

struct text;

/* Adds one cell, quoted if necessary. */
void csv_print_text(const char *s, struct text *out);

#endif
