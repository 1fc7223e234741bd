/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tracefs through libtracefs, which only this module includes: where it is mounted, the events of
 * a group, the number of one, and making and removing an event of one point.
 *
 * The many points of an event are not written through it (dynevent.c): the library opens, writes
 * and closes uprobe_events for each, where one write takes 40 points, and it has no points with a
 * counter. tests/bench/points.c measures both.
 *
 * Its descriptors are not closed by exec and are open for a moment only: nothing here may run while
 * another thread forks.
 */
#ifndef ISPOT_PROBES_KERNEL_TRACING_H
#define ISPOT_PROBES_KERNEL_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* Where tracefs is mounted now; NULL: nowhere. Mounts nothing. Valid as long as the process. */
const char *tracing_directory(void);
/* The same, mounted at /sys/kernel/tracing if it was nowhere. -EACCES: not root; -ENOENT: no
 * tracefs in this kernel. */
int tracing_mount(struct err *err);

/* uprobe_events, for appending, closed by exec: a descriptor or -errno. Never O_TRUNC, which
 * deletes all uprobe events of the machine. */
int tracing_control(void);

/* The event's number for perf_event_open, or -errno; -ENOENT: there is no such event. */
int tracing_event_id(const char *group, const char *event);
/* The names of a group's events, ended by NULL; NULL: there is no such group. */
char **tracing_events(const char *group);
void tracing_events_free(char **events);

struct tracing_point {
	const char *group, *event;
	const char *path; /* of the file, without blanks */
	uint64_t offset;
	const char *arguments; /* that it fetches; NULL: none */
	bool is_return;
};

/* A new event, or a further point of one that is there; 0 or -errno. */
int tracing_add(const struct tracing_point *p);
/* 0 or -errno; -ENOENT: it is gone. */
int tracing_remove(const char *group, const char *event);

#endif
