/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/switching.h"

#include <math.h>

#include "analysis/threads/threads.h"

#define COLLINEAR 1e-6 /* of the determinant: below it nothing distinguishes the two */

void switching_add_switches(struct switching *s, double y, const struct offcpu *own_off)
{
	const double x[2] = { (double)own_off->sleeps, (double)own_off->wakes };

	s->x0x1 += x[0] * x[1];
	for (unsigned i = 0; i < 2; i++) {
		s->x[i] += x[i];
		s->xx[i] += x[i] * x[i];
		s->xy[i] += x[i] * y;
	}
}

static double believed(double slope, double variance)
{
	if (!(slope > SWITCHING_SURE * sqrt(variance)))
		return 0;
	return slope < SWITCHING_NS_MAX ? slope : SWITCHING_NS_MAX;
}

/*
 * Fits a line if one of the two does not vary, or both vary together: the line of the other, or of
 * the first.
 */
static double line(double xx, double xy, double yy, double n)
{
	double slope = xy / xx;

	return believed(slope, (yy - slope * xy) / (n - 2) / xx);
}

struct switching_cost switching_cost(const struct switching *s)
{
	const double n = s->n, yy = s->yy - s->y * s->y / n;
	double xx[2], xy[2], both = s->x0x1 - s->x[0] * s->x[1] / n, det, slope[2], left;

	if (n < 4)
		return (struct switching_cost){ 0 };
	for (unsigned i = 0; i < 2; i++) {
		xx[i] = s->xx[i] - s->x[i] * s->x[i] / n;
		xy[i] = s->xy[i] - s->x[i] * s->y / n;
	}
	det = xx[0] * xx[1] - both * both;
	if (!(det > COLLINEAR * xx[0] * xx[1])) {
		bool slept = xx[0] > 0;
		double ns = xx[!slept] > 0 ? line(xx[!slept], xy[!slept], yy, n) : 0;

		return slept ? (struct switching_cost){ .sleep_ns = ns }
			     : (struct switching_cost){ .wake_ns = ns };
	}
	slope[0] = (xy[0] * xx[1] - xy[1] * both) / det;
	slope[1] = (xy[1] * xx[0] - xy[0] * both) / det;
	left = (yy - slope[0] * xy[0] - slope[1] * xy[1]) / (n - 3);
	return (struct switching_cost){ .sleep_ns = believed(slope[0], left * xx[1] / det),
					.wake_ns = believed(slope[1], left * xx[0] / det) };
}
