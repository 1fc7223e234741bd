/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures what timing a call in process costs, by running the stubs' code on an empty function. */
#ifndef ISPOT_PROBES_INJECT_STUBCOST_H
#define ISPOT_PROBES_INJECT_STUBCOST_H

#include "trace/meta/meta.h"

#define STUBCOST_UNKNOWN_WORDS                                                                  \
	"what of the stubs' own cost is inside of a duration could not be measured, so floors " \
	"are n/a"

struct stubcost {
	struct meta_calibration call; /* calls 0: not measured */
	double passed_ns;	      /* of a call that is not recorded if one in several is */
	double values_ns;	      /* what a call costs more if an argument is recorded */
	/* The additional cost of the first record in each page of a ring, which is high in virtual
	 * machines; 0: not measured. */
	double page_ns;
	double cycles_per_ns; /* of the clock; 0: the others are not measured, either */
};

/* Takes some milliseconds. Returns 0, or -errno, for example if this process may not execute memory
 * that it has written; then only page_ns is set. */
int stubcost_measure(struct stubcost *cost);

#endif
