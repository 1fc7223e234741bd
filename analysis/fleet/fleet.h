/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who slows whom in a fleet (the paper of corunner.h, sections IV-E and V): for each base the
 * median beside every co-runner, and how far that is from the base's median over all of its
 * samples, in deviations of those samples. Beyond one it is a beyond-noisy interferer, if the
 * contrast (rows.h) says that it is no chance either. All cells that have enough samples are
 * tested at once, so q is p after Benjamini and Hochberg: of those with q <= alpha a share of alpha
 * is wrong; trios are corrected for by themselves, and must do more than each co-runner alone, and
 * than others that share one with them.
 */
#ifndef ISPOT_ANALYSIS_FLEET_FLEET_H
#define ISPOT_ANALYSIS_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/fleet/rows.h"

enum fleet_effect {
	FLEET_TOO_FEW,	   /* samples: nothing can be said */
	FLEET_WITHIN,	   /* the noise */
	FLEET_NOT_CERTAIN, /* beyond it, but it may be chance, or the machines it ran on */
	FLEET_NEGATIVE,	   /* slows the base beyond the noise */
	FLEET_POSITIVE,
};

extern const char *const fleet_effect_names[];

/* Of a trio's two co-runners the samples beside this one while the other was not near. */
struct fleet_one {
	uint64_t samples;
	double median, change, deviations; /* as of the pair; NAN: too few samples */
};

struct fleet_cell {
	uint32_t base, corunner; /* numbers in the rows' apps */
	uint32_t second;	 /* of a trio; else the same as corunner */
	enum corunner_class class;
	enum fleet_effect effect;
	const struct tally *tally;
	uint64_t blocks; /* that the contrast is from */
	double share;	 /* of the base's samples */
	double median;
	double change;	    /* of performance against the base's median, relative; < 0: slower */
	double deviations;  /* the same in deviations of the base */
	double contrast;    /* change against its other samples of the same blocks; NAN: none */
	double p, q;	    /* NAN: cannot be tested */
	double improvement; /* of the base's performance were this co-runner kept away, relative */
	struct fleet_one of_one[2]; /* of a trio: corunner's, second's */
};

struct fleet_base {
	uint32_t app, rank; /* rank: of its name among all */
	const struct tally *tally;
	double median, mean, deviation;
	double noise; /* deviation of its samples' performance, relative to that of the median */
	uint32_t first, n;	     /* its cells */
	uint32_t negative, positive; /* of them, no trios */
	uint32_t slowed;	     /* bases that it slows beyond the noise */
};

/* Who slows others; it need not be a base: where a call's duration is the indicator, co-runners are
 * seen, and not measured. */
struct fleet_antagonist {
	uint32_t app, rank, slowed; /* as of a base */
};

struct fleet_options {
	uint64_t min_samples; /* of a cell */
	double alpha;
	bool higher_is_better;
};

struct fleet {
	struct fleet_options options;
	const struct fleet_rows *rows; /* of one stratum, borrowed */
	struct {
		VEC(struct fleet_base)
	} bases; /* those with the most samples first */
	struct {
		VEC(struct fleet_cell)
	} cells; /* by base, class, change */
	struct {
		VEC(struct fleet_antagonist)
	} antagonists; /* those first that slow most */
	uint32_t tested, trios_tested;
};

void fleet_init(struct fleet *f, const struct fleet_rows *rows, const struct fleet_options *o);
void fleet_release(struct fleet *f);

const struct fleet_base *fleet_find(const struct fleet *f, const char *app); /* NULL: none */
const struct fleet_cell *fleet_cell_of(const struct fleet *f, const struct fleet_base *base,
				       const char *corunner, enum corunner_class class);

/*
 * What the base would gain without these co-runners (section V-A): their samples' share times their
 * median performance, taken from the median of all, over the share of the rest. Of durations the
 * performance is the inverse. Relative; NAN: nothing is left.
 */
double fleet_improvement(const struct fleet *f, const struct fleet_base *base,
			 const struct fleet_cell *const *without, unsigned n);

#endif
