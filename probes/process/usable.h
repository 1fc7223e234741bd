/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many CPUs a program may use, by the affinities of its threads (which a cpuset limits) and by
 * the quota of its cgroup and of the cgroups around it, and how much memory these leave it.
 */
#ifndef ISPOT_PROBES_PROCESS_USABLE_H
#define ISPOT_PROBES_PROCESS_USABLE_H

#include <stddef.h>
#include <sys/types.h>

/* Returns the number for all these processes together, or NAN if it is unknown. */
double usable_cpus(const pid_t *pids, size_t n);

/*
 * Returns the lowest quota of a process's cgroups in CPUs, or INFINITY if there is none. proc and
 * cgroups are /proc and /sys/fs/cgroup, or directories that a test has made.
 */
double usable_quota(const char *proc, const char *cgroups, pid_t pid);
/* The same for the memory in bytes. */
double usable_memory(const char *proc, const char *cgroups, pid_t pid);

#endif
