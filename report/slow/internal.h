/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files that print one block in detail. */
#ifndef ISPOT_REPORT_SLOW_INTERNAL_H
#define ISPOT_REPORT_SLOW_INTERNAL_H

#include <stdint.h>

#include "analysis/result/slow.h"

struct block;
struct text;
struct view;

/* How many calls took from 2^i ns on, and less than twice that; under 1 ns: the first. */
#define SLOW_OCTAVES 64
void slow_octaves(const struct block *b, uint64_t counts[SLOW_OCTAVES]);
/* The group's durations over those of the fastest call, ns. */
double slow_excess(const struct slow_group *g, const struct block *b);

void slow_causes(const struct view *v, const struct block *b, struct text *out);
/* Lines and called functions; nothing where samples are too few to say. */
void slow_places(const struct view *v, const struct slow *s, struct text *out);

#endif
