/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording of a command (session.h) together with hardware samples. */
#ifndef ISPOT_PROBES_SESSION_HARDWARE_RECORD_H
#define ISPOT_PROBES_SESSION_HARDWARE_RECORD_H

#include <stddef.h>

struct err;
struct hardware;
struct hardware_sample;

struct hardware_recording {
	char *const *argv;
	/* as for -F, ended by NULL; those that the program does not have are ignored */
	const char *const *patterns;
	const char *output, *command, *version;
	void (*visit)(void *ctx, const struct hardware_sample *s);
	void *ctx;
};

/* h must be as hardware_check() left it. *status is the command's exit status. */
int hardware_record(struct hardware *h, const struct hardware_recording *r, int *status,
		    struct err *err);

#endif
