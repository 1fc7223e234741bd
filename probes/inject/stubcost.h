/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures what timing a call in process costs: runs the stubs' code on an empty function. */
#ifndef ISPOT_PROBES_INJECT_STUBCOST_H
#define ISPOT_PROBES_INJECT_STUBCOST_H

struct meta_calibration;

#define STUBCOST_UNKNOWN_WORDS                                                                  \
	"what of the stubs' own cost is inside of a duration could not be measured, so floors " \
	"are n/a"

/* Takes some milliseconds. *passed_ns: of a call whose turn it is not, where one in several is
 * recorded. 0, or -errno: this process may have no memory that it writes and runs. */
int stubcost_measure(struct meta_calibration *cost, double *passed_ns);

#endif
