/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The probe mechanisms that this machine and user can use, and the known faults of the kernel, for
 * `ispot list`. Nothing is created, mounted or cleaned up: tracefs is only looked at, and the
 * recorder's BPF programs are loaded and unloaded again.
 */
#ifndef ISPOT_PROBES_INSPECT_SUPPORT_H
#define ISPOT_PROBES_INSPECT_SUPPORT_H

#include <stdbool.h>

#include "base/vec.h"

enum support_state {
	SUPPORT_YES,
	SUPPORT_NO,
	SUPPORT_NOTE, /* works, with a flaw that detail names */
};

struct support {
	const char *name; /* a static string such as "tracefs" */
	enum support_state state;
	char detail[240]; /* a clause: where, or why not and what to do */
};

struct support_list {
	VEC(struct support)
};

/* Appends the mechanisms in the order in which recording needs them. */
void support_mechanisms(struct support_list *list);
/* Appends the known faults of a kernel (version as KERNEL_VERSION(); design facts 1, 6, 8, 12). */
void support_kernel(struct support_list *list, unsigned kernel_version, bool x86);

#endif
