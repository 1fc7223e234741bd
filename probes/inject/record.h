/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An in-process recording: functions of programs are patched in memory, at their entry and at their
 * exits, and threads write their own records (stub.h), which takes tens of nanoseconds per call.
 * The recorder needs no privilege except to be the program's user or root. Only x86-64 and aarch64
 * are supported.
 *
 * This folder has the code that records (stub, blob), stops a process and makes it map memory
 * (tracee, injection), applies patches and removes them (patched, sweep), refuses what cannot be
 * patched (refusal), and runs the recording. probes/patch finds where functions can be patched; the
 * rings are those of probes/inproc. Only src/cmd/record calls this folder.
 */
#ifndef ISPOT_PROBES_INJECT_RECORD_H
#define ISPOT_PROBES_INJECT_RECORD_H

#include <stdbool.h>

struct err;
struct session_options;
struct session_result;

/* Returns whether this machine supports it: an x86-64 with a stable TSC, or an aarch64. */
bool inject_is_possible(void);
/* Records until the recording ends. */
int inject_record(const struct session_options *o, struct session_result *result, struct err *err);

#endif
