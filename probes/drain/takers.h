/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Other processes that take CPUs from the program. Their names are read when they are first seen,
 * because they may be gone at the end. Only the first DRAIN_TAKERS_MAX have names; the analysis
 * knows all of them by number.
 */
#ifndef ISPOT_PROBES_DRAIN_TAKERS_H
#define ISPOT_PROBES_DRAIN_TAKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct text;

#define DRAIN_TAKERS_MAX 64

struct drain_takers {
	size_t n;
	struct drain_taker {
		pid_t pid;
		char comm[32]; /* "": the process was gone already */
		bool kernel;   /* a thread of the kernel */
	} all[DRAIN_TAKERS_MAX];
};

void drain_taker(struct drain_takers *t, pid_t pid);
/* Gives write() the line of each of them that has a name. write() releases the line. */
void drain_takers_write(const struct drain_takers *t, void (*write)(void *ctx, struct text *line),
			void *ctx);

#endif
