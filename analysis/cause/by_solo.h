/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the windows of `record --solo` prove: how much slower a block's calls are because other
 * threads of the program run at the same time, whatever the reason is.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_BY_SOLO_H
#define ISPOT_ANALYSIS_CAUSE_BY_SOLO_H

struct block;
struct meta;
struct text;

/* A rule's take() (cause.h) for the running time. */
double cause_solo(const struct block *b, const struct meta *meta, double rest_ns,
		  struct text *evidence);

#endif
