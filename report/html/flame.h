/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of a block as a flame graph that hangs from it: the block on top, its callers
 * below, main at the end. A frame's width is the excess of the calls through it (their time less
 * that of as many fastest calls), its colour how much of their time that is: slow minus fast.
 */
#ifndef ISPOT_REPORT_HTML_FLAME_H
#define ISPOT_REPORT_HTML_FLAME_H

struct block;
struct text;
struct view;
void html_flame(const struct view *v, const struct block *b, struct text *out);

#endif
