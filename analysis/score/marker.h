/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Markers need more than pairing: loops are scaled, and faulty pairs are told to the user. */
#ifndef ISPOT_ANALYSIS_SCORE_MARKER_H
#define ISPOT_ANALYSIS_SCORE_MARKER_H

#include <stdbool.h>
#include <stdint.h>

struct calls;
struct meta;
struct sci;

/* Adds the iterations of loop markers that left no record: one in `period` did. Called once, after
 * the pass. */
void markers_scale_loops(struct sci *sci);

/* Calls say() with a sentence for each marker and fault. */
void markers_report_faults(const struct calls *c, const struct meta *meta,
			   void (*say)(void *ctx, const char *sentence), void *ctx);
/*
 * Whether calls that begin while the marker is open are inside its blocks. False if a tenth of its
 * blocks, or more, were left without an end or ended inside a block that began in them. True for
 * functions. Called after the pass.
 */
bool marker_encloses(const struct calls *c, uint32_t id, uint64_t blocks);
/* Returns the number of begins without an end, which are among the calls that ended as
 * CALL_UNWOUND. */
uint64_t markers_unended(const struct calls *c);

#endif
