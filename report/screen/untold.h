/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences on time of which nobody can tell whether it is interference. */
#ifndef ISPOT_REPORT_SCREEN_UNTOLD_H
#define ISPOT_REPORT_SCREEN_UNTOLD_H

#include <stdbool.h>

struct block;
struct text;
struct untold_functions;
struct view;

/* A paragraph on a block with too few calls to be judged, which may lose the most. */
void text_unjudged(const struct view *v, const struct block *b, struct text *out);
/* A paragraph on running time that nothing explains. */
void text_unexplained(const struct view *v, const struct block *b, struct text *out);

/* Which functions have the CPU time of which no score tells. alone: nothing was said before. */
void text_untold(const struct untold_functions *untold, bool alone, struct text *out);

#endif
