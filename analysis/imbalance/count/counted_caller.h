/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line that makes threads uneven may be a library's, which nobody who reads the report can mend.
 * What they can is the program that calls it: of each function's callers the one that differs most
 * between the threads, up to one whose source is at hand.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_CALLER_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_CALLER_H

#include <stdint.h>

struct counted;
struct parallel_section;

/* A place of c->run. MAP_NONE: place's own source is at hand, or that of no caller that is known.
 */
uint32_t counted_caller(const struct counted *c, const struct parallel_section *s, uint32_t place);

#endif
