/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the threads of a user's own processes had a CPU, without root: the kernel's records of their
 * context switches, births and ends (perf_event_open(2), attr.context_switch), where
 * kernel.perf_event_paranoid allows users these. They say whether a thread blocked or was preempted
 * and when it ran again; not who woke it, nor who had the CPU meanwhile.
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
	struct rings rings; /* none: nothing is watched */
	struct {
		VEC(int)
	} others; /* events of further threads, which write into the same rings */
	struct ownswitches_ring {
		uint64_t last_ns; /* of its newest record */
		uint64_t lost;	  /* records that the file says are lost */
	} * of_ring;
	struct trace_writer *writer;
	uint64_t lost;
	bool is_possible;
};

/* Asks whether this user may have such records. -errno: why not. */
int ownswitches_open(struct ownswitches *k, struct err *err);
/* CPUs that the file has records of; 0: nothing is recorded. */
uint32_t ownswitches_cpus(const struct ownswitches *k);
/*
 * The threads of the process stand; threads and processes that they start are recorded, too.
 * -errno: nothing is recorded any more.
 */
int ownswitches_watch(struct ownswitches *k, pid_t pid, struct trace_writer *w, struct err *err);
/* Writes what the rings have into the file. 0, or the writer's error. */
int ownswitches_drain(struct ownswitches *k);
void ownswitches_release(struct ownswitches *k);

#endif
