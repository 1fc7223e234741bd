/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Uprobe sessions (kernel >= 6.13): one probe for entry and return of a function, whose program
 * says at the entry whether the return is wanted. A call that sampling leaves out then takes one
 * trap instead of two. A session is a link of one process: it is not inherited, and in any other
 * process that has the breakpoint (a fork's child) the kernel would trap the return of every call
 * and tell nobody. So it is for programs that do not fork.
 *
 * libbpf 1.1 does not know these links: raw system calls. What cannot be probed fails a link as it
 * does an event (dynevent.h).
 */
#ifndef ISPOT_PROBES_KERNEL_USESSION_H
#define ISPOT_PROBES_KERNEL_USESSION_H

#include <stdint.h>
#include <sys/types.h>

struct err;
struct usession;

struct usession *usession_new(void);
/* path must open the file from here; cookie comes back in the program. */
void usession_add(struct usession *u, const char *path, uint64_t file_offset, uint64_t cookie);
/* Links of all points to a process that has none of them yet. -ESRCH: it is gone. */
int usession_open(struct usession *u, int program_fd, pid_t pid, struct err *err);
void usession_close_process(struct usession *u, pid_t pid);
/* Closes it on all processes; usession_open() may follow. */
void usession_close(struct usession *u);
void usession_free(struct usession *u); /* NULL is fine */

#endif
