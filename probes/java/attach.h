/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Java machines that run already: they are spoken to with the attach protocol, as their user. */
#ifndef ISPOT_PROBES_JAVA_ATTACH_H
#define ISPOT_PROBES_JAVA_ATTACH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct err;

/*
 * Has a running machine load the agent of the place. -EINTR: a signal of `ends`, which
 * are blocked, has come meanwhile.
 */
int java_attach(pid_t pid, const char *place, const sigset_t *ends, struct err *err);
/* Has one that was attached to write the log of pauses.h, or end it. False: it does not. */
bool java_attach_log(pid_t pid, const char *place, const sigset_t *ends, bool on);

#endif
