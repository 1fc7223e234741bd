/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ispot report --slow BLOCK`: how the slow calls of a block differ from its fast ones. */
#ifndef ISPOT_REPORT_SLOW_SLOW_H
#define ISPOT_REPORT_SLOW_SLOW_H

struct slow;
struct text;
struct view;
void report_slow_json(const struct view *v, const struct slow *slow, struct text *out);
void report_slow(const struct view *v, const struct slow *slow, struct text *out);

#endif
