/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forward selection: which of many columns explain y, and how much each explains. The column that
 * explains most of the remaining variance enters, as long as the F test rejects chance. If two
 * columns explain the same, the one that grows with y enters. LIME paper, section 3.5.
 */
#ifndef ISPOT_ANALYSIS_STAT_REGRESSION_H
#define ISPOT_ANALYSIS_STAT_REGRESSION_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define REGRESSION_LEVEL 0.05  /* of the F test; the paper does not give its level */
#define REGRESSION_OWN	 1e-10 /* a column with less of its own is a rounding error of others */

struct regression_term {
	uint32_t column;
	double f, p; /* of its F test when it entered; f INFINITY: no variance was left */
	/*
	 * standardized coefficient in the final model: standard deviations of y for each standard
	 * deviation of the column
	 */
	double beta;
};

struct regression {
	double r2; /* share of y's variance that the model explains; 0: no column entered */
	struct {
		VEC(struct regression_term)
	} terms; /* in the order in which they entered */
};

/*
 * x is indexed by [column * n + i]. No column enters if y is constant, and at most n - 2 columns
 * enter, because the test needs at least one degree of freedom. A column never enters if it is
 * constant, or if a share of at most own of its variance is left without the parts of the columns
 * that entered.
 */
void regression_select(struct regression *g, const double *x, uint32_t columns, const double *y,
		       size_t n, double level, double own);
void regression_release(struct regression *g);

#endif
