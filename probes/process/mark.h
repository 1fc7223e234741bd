/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes into whose code ispot has patched jumps (probes/inject), told by a mark in their
 * memory. The kernel's probes break such code: what they write over a jump's first byte, and what
 * they continue with behind it, are those of the file.
 */
#ifndef ISPOT_PROBES_PROCESS_MARK_H
#define ISPOT_PROBES_PROCESS_MARK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MARK_MAGIC 0x3267616e65727669ull

/* At the start of executable memory that is of no file. */
struct patched_mark {
	uint8_t jump[8];
	uint64_t magic;
	uint64_t recorder;	 /* its process; 0: the patches are out again */
	uint64_t recorder_start; /* as target_start_ticks() says, so that it is known to live */
};

/* Whether some are in. False of a process that is not the user's to look at, too. */
bool process_is_patched(pid_t pid);

#endif
