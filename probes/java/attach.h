/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attaches to running Java machines with the attach protocol, as their users. */
#ifndef ISPOT_PROBES_JAVA_ATTACH_H
#define ISPOT_PROBES_JAVA_ATTACH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct err;

/*
 * Makes a running machine load the agent of the place. -EINTR: one of the signals `ends`, which are
 * blocked, has arrived.
 */
int java_attach(pid_t pid, const char *place, const sigset_t *ends, struct err *err);
/*
 * Makes a machine that was attached to begin or end the log of pauses.h. Returns false if it does
 * not.
 */
bool java_attach_log(pid_t pid, const char *place, const sigset_t *ends, bool on);

#endif
