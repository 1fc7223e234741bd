/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line that makes threads uneven may be in a library or in its headers, which users of the report
 * cannot change. They can change the program: the line into which a header's function was inlined,
 * or that calls the library. So this goes up the callers, at each function to the caller whose
 * calls differ most between threads, until one has a line that is readable and no part of a
 * package.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_CALLER_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_CALLER_H

#include <stdint.h>

struct counted;
struct counted_frame;
struct dso_cache;
struct parallel_section;

/* Returns the place of c->run at which *from is, or MAP_NONE if the user can change the line of
 * place itself, or none that is known. */
uint32_t counted_caller(struct counted *c, const struct parallel_section *s, uint32_t place,
			struct dso_cache *cache, struct counted_frame *from);

#endif
