/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that run a translation of another program's code, as valgrind and qemu do. They read the
 * breakpoint of a probe, or a jump, as if it were an instruction of that program, which then ends.
 */
#ifndef ISPOT_PROBES_PROCESS_TRANSLATOR_H
#define ISPOT_PROBES_PROCESS_TRANSLATOR_H

#include <stdbool.h>
#include <sys/types.h>

struct err;

/* Whether the program of that path is one. */
bool translator_is(const char *path);
/* Return -ENOTSUP if it is one, with what to do instead, or 0. */
int translator_refuse(const char *path, struct err *err);
int translator_refuse_process(pid_t pid, struct err *err);

#endif
