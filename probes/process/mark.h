/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes with jumps that ispot has patched into their code (probes/inject), which a mark in
 * their memory shows. The kernel's probes break such code: what they write over the first byte of a
 * jump, and what they execute after it, comes from the file.
 */
#ifndef ISPOT_PROBES_PROCESS_MARK_H
#define ISPOT_PROBES_PROCESS_MARK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MARK_MAGIC 0x3267616e65727669ull

/* The mark, at the start of executable memory that belongs to no file. */
struct patched_mark {
	uint8_t jump[8];
	uint64_t magic;
	uint64_t recorder; /* process of the recorder; 0: the patches have been removed */
	/* from target_start_ticks(), to check that the recorder is alive */
	uint64_t recorder_start;
};

/* Whether a process has patched jumps. Also false for a process that the user may not inspect. */
bool process_is_patched(pid_t pid);

#endif
