/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures the cost of a probe on this machine. Empty functions of ispot itself, one for each probe
 * class and exit mechanism, are members of the recording's first set, and a child process calls
 * them in as many threads as requested. So the events, programs and rings of the recording itself
 * are measured, and nothing more is registered. The time from stamp to stamp is the inner cost (the
 * duration that an empty call shows); the time from one entry to the next is the full cost (what a
 * call adds to its caller).
 */
#ifndef ISPOT_PROBES_COST_SELFCOST_H
#define ISPOT_PROBES_COST_SELFCOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/bpf/wire.h"
#include "trace/meta/meta.h"

struct err;
struct bpfprog;
struct probeset;
struct ringbufs;

#define SELFCOST_ID_FIRST \
	WIRE_SELFCOST_FIRST /* ids of the empty functions, above every function of a target */
#define SELFCOST_ROWS_MAX 11

/*
 * Two more functions with equal code, for probes/cost/aftermath.h; the set has the first. Both call
 * work.
 */
extern void ispot_work_probed(void *ctx, void (*work)(void *ctx)),
	ispot_work_not_probed(void *ctx, void (*work)(void *ctx));

/*
 * Adds the empty functions to a set that is not created yet. markers: adds the empty blocks, too,
 * which are two more events, and the kernel takes 0.1 s to close an event. Returns 0, or -errno:
 * there will be no calibration, which -v reports.
 */
int selfcost_add(struct probeset *set, bool markers);

/*
 * Runs the child, and opens the set if it is not open. Records go into rings that nobody else reads
 * meanwhile. rows has room for SELFCOST_ROWS_MAX; *n is the number of those with at least 100
 * calls.
 */
int selfcost_measure(struct probeset *set, struct bpfprog *b, struct ringbufs *rings,
		     uint32_t threads, const char *when, struct meta_calibration *rows, size_t *n,
		     struct err *err);

#endif
