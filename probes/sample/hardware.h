/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples by instruction of a command and all that it starts: branch records (the last taken
 * branches before each sample: LBR, LbrExt and BRS, BRBE), and an event with the instruction at
 * which it happened, as exactly as the machine tells (PEBS; IBS for cache misses of AMD's). Only
 * user space. Which of these the machine has is found by opening them; what it lacks is said.
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

#define HARDWARE_MISSES "cache-misses" /* the event, unless another is asked for */
#define HARDWARE_TURNS	64	       /* of a sample; machines have up to 32, BRBE 64 */

/* A PERF_RECORD_SAMPLE of these events. */
struct hardware_record {
	uint64_t ip, time_ns, period;
	uint32_t pid, tid;
	uint64_t n_branches;
	const struct perf_branch_entry *branches; /* the newest first; in the record */
	uint64_t source;			  /* what IBS tells of the load; 0: nothing */
};

/* The data of a sample behind its address, thread, time and period. */
enum hardware_behind { HARDWARE_NOTHING, HARDWARE_BRANCHES, HARDWARE_SOURCE };

/* False: the record is malformed, too short for what it says it has. */
bool hardware_decode(const struct perf_event_header *h, enum hardware_behind behind,
		     struct hardware_record *r);
/* A load that no first-level cache had, by that source. */
bool hardware_missed(uint64_t source);

struct hardware_place {
	const struct dso *dso;
	const char *path; /* opens the file from here; borrowed until the visit ends */
	uint64_t address; /* in the file's terms */
};

struct hardware_turn {
	struct hardware_place from, to;
};

/* n_turns 0: the event happened at ip. */
struct hardware_sample {
	uint64_t time_ns, period;
	uint32_t tid;
	struct hardware_place ip;
	size_t n_turns;
	const struct hardware_turn *turns;
};

struct hardware_kept {
	struct hardware_record record;
	size_t first; /* of addresses: from, to, … */
};

struct hardware {
	struct pmu_event event;
	bool has_branches, has_event;
	int precise;		       /* the precise_ip that was granted */
	enum hardware_behind of_event; /* HARDWARE_SOURCE: IBS */
	char why_no_branches[160], why_no_event[160];
	struct rings branches, events;
	struct dso_cache *dsos;
	struct spaces *spaces;
	struct {
		VEC(struct hardware_kept)
	} kept; /* of the present reading, until all mappings are known */
	struct {
		VEC(uint64_t)
	} addresses;
	uint64_t unread, lost; /* records that are not as expected; those and what found no room */
	uint64_t unplaced;     /* samples whose code is in no file */
};

/*
 * Tries on this thread what the machine has: has_branches, has_event, precise and why not. event:
 * as pmu_event_parse() takes it, NULL: HARDWARE_MISSES. An error only where the event does not
 * exist.
 */
int hardware_look(struct hardware *h, const char *event, struct err *err);
/* Opens what hardware_look() found, on a process that is held before its exec. */
int hardware_open(struct hardware *h, const struct cpus *cpus, pid_t pid, struct err *err);
/* Everything that is there; often enough, for the rings are not endless. */
void hardware_read(struct hardware *h, void (*visit)(void *ctx, const struct hardware_sample *s),
		   void *ctx);
void hardware_release(struct hardware *h);

#endif
