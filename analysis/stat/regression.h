/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of many columns explain y, and how much each: forward selection. The column that explains
 * most of what the ones before it left enters, as long as the F test says that this is not chance;
 * of two that explain the same, the one that grows with y. LIME paper, section 3.5.
 */
#ifndef ISPOT_ANALYSIS_STAT_REGRESSION_H
#define ISPOT_ANALYSIS_STAT_REGRESSION_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define REGRESSION_LEVEL 0.05  /* of the F test; the paper does not say its own */
#define REGRESSION_OWN	 1e-10 /* with less of its own a column is rounding of the others */

struct regression_term {
	uint32_t column;
	double f, p; /* of its F test when it entered; f INFINITY: it left nothing */
	double beta; /* standardised coefficient in the final model: standard deviations of y for
			each of the column's */
};

struct regression {
	double r2; /* share of y's variance that the model explains; 0: no column entered */
	struct {
		VEC(struct regression_term)
	} terms; /* in the order in which they entered */
};

/*
 * x[column * n + i]. No column enters where y is constant, and none more than n - 2, because the
 * test needs a value that is not used up. Constant columns never enter, nor do those of whose
 * variation a smaller share than own is left when the parts of the entered ones are taken out.
 */
void regression_select(struct regression *g, const double *x, uint32_t columns, const double *y,
		       size_t n, double level, double own);
void regression_release(struct regression *g);

#endif
