/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples by instruction of a command and everything that it starts, in user space only: branch
 * records (the last taken branches before each sample: LBR, LbrExt, BRS and BRBE), and an event
 * with the instruction at which it happened, as precisely as the machine supports (PEBS; IBS for
 * cache misses on AMD). Opening them shows what the machine has; the caller reports what is
 * missing.
 */
#ifndef ISPOT_PROBES_SAMPLE_HARDWARE_H
#define ISPOT_PROBES_SAMPLE_HARDWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "pmu/event.h"
#include "probes/ring/ring.h"

struct cpus;
struct dso;
struct dso_cache;
struct err;
struct perf_branch_entry;
struct perf_event_header;
struct spaces;

#define HARDWARE_MISSES "cache-misses" /* the default event */
#define HARDWARE_TURNS	64	       /* most turns of a sample; machines have up to 32, BRBE 64 */

/* A decoded PERF_RECORD_SAMPLE of these events. */
struct hardware_record {
	uint64_t ip, time_ns, period;
	uint32_t pid, tid;
	uint64_t n_branches;
	const struct perf_branch_entry *branches; /* newest first; points into the record */
	uint64_t source;			  /* what IBS reports about the load; 0: nothing */
};

/* The data of a sample that follows its address, thread, time and period. */
enum hardware_behind { HARDWARE_NOTHING, HARDWARE_BRANCHES, HARDWARE_SOURCE };

/* Returns false if the record is not a sample or is too short for its contents. */
bool hardware_decode(const struct perf_event_header *h, enum hardware_behind behind,
		     struct hardware_record *r);
/* Whether source is that of a load that missed the first-level cache. */
bool hardware_missed(uint64_t source);

struct hardware_place {
	const struct dso *dso;
	/* a path through which ispot can open the file; borrowed until the visit ends */
	const char *path;
	uint64_t address; /* address in the file */
};

struct hardware_turn {
	struct hardware_place from, to;
};

/* A sample. n_turns 0: the event happened at ip. */
struct hardware_sample {
	uint64_t time_ns, period;
	uint32_t tid;
	struct hardware_place ip;
	size_t n_turns;
	const struct hardware_turn *turns;
};

struct hardware_kept {
	struct hardware_record record;
	size_t first; /* index in addresses, which holds from, to, from, … */
};

struct hardware {
	struct pmu_event event;
	bool has_branches, has_event;
	int precise;		       /* the precise_ip that the kernel granted */
	enum hardware_behind of_event; /* HARDWARE_SOURCE: IBS */
	char why_no_branches[160], why_no_event[160];
	struct rings branches, events;
	struct dso_cache *dsos;
	struct spaces *spaces;
	struct {
		VEC(struct hardware_kept)
	} kept; /* records of the current reading, kept until all mappings are known */
	struct {
		VEC(uint64_t)
	} addresses;
	uint64_t unread, lost; /* malformed records; those and the records dropped by the rings */
	uint64_t unplaced;     /* samples whose code is in no file */
};

/*
 * Tries on this thread what the machine supports, and sets has_branches, has_event, precise and the
 * reasons for what is missing. event is a name for pmu_event_parse(), or NULL for HARDWARE_MISSES.
 * Fails only if the event does not exist.
 */
int hardware_check(struct hardware *h, const char *event, struct err *err);
/* Opens what hardware_check() found, for a process that waits before its exec. */
int hardware_open(struct hardware *h, const struct cpus *cpus, pid_t pid, struct err *err);
/* Visits all samples so far. The caller reads often enough that the rings do not overflow. */
void hardware_read(struct hardware *h, void (*visit)(void *ctx, const struct hardware_sample *s),
		   void *ctx);
void hardware_release(struct hardware *h);

#endif
