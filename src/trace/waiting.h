/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of trace/format.h that the BPF programs share: the numbers of waits and wakeups. */
#ifndef ISPOT_TRACE_WAITING_H
#define ISPOT_TRACE_WAITING_H

/* The kind of wait in which a thread left the CPU; from the kernel, not from names. */
enum wait_kind {
	WAIT_UNKNOWN = 0,
	WAIT_FUTEX = 1,
	WAIT_DISK = 2, /* I/O of a file or block device (task in iowait, or fsync and its like) */
	WAIT_SOCKET = 3,
	WAIT_PIPE = 4,
	WAIT_SLEEP = 5, /* a clock */
	WAIT_POLL = 6,	/* poll, select, epoll_wait: several files at once */
	WAIT_PAGE_FAULT = 7,
	WAIT_CHILD = 8, /* wait4, waitid */
	WAIT_OTHER = 9, /* a system call of no kind above */
	WAIT_KINDS
};

enum wait_how {
	WAIT_IOWAIT = 1,	 /* the kernel counted the thread as waiting for I/O */
	WAIT_TIMEOUT = 2,	 /* futex: for a limited time */
	WAIT_FUTEX_OP_SHIFT = 8, /* futex: the system call's operation, its flags included */
};

/* The origin of a wakeup that no thread made. */
enum waking_how {
	WAKING_BY_THREAD = 0,	 /* or not known */
	WAKING_BY_INTERRUPT = 1, /* a device, the network */
	WAKING_BY_TIMER = 2,
	WAKING_BY_END = 3, /* the process is being ended: nobody released the thread */
};

#endif
