/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process for what must not be trusted: it keeps its memory and two descriptors, and gives up
 * all else. As systemd-coredump parses the files of a program that crashed.
 */
#ifndef ISPOT_SYMBOL_DSO_SANDBOX_H
#define ISPOT_SYMBOL_DSO_SANDBOX_H

#include <sys/types.h>

/*
 * In a child just forked: only those two descriptors stay open, memory shared with other processes
 * goes, the user becomes uid (with gid and no other group) for good, memory and CPU time are
 * limited, and only the system calls that a parser makes are allowed; files may be opened for
 * reading alone. 0 or -errno: then end the process.
 */
int sandbox_enter(uid_t uid, gid_t gid, int fd, int other_fd);

#endif
