/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples reduced to rows: for each base application, co-runner, class, machine type and time
 * bucket what the samples' values were. Rows of blocks merge exactly, in any order.
 *
 * Machines, inputs and hours differ by more than co-runners do. So beside the values a row has the
 * contrast: in each block, how far the mean of the base's samples beside this co-runner is from the
 * mean of its others in the same block. Its variance from block to block says whether it is chance.
 * The means are of the values' histogram buckets, nearly of their logarithms, so that a few very
 * long samples do not decide.
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

/* Sums over blocks that have samples both beside the co-runner and not; w weighs a block, d is its
 * difference of means in 1/FLEET_CONTRAST_UNIT bucket. */
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
	uint32_t base, corunner; /* numbers in apps; CORUNNER_ALL has base twice */
	uint32_t second;	 /* co-runner of a trio: by name not before the other; of another
				  * class, and for one alone, the same as corunner */
	enum corunner_class class;
	uint32_t stratum;
	struct tally tally;
	struct fleet_contrast contrast;
};

/* For how long so many CPUs were busy, or so many applications ran at once. */
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
	struct fleet_rows_block *block; /* of the block being added */
};

struct fleet_rows_options {
	uint64_t bucket_ns;
	const struct strtab *trios; /* applications whose trios are kept; NULL: none */
};

struct fleet_row *fleet_rows_get(struct fleet_rows *r, uint32_t base, uint32_t corunner,
				 enum corunner_class class, uint32_t stratum);
/* Of class CORUNNER_TRIO; the two in any order. */
struct fleet_row *fleet_rows_trio(struct fleet_rows *r, uint32_t base, uint32_t corunner,
				  uint32_t second, uint32_t stratum);
/* Of one alone; NULL: there is none. */
const struct fleet_row *fleet_rows_find_trio(const struct fleet_rows *r, uint32_t base,
					     uint32_t app, uint32_t stratum);
uint32_t fleet_rows_stratum(struct fleet_rows *r, uint32_t type, uint64_t bucket);
void fleet_rows_crowd(struct fleet_rows *r, uint32_t stratum, uint32_t kind, uint32_t number,
		      uint64_t ns);

/* Returns how many samples had no co-runner. */
uint64_t fleet_rows_add(struct fleet_rows *r, const struct fleet_block *b, const struct topology *t,
			const char *type, const struct fleet_rows_options *o);
void fleet_contrast_merge(struct fleet_contrast *c, const struct fleet_contrast *more);
/* Everything, the names too; it can be used again. */
void fleet_rows_release(struct fleet_rows *r);

#endif
