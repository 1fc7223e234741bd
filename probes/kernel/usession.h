/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Uprobe sessions (kernel >= 6.13): one probe for the entry and the return of a function, whose
 * program tells at the entry whether the return is wanted. So a call that sampling skips takes one
 * trap instead of two. A session is a link to one process, which is not inherited: in any other
 * process that has the breakpoint (the child of a fork), the kernel would trap the return of every
 * call without running the program. So sessions are only for programs that do not fork.
 *
 * libbpf 1.1 does not know these links, so they are made by system calls. An instruction that
 * cannot be probed fails a link as it fails an event (dynevent.h).
 */
#ifndef ISPOT_PROBES_KERNEL_USESSION_H
#define ISPOT_PROBES_KERNEL_USESSION_H

#include <stdint.h>
#include <sys/types.h>

struct err;
struct usession;

struct usession *usession_new(void);
/* Adds a point. path must open the file from here; the program gets the cookie. */
void usession_add(struct usession *u, const char *path, uint64_t file_offset, uint64_t cookie);
/* Links all points to a process, unless it has links already. -ESRCH: the process is gone. */
int usession_open(struct usession *u, int program_fd, pid_t pid, struct err *err);
void usession_close_process(struct usession *u, pid_t pid);
/* Closes the links of all processes; usession_open() may follow. */
void usession_close(struct usession *u);
void usession_free(struct usession *u); /* NULL is fine */

#endif
