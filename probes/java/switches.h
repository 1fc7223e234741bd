/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scheduler's records of Java programs: the same records, by the same BPF programs, as
 * recordings of native programs have, without any probe. They take root; other users record without
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
	struct wire_totals before, after; /* after: once it has stopped */
	struct switchcost cost;		  /* of a switch, and of a thread's birth and end */
	bool begun;
};

/* Nothing of the program is watched yet. -EPERM, -ENOTSUP: this ispot, or kernel, cannot. */
int java_switches_open(struct java_switches *k, struct err *err);
/* CPUs that the file has records of; 0: nothing is recorded. */
uint32_t java_switches_cpus(const struct java_switches *k);
void java_switches_begin(struct java_switches *k, struct trace_writer *w);
/* A running process, and the lines of its threads; or a command that is about to execute, and is
 * recorded from then on. 0 or -errno. */
int java_switches_watch(struct java_switches *k, pid_t pid, bool is_command);
/* 0, or the writer's error. */
int java_switches_drain(struct java_switches *k);
/* All that was recorded is in the file, with its losses and the names of who had CPUs. */
void java_switches_end(struct java_switches *k, uint64_t now_ns);
/* Returns what these records have cost the program; 0 where nothing is recorded. */
uint64_t java_switches_cost_ns(const struct java_switches *k);
void java_switches_release(struct java_switches *k);

#endif
