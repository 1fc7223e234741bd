/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Uses tracefs through libtracefs, which only this module includes: finds its mount point, the
 * events of a group and the id of an event, and makes and removes an event of one point.
 *
 * The many points of an event are not written through libtracefs but by dynevent.c: the library
 * opens, writes and closes uprobe_events for each point, where one write takes 40 points, and it
 * has no points with a counter. tests/bench/points.c measures both.
 *
 * The library's descriptors are not closed by exec and are open only for a moment, so nothing here
 * may run while another thread forks.
 */
#ifndef ISPOT_PROBES_KERNEL_TRACING_H
#define ISPOT_PROBES_KERNEL_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* Returns where tracefs is mounted, or NULL if it is not. Mounts nothing. The path stays valid. */
const char *tracing_directory(void);
/*
 * Mounts tracefs at /sys/kernel/tracing if it is not mounted. -EACCES: not root; -ENOENT: the
 * kernel has no tracefs.
 */
int tracing_mount(struct err *err);

/*
 * Opens uprobe_events for appending; exec closes it. Returns a descriptor or -errno. O_TRUNC must
 * never be used: it deletes all uprobe events of the machine.
 */
int tracing_control(void);

/* Returns the event's id for perf_event_open(), or -errno; -ENOENT: there is no such event. */
int tracing_event_id(const char *group, const char *event);
/* Returns the names of a group's events, ended by NULL, or NULL if there is no such group. */
char **tracing_events(const char *group);
void tracing_events_free(char **events);

struct tracing_point {
	const char *group, *event;
	const char *path; /* of the file, without blanks */
	uint64_t offset;
	const char *arguments; /* the values that it fetches; NULL: none */
	bool is_return;
};

/* Makes an event, or adds a point to an existing one. Returns 0 or -errno. */
int tracing_add(const struct tracing_point *p);
/* Returns 0 or -errno; -ENOENT: the event is gone. */
int tracing_remove(const char *group, const char *event);

#endif
