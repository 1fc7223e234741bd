/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines under the table: what is not interference, what nobody can say, what to do next. */
#ifndef ISPOT_REPORT_SCREEN_REMARKS_H
#define ISPOT_REPORT_SCREEN_REMARKS_H

struct text;
struct view;
/* Other verdicts, what was not traced; without -v as many sentences as fit into so many lines, one
 * at least. */
void text_remarks(const struct view *v, unsigned lines, struct text *out);
/* What to mark, and the next command. */
void text_to_do(const struct view *v, struct text *out);

#endif
