/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records when the threads of a user's own processes had a CPU, without root. It uses the kernel's
 * records of their context switches, births and ends (perf_event_open(2), attr.context_switch), if
 * kernel.perf_event_paranoid allows users these. They show whether a thread blocked or was
 * preempted and when it ran again, but not which thread woke it, nor which had the CPU meanwhile.
 */
#ifndef ISPOT_PROBES_INJECT_OWNSWITCHES_H
#define ISPOT_PROBES_INJECT_OWNSWITCHES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpus.h"
#include "base/vec.h"
#include "probes/ring/ring.h"

struct err;
struct trace_writer;

struct ownswitches {
	struct cpus cpus;
	struct rings rings; /* empty: no thread is watched */
	struct {
		VEC(int)
	} others; /* descriptors of further threads' events, which write into the same rings */
	struct ownswitches_ring {
		uint64_t last_ns; /* time of the ring's newest record */
		uint64_t lost;	  /* lost records that are already written to the file */
	} * of_ring;
	struct trace_writer *writer;
	uint64_t lost;
	bool is_possible;
};

/* Returns 0 if this user may have such records, or -errno with the reason in err. */
int ownswitches_open(struct ownswitches *k, struct err *err);
/* Returns the number of CPUs for which the file has records, or 0 if nothing is recorded. */
uint32_t ownswitches_cpus(const struct ownswitches *k);
/* Called while the threads of the process are stopped. Threads and processes that they start are
 * recorded, too. On -errno nothing is recorded any more. */
int ownswitches_watch(struct ownswitches *k, pid_t pid, struct trace_writer *w, struct err *err);
/* Writes the records in the rings to the file. Returns 0, or the writer's error. */
int ownswitches_drain(struct ownswitches *k);
void ownswitches_release(struct ownswitches *k);

#endif
