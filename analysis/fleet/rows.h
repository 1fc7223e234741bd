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
	struct map by_key, by_stratum, by_crowd;
	struct corunners corunners;
	struct fleet_rows_block *block; /* state of the block being added */
};

struct fleet_rows_options {
	uint64_t bucket_ns;
	const struct strtab *trios; /* base applications that get rows of trios; NULL: none */
};

struct fleet_row *fleet_rows_get(struct fleet_rows *r, uint32_t base, uint32_t corunner,
				 enum corunner_class class, uint32_t stratum);
/* Returns a row of class CORUNNER_TRIO; the two co-runners may come in any order. */
struct fleet_row *fleet_rows_trio(struct fleet_rows *r, uint32_t base, uint32_t corunner,
				  uint32_t second, uint32_t stratum);
/* Returns the trio row of app alone, or NULL if there is none. */
const struct fleet_row *fleet_rows_find_trio(const struct fleet_rows *r, uint32_t base,
					     uint32_t app, uint32_t stratum);
uint32_t fleet_rows_stratum(struct fleet_rows *r, uint32_t type, uint64_t bucket);
void fleet_rows_crowd(struct fleet_rows *r, uint32_t stratum, uint32_t kind, uint32_t number,
		      uint64_t ns);

/* Adds a block. Returns how many of its samples had no co-runner. */
uint64_t fleet_rows_add(struct fleet_rows *r, const struct fleet_block *b, const struct topology *t,
			const char *type, const struct fleet_rows_options *o);
void fleet_contrast_merge(struct fleet_contrast *c, const struct fleet_contrast *more);
/* Frees everything; r can be used again. */
void fleet_rows_release(struct fleet_rows *r);

#endif
