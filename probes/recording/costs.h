/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What probing costs: a call, a count, a context switch, a thread's birth, a sample. It is measured
 * before the recording, or known from a file.
 */
#ifndef ISPOT_PROBES_RECORDING_COSTS_H
#define ISPOT_PROBES_RECORDING_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "probes/cost/aftermath.h"
#include "probes/cost/switchcost.h"
#include "trace/meta/meta.h"

struct planned;
struct recording;
struct session_options;

#define COST_OF_COUNTING  0.5  /* of a traced call's cost: one trap instead of two, and no record */
#define COSTLIEST_CALL_NS 6000 /* of a class never measured: the highest of any */

struct costs {
	bool calibrates; /* the costs are to be measured in this recording */
	struct {
		VEC(struct meta_calibration)
	} calibrations;
	/* of a context switch and of a thread's birth, without the programs' own timed time:
	 * costs_calibrate_switches() */
	struct switchcost alone, watched, carried;
	uint32_t carriers;	    /* of a thread when the cost of carrying threads was measured */
	double sample_ns;	    /* of a sample to the thread that it interrupts; NAN: unknown */
	struct aftermath aftermath; /* of calls beyond empty ones */
};

void costs_init(struct costs *costs, const struct session_options *o);
/* Returns whether the costs are to be measured: they may be known from a file. */
bool costs_calibrates(const struct costs *costs);
/*
 * Measures the cost of the probes and writes it into the file. A failure is reported and leaves the
 * costs unknown. when: "before" or "after".
 */
void costs_calibrate(struct costs *costs, struct recording *r, const char *when, uint32_t threads);
/* Measures what calls cost beyond empty ones. */
void costs_calibrate_after(struct costs *costs, struct recording *r);
/* Returns that cost of a call, given the time between two of them and the program's memory. */
double costs_aftermath_ns(const struct costs *costs, double work_ns, double memory_bytes);
/* Returns the full cost of a call as measured here. */
double costs_call_ns(const struct costs *costs, const struct planned *p);
/* Returns the cost of a call that is only counted. */
double costs_count_ns(const struct costs *costs, const struct planned *p);
/* Passes the costs of the planned functions from index first on to --keep-slower. */
void costs_report(const struct costs *costs, struct recording *r, size_t first);
/*
 * Measures the cost of a switch. The first time is before the scheduler is watched; the others give
 * the cost beyond that and beyond the programs' own, timed time, for threads without and with
 * carriers. The last is measured again at the end if more sets have joined. The records are thrown
 * away.
 */
enum switches { SWITCHES_ALONE, SWITCHES_WATCHED, SWITCHES_CARRIED };
void costs_calibrate_switches(struct costs *costs, struct recording *r, enum switches how);
/* Returns whether threads that have carriers have more of them than when the cost was measured. */
bool costs_carries_more(const struct costs *costs, const struct recording *r, bool carried);
/* Return what recording a switch, or a thread's birth and end, costs beside their timed time.
 * carried: the threads have carriers. */
double costs_switch_ns(const struct costs *costs, bool carried);
double costs_birth_ns(const struct costs *costs, bool carried);
void costs_set_sample(struct costs *costs, double ns);
double costs_sample_ns(const struct costs *costs); /* NAN: unknown */
/* Returns the cost of samples so far. */
uint64_t costs_sampling_ns(const struct costs *costs, const struct recording *r);
/* Returns whether the calibration needs probes like those of markers. */
bool costs_needs_markers(const struct recording *r);
/* Reads the costs from the file that ISPOT_CALIBRATION names, and writes them into it. */
void costs_read(struct costs *costs, struct recording *r);
void costs_write(const struct costs *costs, const struct recording *r);
void costs_release(struct costs *costs);

#endif
