/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What only markers need besides pairing: scaling of loops, and words for what was wrong. */
#ifndef ISPOT_ANALYSIS_MARKER_H
#define ISPOT_ANALYSIS_MARKER_H

#include <stdint.h>

struct calls;
struct meta;
struct sci;

/* A loop's marker stands for `period` iterations: its cells get those that left no record. Once,
 * after the pass. */
void markers_scale_loops(struct sci *sci);

/* A sentence for each marker and fault, through say(). */
void markers_say_faults(const struct calls *c, const struct meta *meta,
			void (*say)(void *ctx, const char *sentence), void *ctx);
/* Begins without an end: they are among the calls that ended as CALL_UNWOUND. */
uint64_t markers_unended(const struct calls *c);

#endif
