/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of a session, for the files of this folder only: the state and the functions of each
 * file, and at the end the session that contains them all.
 */
#ifndef ISPOT_PROBES_SESSION_INTERNAL_H
#define ISPOT_PROBES_SESSION_INTERNAL_H

#include "base/cpus.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "pmu/group.h"
#include "pmu/percpu.h"
#include "probes/cost/aftermath.h"
#include "probes/bpf/wire.h"
#include "probes/kernel/bpfprog.h"
#include "probes/drain/drain.h"
#include "probes/process/ending.h"
#include "probes/place/exitmech.h"
#include "probes/place/plan.h"
#include "probes/place/probeset.h"
#include "probes/sample/profile.h"
#include "probes/ring/ring.h"
#include "probes/ring/ringbuf.h"
#include "probes/sample/sample.h"
#include "probes/select/select.h"
#include "probes/process/solo.h"
#include "probes/process/spaces.h"
#include "probes/recording/cputime.h"
#include "probes/recording/meta.h"
#include "probes/recording/objects.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/recording/addresses.h"
#include "probes/recording/stacks.h"
#include "probes/recording/counters.h"
#include "probes/recording/solo.h"
#include "probes/recording/costs.h"
#include "probes/recording/after.h"
#include "probes/recording/mappings.h"
#include "probes/recording/cpus.h"
#include "probes/session/follow.h"
#include "probes/session/hold.h"
#include "probes/session/attach.h"
#include "probes/session/burst.h"
#include "probes/session/set.h"
#include "probes/session/choose.h"
#include "probes/session/sample.h"
#include "probes/session/budget.h"
#include "probes/session/again.h"
#include "probes/session/count.h"
#include "probes/session/beside.h"
#include "probes/session/newcomers.h"
#include "probes/session/select.h"
#include "probes/session/hybrid.h"
#include "probes/session/overhead.h"
#include "probes/session/engine.h"
#include "probes/recording/options.h"
#include "probes/cost/switchcost.h"
#include "probes/process/target.h"
#include "trace/meta/meta.h"

#define DRAIN_INTERVAL_MS 100
#define STACK_PERIOD	  10000 /* calls of a function on a CPU between two stacks: the paper's N */

struct session;

/* ---- open.c ---- */

/* Adds advice to an error if no descriptor was left. Callers add none. */
void session_report_descriptors(int code, struct err *err);
/* Returns -EMFILE if a running recording could not open its files, which would fail silently in
 * places. */
int session_need_descriptors(struct err *err);

/* ---- the whole ---- */

struct session {
	struct session_options options;
	struct recording r;
	struct progress progress; /* of the preparation, then of the recording */
	bool delayed;
	bool began_at_end; /* the recording ended before the delay did */
	double cycles_per_ns;
	struct session_cpus cpus;

	/* what to probe */
	struct pmu_percpu cycles; /* the cycle counter's event on every CPU; none without -k tsc */

	/* the target's */
	struct launch_inherit inherit;
	int signal_fd;
	struct ending ending;

	uint64_t last_flush_ns;
	const char *reason;
	struct err write_error; /* why the file could not grow */

	/* the parts' own states */
	struct hybrid hybrid;
	struct sampling sampling;
	struct count count;
	struct budget budget;
	struct cputime cputime;
	struct costs costs;
	struct overhead overhead;
	struct after after;
	struct session_counters counters;
	struct session_stacks stacks;
	struct session_addresses addresses;
	struct burst burst;
	struct session_solo solo;
	struct select select;
	struct attach attach;
	struct beside beside;
	struct newcomers newcomers;
	struct follow follow;
	struct holds holds;
};

#endif
