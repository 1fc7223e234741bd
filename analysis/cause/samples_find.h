/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the slow calls of a block spend their time: adds up the samples inside of them. */
#ifndef ISPOT_ANALYSIS_CAUSE_SAMPLES_FIND_H
#define ISPOT_ANALYSIS_CAUSE_SAMPLES_FIND_H

struct blocks;
struct samples;

/* Fills the blocks' samples. */
void samples_find(const struct samples *s, struct blocks *blocks);

#endif
