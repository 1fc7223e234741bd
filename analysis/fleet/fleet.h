/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which applications slow which others in a fleet (the paper of corunner.h, sections IV-E and V).
 * For each base: its median beside every co-runner, and the distance of that from the base's median
 * over all of its samples, in standard deviations of those samples. A co-runner beyond one
 * deviation is a beyond-noisy interferer if the contrast (rows.h) shows that it is not chance. All
 * cells that have enough samples are tested at once, so q is p corrected after Benjamini and
 * Hochberg: of the cells with q <= alpha, a share of alpha is wrong. Trios are corrected apart from
 * pairs. A trio must also have a larger effect than each of its co-runners alone, and than other
 * trios that share a co-runner with it.
 */
#ifndef ISPOT_ANALYSIS_FLEET_FLEET_H
#define ISPOT_ANALYSIS_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/fleet/rows.h"

enum fleet_effect {
	FLEET_TOO_FEW,	   /* too few samples for a verdict */
	FLEET_WITHIN,	   /* within the noise */
	FLEET_NOT_CERTAIN, /* beyond the noise, but maybe by chance or due to the machines */
	FLEET_NEGATIVE,	   /* slows the base beyond the noise */
	FLEET_POSITIVE,
};

extern const char *const fleet_effect_names[];

/* The base's samples beside one co-runner of a trio while the other co-runner was not near. */
struct fleet_one {
	uint64_t samples;
	double median, change, deviations; /* as in fleet_cell; NAN: too few samples */
};

struct fleet_cell {
	uint32_t base, corunner; /* numbers in the rows' apps */
	uint32_t second;	 /* a trio's other co-runner; in a pair the same as corunner */
	enum corunner_class class;
	enum fleet_effect effect;
	const struct tally *tally;
	uint64_t blocks; /* blocks that the contrast was computed from */
	double share;	 /* share of the base's samples */
	double median;
	double change;	    /* relative change of performance against the base's median; < 0:
			     * slower */
	double deviations;  /* change in units of the base's noise */
	double contrast;    /* change against the base's other samples of the same blocks; NAN:
			     * none */
	double p, q;	    /* NAN: too little data for a test */
	double improvement; /* relative gain of the base if it never ran beside this co-runner */
	struct fleet_one of_one[2]; /* only of a trio: for corunner and for second */
};

struct fleet_base {
	uint32_t app, rank; /* rank: of its name in alphabetical order */
	const struct tally *tally;
	double median, mean, deviation;
	double noise;	   /* standard deviation of its samples' performance, relative to the
			    * performance at its median */
	uint32_t first, n; /* its range in fleet.cells */
	uint32_t negative, positive; /* pairs with this effect */
	uint32_t slowed;	     /* bases that this application slows beyond the noise */
};

/* An application that slows others. It need not be a base: if the indicator is the duration of a
 * call, co-runners are seen but not measured. */
struct fleet_antagonist {
	uint32_t app, rank, slowed; /* as in fleet_base */
};

struct fleet_options {
	uint64_t min_samples; /* a cell with fewer gets no verdict */
	double alpha;
	bool higher_is_better;
};

struct fleet {
	struct fleet_options options;
	const struct fleet_rows *rows; /* rows of one stratum, borrowed */
	struct {
		VEC(struct fleet_base)
	} bases; /* the one with the most samples first */
	struct {
		VEC(struct fleet_cell)
	} cells; /* ordered by base, class, change */
	struct {
		VEC(struct fleet_antagonist)
	} antagonists; /* the one that slows most bases first */
	uint32_t tested, trios_tested;
};

void fleet_init(struct fleet *f, const struct fleet_rows *rows, const struct fleet_options *o);
void fleet_release(struct fleet *f);

const struct fleet_base *fleet_find(const struct fleet *f, const char *app); /* NULL: none */
const struct fleet_cell *fleet_cell_of(const struct fleet *f, const struct fleet_base *base,
				       const char *corunner, enum corunner_class class);

/*
 * Returns what the base would gain without these co-runners (section V-A). The samples beside them
 * are taken out of the base: their share times their median performance is subtracted from the
 * performance at the base's median, and the rest is divided by the share of the other samples. For
 * durations, performance is the inverse of the duration. Relative; NAN: no other samples.
 */
double fleet_improvement(const struct fleet *f, const struct fleet_base *base,
			 const struct fleet_cell *const *without, unsigned n);

#endif
