/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts the command of a recording so that its Java machines load the agent. */
#ifndef ISPOT_PROBES_JAVA_LAUNCH_H
#define ISPOT_PROBES_JAVA_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct session_options;
struct launch;
struct launch_inherit;

struct java_launching {
	const struct launch_inherit *inherit;
	uint64_t *start_ns; /* time just before the start */
	/* Is called while the command waits; the command executes when it returns 0. */
	int (*held)(void *ctx, pid_t pid, struct err *err);
	void *ctx;
};

/* Returns the errors of launch_start() and held(). */
int java_launch(struct launch *l, const struct session_options *o, const char *place,
		const struct java_launching *how, struct err *err);
/* Finds the program as a shell does. Returns false if there is none. */
bool java_find_program(const char *program, char path[PATH_MAX]);

#endif
