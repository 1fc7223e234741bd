/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of a block as an inverted flame graph: the block on top, its callers below, main
 * at the bottom. The width of a frame is the excess of the calls through it (their time less that
 * of as many fastest calls). Its color shows the share of the excess in the time of these calls.
 */
#ifndef ISPOT_REPORT_HTML_FLAME_H
#define ISPOT_REPORT_HTML_FLAME_H

struct block;
struct text;
struct view;
void html_flame(const struct view *v, const struct block *b, struct text *out);

#endif
