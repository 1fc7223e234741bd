/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording in process: functions of programs are patched in memory, at their entry and at their
 * exits, and threads write their own records (stub.h), tens of nanoseconds a call. That takes no
 * privilege but to be the program's user or root. x86-64 alone so far.
 *
 * This folder: the code that records (stub, blob), stopping a process and making it map memory
 * (tracee, injection), putting patches in and taking them out (patched, sweep), what is refused
 * (refusal), and the recording. Where functions can be patched probes/patch says; the rings are
 * those of probes/inproc. It is called by src/cmd/record alone.
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
	const struct identity *user;	 /* whom the command runs as; NULL: as ispot does */
	uint64_t max_bytes, duration_ns; /* 0: no bound */
	uint64_t ring_bytes;		 /* of a thread; 0: the default */
	uint32_t period;		 /* one call in so many is recorded; 0, 1: each */
	double overhead; /* without -F: the part of the program's time that calls may cost */
	uint64_t keep_slower_ns; /* shorter calls are summed up; 0: all are written */
};

struct inject_result {
	uint64_t calls, lost, file_bytes, functions;
	int exit_status;
	const char *reason;
};

/* Whether this machine can: an x86-64 with a stable TSC. */
bool inject_is_possible(void);
/* Runs to the end. */
int inject_record(const struct inject_recording *o, struct inject_result *result, struct err *err);

#endif
