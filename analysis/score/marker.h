/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts that only markers need besides pairing: scaling of loops, and words for their faults.
 */
#ifndef ISPOT_ANALYSIS_SCORE_MARKER_H
#define ISPOT_ANALYSIS_SCORE_MARKER_H

#include <stdbool.h>
#include <stdint.h>

struct calls;
struct meta;
struct sci;

/* A loop's marker stands for `period` iterations: its cells get those that left no record. Once,
 * after the pass. */
void markers_scale_loops(struct sci *sci);

/* A sentence for each marker and fault, through say(). */
void markers_report_faults(const struct calls *c, const struct meta *meta,
			   void (*say)(void *ctx, const char *sentence), void *ctx);
/*
 * After the pass: whether what began in its open blocks can be said to be inside them. Not where
 * one in ten of its blocks, or more, was left without an end or ended inside another that began in
 * it. True for functions.
 */
bool marker_encloses(const struct calls *c, uint32_t id, uint64_t blocks);
/* Begins without an end: they are among the calls that ended as CALL_UNWOUND. */
uint64_t markers_unended(const struct calls *c);

#endif
