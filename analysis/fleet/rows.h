/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples reduced to rows: the distribution of the samples' values for each base application,
 * co-runner, class, machine type and time bucket. Rows of different blocks merge exactly, in any
 * order.
 *
 * Machines, inputs and hours differ by more than co-runners do. So besides the values a row has the
 * contrast: how far, within a block, the mean of the base's samples beside this co-runner is from
 * the mean of the base's other samples. The variance of the contrast between blocks shows whether
 * it is chance. The means are taken of histogram bucket numbers, which are nearly logarithms of the
 * values, so that a few very long samples do not decide.
 *
 * Where a block has several indicators, each has rows of its own, and the contrasts of two rows of
 * one pair are matched block by block: what both say of the same occurrence, which is a co-runner
 * on one machine at one time.
 */
#ifndef ISPOT_ANALYSIS_FLEET_ROWS_H
#define ISPOT_ANALYSIS_FLEET_ROWS_H

#include <stdint.h>

#include "analysis/fleet/corunner.h"
#include "analysis/stat/tally.h"
#include "base/hash.h"
#include "base/vec.h"

struct fleet_block;
struct topology;

typedef __int128 fleet_i128;

/* Sums over the blocks that have samples both with and without the co-runner. w: weight of a block;
 * d: the block's difference of means, in 1/FLEET_CONTRAST_UNIT of a bucket. */
#define FLEET_CONTRAST_UNIT 256
struct fleet_contrast {
	uint64_t blocks;
	fleet_i128 w, wd, w2, wd_w, wd2; /* w, w d, w^2, w^2 d, w^2 d^2 */
};

struct fleet_stratum {
	uint32_t indicator; /* 0: the first */
	uint32_t type;
	uint64_t bucket; /* start_ns / bucket_ns */
};

struct fleet_row {
	uint32_t base, corunner; /* numbers in apps; of class CORUNNER_ALL, corunner is base */
	uint32_t second;	 /* a trio's co-runner that is later in alphabetical order; the
				  * same as corunner in other classes, and in a trio's row for
				  * one co-runner alone */
	enum corunner_class class;
	uint32_t stratum;
	struct tally tally;
	struct fleet_contrast contrast;
};

/* Sums over the blocks in which both rows have a contrast. w: weight of a block; x, y: the
 * contrasts of the one with the lower indicator and of the other. */
struct fleet_match {
	uint32_t row, other; /* of one pair, type and bucket, but of two indicators */
	uint64_t blocks;
	fleet_i128 w, wx, wy, wxx, wxy, wyy;
};

/* A fleet_crowd counts either busy CPUs or applications that ran at once. */
enum fleet_crowd_kind { FLEET_BUSY_CPUS, FLEET_APPS, FLEET_CROWD_KINDS };

struct fleet_crowd {
	uint32_t stratum, kind, number;
	uint64_t ns;
};

struct fleet_rows {
	struct strtab apps, types;
	struct {
		VEC(struct fleet_row)
	} rows;
	struct {
		VEC(struct fleet_stratum)
	} strata;
	struct {
		VEC(struct fleet_crowd)
	} crowds;
	struct {
		VEC(struct fleet_match)
	} matches;
	struct map by_key, by_stratum, by_crowd, by_match;
	struct corunners corunners;
	struct fleet_rows_block *block; /* state of the block being added */
};

struct fleet_rows_options {
	uint64_t bucket_ns;
	const struct strtab *trios; /* base applications that get rows of trios; NULL: none */
	const uint32_t *indicators; /* [number in the block]: number in the rows, or
				     * FLEET_LEFT_OUT; NULL: only the block's first has rows */
};

#define FLEET_LEFT_OUT UINT32_MAX

/* How many samples a block has, or all blocks have, by the indicator's number in the rows. */
struct fleet_counts {
	uint64_t samples[FLEET_INDICATORS],
		alone[FLEET_INDICATORS]; /* alone: without a co-runner */
};

struct fleet_row *fleet_rows_get(struct fleet_rows *r, uint32_t base, uint32_t corunner,
				 enum corunner_class class, uint32_t stratum);
/* Returns a row of class CORUNNER_TRIO; the two co-runners may come in any order. */
struct fleet_row *fleet_rows_trio(struct fleet_rows *r, uint32_t base, uint32_t corunner,
				  uint32_t second, uint32_t stratum);
/* Returns the trio row of app alone, or NULL if there is none. */
const struct fleet_row *fleet_rows_find_trio(const struct fleet_rows *r, uint32_t base,
					     uint32_t app, uint32_t stratum);
uint32_t fleet_rows_stratum(struct fleet_rows *r, uint32_t type, uint64_t bucket); /* indicator 0 */
uint32_t fleet_rows_stratum_of(struct fleet_rows *r, uint32_t indicator, uint32_t type,
			       uint64_t bucket);
/* Returns the match of two rows, by their numbers in r->rows, row being of the lower indicator. */
struct fleet_match *fleet_rows_match(struct fleet_rows *r, uint32_t row, uint32_t other);
/* Returns the match of a pair with itself, as fleet_store_load_matches() has them, or NULL. */
const struct fleet_match *fleet_rows_find_match(const struct fleet_rows *r, uint32_t base,
						uint32_t corunner, enum corunner_class class);
void fleet_match_merge(struct fleet_match *m, const struct fleet_match *more);
void fleet_rows_crowd(struct fleet_rows *r, uint32_t stratum, uint32_t kind, uint32_t number,
		      uint64_t ns);

/* Adds a block. Returns how many of its samples of indicator 0 had no co-runner. counts: of the
 * block, NULL: not asked for. */
uint64_t fleet_rows_add(struct fleet_rows *r, const struct fleet_block *b, const struct topology *t,
			const char *type, const struct fleet_rows_options *o,
			struct fleet_counts *counts);
void fleet_contrast_merge(struct fleet_contrast *c, const struct fleet_contrast *more);
/* Frees everything; r can be used again. */
void fleet_rows_release(struct fleet_rows *r);

#endif
