/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scheduler records for Java programs: the same records, from the same BPF programs, as in
 * recordings of native programs, but without any probe. They need root; other users record without
 * them.
 */
#ifndef ISPOT_PROBES_JAVA_SWITCHES_H
#define ISPOT_PROBES_JAVA_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpus.h"
#include "probes/bpf/wire.h"
#include "probes/cost/switchcost.h"
#include "probes/drain/drain.h"
#include "probes/ring/ringbuf.h"

struct bpfprog;
struct err;
struct trace_writer;

struct java_switches {
	struct bpfprog *programs; /* NULL: nothing is recorded */
	struct ringbufs rings;
	struct cpus cpus;
	struct drain drain;
	struct wire_totals before, after; /* after: set when it has stopped */
	struct switchcost cost;		  /* of a switch, and of a thread's start and end */
	bool begun;
};

/*
 * Loads the BPF programs, without watching any process yet. -EPERM, -ENOTSUP: this user, ispot or
 * kernel cannot record switches.
 */
int java_switches_open(struct java_switches *k, struct err *err);
/* Returns the number of CPUs that have records in the file, or 0 if nothing is recorded. */
uint32_t java_switches_cpus(const struct java_switches *k);
void java_switches_begin(struct java_switches *k, struct trace_writer *w);
/*
 * Watches a running process, and writes the lines of its threads; or watches a command that is
 * about to execute. Returns 0 or -errno.
 */
int java_switches_watch(struct java_switches *k, pid_t pid, bool is_command);
/* Returns 0 or the writer's error. */
int java_switches_drain(struct java_switches *k);
/* Writes everything that was recorded, with losses and the names of the processes that had CPUs. */
void java_switches_end(struct java_switches *k, uint64_t now_ns);
/* Returns what these records have cost the program in ns, or 0 if nothing is recorded. */
uint64_t java_switches_cost_ns(const struct java_switches *k);
void java_switches_release(struct java_switches *k);

#endif
