/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes beside the program that take CPUs from it: their names, read when one is first seen,
 * as it may be gone at the end. The first DRAIN_TAKERS_MAX; the analysis knows all by their number.
 */
#ifndef ISPOT_PROBES_DRAIN_TAKERS_H
#define ISPOT_PROBES_DRAIN_TAKERS_H

#include <stddef.h>
#include <sys/types.h>

#define DRAIN_TAKERS_MAX 64

struct drain_takers {
	size_t n;
	struct drain_taker {
		pid_t pid;
		char comm[32]; /* "": it was gone already */
	} all[DRAIN_TAKERS_MAX];
};

void drain_taker(struct drain_takers *t, pid_t pid);

#endif
