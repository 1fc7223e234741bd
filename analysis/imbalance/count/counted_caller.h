/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line that makes threads uneven may be in a library, which users of the report cannot change.
 * They can change the program that calls it. So this goes up the callers, at each function to the
 * caller whose calls differ most between threads, until one has readable source.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_CALLER_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_CALLER_H

#include <stdint.h>

struct counted;
struct parallel_section;

/* Returns a place of c->run, or MAP_NONE if the source of place itself is readable, or that of no
 * known caller is. */
uint32_t counted_caller(const struct counted *c, const struct parallel_section *s, uint32_t place);

#endif
