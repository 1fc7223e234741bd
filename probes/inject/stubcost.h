/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures what timing a call in process costs, by running the stubs' code on an empty function. */
#ifndef ISPOT_PROBES_INJECT_STUBCOST_H
#define ISPOT_PROBES_INJECT_STUBCOST_H

struct meta_calibration;

#define STUBCOST_UNKNOWN_WORDS                                                                  \
	"what of the stubs' own cost is inside of a duration could not be measured, so floors " \
	"are n/a"

/* Takes some milliseconds. *passed_ns: cost of a call that is not recorded if one in several is.
 * Returns 0, or -errno, for example if this process may not execute memory that it has written. */
int stubcost_measure(struct meta_calibration *cost, double *passed_ns);
/* Returns what the first record in a page of a ring costs more than others, or 0 if that could not
 * be measured. It is most in virtual machines. */
double stubcost_page_ns(void);

#endif
