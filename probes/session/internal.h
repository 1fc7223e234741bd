/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole of a session, for session.c and open.c alone. The parts are given their own states and
 * struct recording, and do not see this.
 */
#ifndef ISPOT_PROBES_SESSION_INTERNAL_H
#define ISPOT_PROBES_SESSION_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"
#include "pmu/percpu.h"
#include "probes/process/ending.h"
#include "probes/process/target.h"
#include "probes/recording/addresses.h"
#include "probes/recording/after.h"
#include "probes/recording/costs.h"
#include "probes/recording/counters.h"
#include "probes/recording/cpus.h"
#include "probes/recording/cputime.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/recording/solo.h"
#include "probes/recording/stacks.h"
#include "probes/session/attach.h"
#include "probes/session/beside.h"
#include "probes/session/budget.h"
#include "probes/session/burst.h"
#include "probes/session/count.h"
#include "probes/session/follow.h"
#include "probes/session/govern.h"
#include "probes/session/hold.h"
#include "probes/session/hybrid.h"
#include "probes/session/newcomers.h"
#include "probes/session/overhead.h"
#include "probes/session/sample.h"
#include "probes/session/select.h"

struct session {
	struct session_options options;
	struct recording r;	  /* what the parts share */
	struct progress progress; /* of the preparation, then of the recording */
	bool delayed;
	bool began_at_end; /* the recording ended before the delay did */
	double cycles_per_ns;
	uint64_t last_flush_ns;
	struct pmu_percpu cycles; /* the cycle counter's event on every CPU; none without -k tsc */

	/* how it ends */
	int signal_fd;
	struct launch_inherit inherit; /* what signals and limits were before */
	struct ending ending;
	const char *reason;
	struct err write_error; /* why the file could not grow */

	/* the parts, each of which has a header: what is recorded */
	struct cputime cputime;
	struct known_cpus hotplug;
	struct recorded_counters counters;
	struct recorded_stacks stacks;
	struct recorded_addresses addresses;
	struct solo_windows solo;
	/* probes on processes */
	struct attach attach;
	struct follow follow;
	struct holds holds;
	struct burst burst;
	struct beside beside;
	struct newcomers newcomers;
	/* which functions */
	struct select select;
	struct sampling sampling;
	struct hybrid hybrid;
	struct count count;
	struct budget budget;
	/* what it costs */
	struct costs costs;
	struct after after;
	struct overhead overhead;
	struct governor governor;
};

#endif
