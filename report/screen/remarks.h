/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines under the table: what is not interference, what is unknown, and what to do next. */
#ifndef ISPOT_REPORT_SCREEN_REMARKS_H
#define ISPOT_REPORT_SCREEN_REMARKS_H

struct text;
struct view;
/* Adds other verdicts and what was not traced. Without -v, as many sentences as fit into the lines,
 * but at least one. */
void text_remarks(const struct view *v, unsigned lines, struct text *out);
/* Adds what to mark, and the next commands. */
void text_to_do(const struct view *v, struct text *out);

#endif
