/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An in-process recording: functions of programs are patched in memory, at their entry and at their
 * exits, and threads write their own records (stub.h), which takes tens of nanoseconds per call.
 * The recorder needs no privilege except to be the program's user or root. Only x86-64 is supported
 * so far.
 *
 * This folder has the code that records (stub, blob), stops a process and makes it map memory
 * (tracee, injection), applies patches and removes them (patched, sweep), refuses what cannot be
 * patched (refusal), and runs the recording. probes/patch finds where functions can be patched; the
 * rings are those of probes/inproc. Only src/cmd/record calls this folder.
 */
#ifndef ISPOT_PROBES_INJECT_RECORD_H
#define ISPOT_PROBES_INJECT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct identity;

struct inject_recording {
	const char *const *patterns;
	size_t n_patterns;
	char *const *argv; /* the command; NULL: none */
	const pid_t *pids; /* running processes */
	size_t n_pids;
	const char *output, *command, *options, *version;
	const struct identity *user;	 /* user of the command; NULL: ispot's own */
	uint64_t max_bytes, duration_ns; /* 0: no limit */
	uint64_t ring_bytes;		 /* bytes per thread; 0: the default */
	uint32_t period;		 /* one call in this many is recorded; 0, 1: every call */
	double overhead;	 /* without -F: share of the program's time that calls may cost */
	uint64_t keep_slower_ns; /* shorter calls are only summed up; 0: all calls are written */
};

struct inject_result {
	uint64_t calls, lost, file_bytes, functions;
	int exit_status;
	const char *reason;
};

/* Returns whether this machine supports it: an x86-64 with a stable TSC. */
bool inject_is_possible(void);
/* Records until the recording ends. */
int inject_record(const struct inject_recording *o, struct inject_result *result, struct err *err);

#endif
