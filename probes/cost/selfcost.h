/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a probe here and now: empty functions of ispot itself, one per probe class and exit
 * mechanism, are members of the recording's first set, and a child process calls them in as many
 * threads as asked for. So the very events, programs and rings of the recording are measured,
 * without registering anything more. From stamp to stamp is the inner cost (the duration that an
 * empty call shows), from entry to next entry the full cost (the time that a call adds to its
 * caller).
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
	WIRE_SELFCOST_FIRST /* ids of its functions; above every function of a target */
#define SELFCOST_ROWS_MAX 11

/* Two more that are alike, for probes/cost/aftermath.h; the set has the first. They do the work. */
extern void ispot_work_probed(void *ctx, void (*work)(void *ctx)),
	ispot_work_not_probed(void *ctx, void (*work)(void *ctx));

/*
 * Adds the empty functions to a set that is not created yet, with markers also the empty blocks:
 * these are two events more, and the kernel takes 0.1 s to close one. 0, or -errno: no calibration
 * (said in -v).
 */
int selfcost_add(struct probeset *set, bool markers);

/*
 * Runs the child on an opened or not yet opened set, with records going into rings that nobody
 * else reads meanwhile. rows: SELFCOST_ROWS_MAX; *n: how many have at least 100 calls.
 */
int selfcost_measure(struct probeset *set, struct bpfprog *b, struct ringbufs *rings,
		     uint32_t threads, const char *when, struct meta_calibration *rows, size_t *n,
		     struct err *err);

#endif
