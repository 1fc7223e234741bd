/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines under the table: what is not interference, what nobody can say, what to do next. */
#ifndef ISPOT_REPORT_SCREEN_REMARKS_H
#define ISPOT_REPORT_SCREEN_REMARKS_H

struct text;
struct view;
void text_remarks(const struct view *v, struct text *out); /* other verdicts, not traced, next */

#endif
