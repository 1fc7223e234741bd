/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns a process into one that may run untrusted work: it keeps its memory and two descriptors,
 * and gives up everything else. systemd-coredump parses the files of crashed programs in the same
 * way.
 */
#ifndef ISPOT_SYMBOL_DSO_SANDBOX_H
#define ISPOT_SYMBOL_DSO_SANDBOX_H

#include <sys/types.h>

/*
 * Call it in a child that was just forked. Only the two descriptors stay open, memory shared with
 * other processes is unmapped, the user becomes uid (with gid and no other group) for good, memory
 * and CPU time are limited, and only the system calls that a parser needs are allowed; files can be
 * opened only for reading. Returns 0, or -errno, after which the process must end.
 */
int sandbox_enter(uid_t uid, gid_t gid, int fd, int other_fd);

#endif
