/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU time that the target has used, and how many CPUs it may use. */
#ifndef ISPOT_PROBES_RECORDING_CPUTIME_H
#define ISPOT_PROBES_RECORDING_CPUTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpus.h"

struct recording;

struct cputime {
	uint64_t at_begin_ns, at_stop_ns;	    /* the target's */
	struct cpus_time all_at_begin, all_at_stop; /* of all of the machine's CPUs */
	double usable_cpus;			    /* at the last check; NAN: unknown */
};

/* Returns the CPU time of all of the target's processes, even ended ones. */
uint64_t cputime_target_ns(const struct recording *r);
/* Called as the recording begins. Stores the time of each process, which is lost when a process
 * ends. */
void cputime_begin(struct cputime *c, const struct recording *r);
/* Called as the recording stops, before the probes are removed, which does not count. */
void cputime_note_stop(struct cputime *c, const struct recording *r);
/* Finds how many CPUs the target may use. */
void cputime_note_usable(struct cputime *c, const struct recording *r);
bool cputime_usable_is_known(const struct cputime *c);
double cputime_usable_cpus(const struct cputime *c); /* NAN: unknown */
/* Returns the target's CPU time when the recording began. */
uint64_t cputime_begin_ns(const struct cputime *c);
/* Returns how much of the target's CPU time was used since the recording began, given all. */
uint64_t cputime_since_begin_ns(const struct cputime *c, uint64_t cpu_ns);
/* Returns the target's CPU time since the recording began. */
uint64_t cputime_recorded_ns(const struct cputime *c, const struct recording *r);
/* Returns how long the machine's CPUs were busy, and how long the hypervisor ran others, from begin
 * to stop. Returns false if that is unknown. */
bool cputime_all_cpus_ns(const struct cputime *c, uint64_t *busy_ns, uint64_t *steal_ns);

#endif
