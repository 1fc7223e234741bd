/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text in CSV. A name may be anything, as the traced program chose it: control characters become
 * '?', and a cell that a spreadsheet would take for a formula (it begins with = + - @ or a tab)
 * gets an apostrophe in front, which makes it text there.
 */
#ifndef ISPOT_REPORT_TABLE_CSV_H
#define ISPOT_REPORT_TABLE_CSV_H

struct text;

/* One cell, quoted if it has to be. */
void csv_print_text(const char *s, struct text *out);

#endif
