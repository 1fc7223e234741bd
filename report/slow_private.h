/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files that print one block in detail. */
#ifndef ISPOT_REPORT_SLOW_PRIVATE_H
#define ISPOT_REPORT_SLOW_PRIVATE_H

struct block;
struct slow;
struct text;
struct view;

void slow_causes(const struct view *v, const struct block *b, struct text *out);
/* Lines and called functions; nothing where samples are too few to say. */
void slow_places(const struct view *v, const struct slow *s, struct text *out);

#endif
