/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ispot report --by transition` on a terminal. */
#ifndef ISPOT_REPORT_SCREEN_TRANSITIONS_H
#define ISPOT_REPORT_SCREEN_TRANSITIONS_H

struct text;
struct view;

void report_transitions_text(const struct view *v, struct text *out);

#endif
