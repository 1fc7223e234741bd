/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many CPUs a program may use: by the affinities of its threads, which a cpuset bounds, and by
 * the quota of its cgroup and of those around that. */
#ifndef ISPOT_PROBES_PROCESS_USABLE_H
#define ISPOT_PROBES_PROCESS_USABLE_H

#include <stddef.h>
#include <sys/types.h>

/* Of all these processes together; NAN: not known. */
double usable_cpus(const pid_t *pids, size_t n);

/* The least quota of a process's cgroups, in CPUs; INFINITY: there is none. The two directories are
 * /proc and /sys/fs/cgroup, or what a test has made. */
double usable_quota(const char *proc, const char *cgroups, pid_t pid);

#endif
