/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of a recording share: its options and times, the kernel's side, the file, and what
 * is probed. Each part has a state of its own beside this, in the header of its name, which only
 * its own functions read and change.
 *
 * This folder has the parts that need none of probes/session: they describe what is recorded and
 * write it into the file. probes/session puts probes onto processes, chooses functions, and runs
 * the loop.
 */
#ifndef ISPOT_PROBES_RECORDING_RECORDING_H
#define ISPOT_PROBES_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpus.h"
#include "base/text.h"
#include "base/vec.h"
#include "probes/bpf/wire.h"
#include "probes/drain/drain.h"
#include "probes/kernel/bpfprog.h"
#include "probes/place/plan.h"
#include "probes/place/probeset.h"
#include "probes/process/spaces.h"
#include "probes/process/target.h"
#include "probes/recording/objects.h"
#include "probes/ring/ring.h"
#include "probes/ring/ringbuf.h"

struct dynevent_session;
struct patterns;
struct session_options;
struct trace_writer;

#define STACK_COPY_BYTES 8192

/* Sets of probes, each of which is opened and closed as a whole; the index is the set's id. */
struct probesets {
	VEC(struct probeset)
	bool calibrated;   /* the first has the empty functions of the calibration */
	size_t empties;	   /* the set that has them now */
	uint32_t n_probed; /* functions in all of them */
};

struct recording {
	const struct session_options *options;
	struct patterns *patterns; /* of -F */
	bool is_hybrid;		   /* without -F: ispot chooses the functions */
	unsigned kernel_version;   /* KERNEL_VERSION() */

	uint64_t open_ns;  /* when all was ready to record */
	uint64_t start_ns; /* when the recording began */
	bool begun, stopped;
	bool has_whole_budget;	/* no function is timed in the processes, as was planned */
	bool is_between_bursts; /* the probes are off the targets until the next burst */

	/* what is recorded */
	struct launch launch; /* the command */
	struct cpus cpus;     /* online at the last check */
	struct spaces spaces;
	struct objects objects;
	struct plan plan; /* of the chosen functions; the index is the function's id in the file */
	struct probesets sets;

	/* the kernel's side */
	struct dynevent_session *dynevents;
	struct bpfprog *programs;
	struct ringbufs rings;
	struct rings mappings; /* executable mappings of all processes */
	struct drain drain;
	struct wire_totals totals_at_start, totals_at_stop; /* without the calibration's */

	struct trace_writer *writer;
	struct text pending; /* meta lines from before the beginning */
	struct {
		uint32_t sets; /* now on, that have functions */
		uint64_t ns, since_ns;
	} probed; /* how long any function has had probes */
};

/* Returns what the BPF programs have counted so far. */
struct wire_totals recording_totals(const struct recording *r);
/* Returns whether uprobe sessions time the functions that allow it (usession.h). */
static inline bool recording_has_uprobe_sessions(const struct recording *r)
{
	return bpfprog_session(r->programs) >= 0;
}

/* Returns the budget of kernel probes: a share of the target's CPU time; 0: no limit. */
double recording_budget(const struct recording *r);

/* Returns whether the set has probes on the target: without -F, the first has only ispot's own. */
static inline bool recording_is_on_targets(const struct recording *r, size_t k)
{
	return k || !r->is_hybrid || !r->sets.calibrated;
}

#endif
