/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ends a child that does for ispot what others may hold up: in a file system of theirs that does
 * not answer no signal ends a process, so it is waited for a moment only.
 */
#ifndef ISPOT_BASE_REAP_H
#define ISPOT_BASE_REAP_H

#include <sys/types.h>

/* Kills it. One that has not ended after a second is left alone, and ends when it can. */
void reap(pid_t pid);

#endif
