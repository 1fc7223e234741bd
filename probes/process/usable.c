/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/usable.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/process/target.h"

#define PATH_ROOM 4608
/*
 * Limits for large programs: the first processes and threads usually show where the others may run.
 */
#define PROCESSES_MAX 64
#define THREADS_MAX   256

static bool read_line(const char *path, char *line, size_t room)
{
	FILE *f = fopen(path, "re");
	bool is_read = f && fgets(line, (int)room, f);

	if (f)
		fclose(f);
	return is_read;
}

static double number_in(const char *path)
{
	char line[64];

	return read_line(path, line, sizeof(line)) ? strtod(line, NULL) : NAN;
}

/* Which limit of a cgroup is read. Both functions return INFINITY if there is none. */
struct limit {
	const char *controller;
	double (*v2)(const char *cgroup), (*v1)(const char *cgroup);
};

/* Reads "max 100000", or "150000 100000": quota and period. */
static double quota_v2(const char *cgroup)
{
	char path[PATH_ROOM + 32], line[64];
	double quota, period;

	snprintf(path, sizeof(path), "%s/cpu.max", cgroup);
	if (!read_line(path, line, sizeof(line)) || sscanf(line, "%lf %lf", &quota, &period) != 2 ||
	    !(period > 0))
		return INFINITY;
	return quota / period;
}

static double quota_v1(const char *cgroup)
{
	char path[PATH_ROOM + 32];
	double quota, period;

	snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", cgroup);
	quota = number_in(path);
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", cgroup);
	period = number_in(path);
	return quota > 0 && period > 0 ? quota / period : INFINITY;
}

static double memory_in(const char *cgroup, const char *file)
{
	char path[PATH_ROOM + 32];
	double bytes;

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	bytes = number_in(path);
	return bytes > 0 ? bytes : INFINITY; /* "max" in version 2 */
}

static double memory_v2(const char *cgroup)
{
	return memory_in(cgroup, "memory.max");
}

static double memory_v1(const char *cgroup)
{
	return memory_in(cgroup, "memory.limit_in_bytes");
}

static const struct limit CPU = { "cpu", quota_v2, quota_v1 };
static const struct limit MEMORY = { "memory", memory_v2, memory_v1 };

/* Returns the lowest limit of a group and of all groups around it, up to the root. */
static double least(const char *root, const char *group, double (*limit)(const char *cgroup))
{
	char path[PATH_ROOM];
	double ret = INFINITY;
	size_t end = strlen(root);
	int n = snprintf(path, sizeof(path), "%s%s", root, group);

	/* a container cannot see groups outside its own */
	if (n < 0 || (size_t)n >= sizeof(path) || strstr(group, "/.."))
		return INFINITY;
	for (;;) {
		char *slash;

		ret = fmin(ret, limit(path));
		slash = strrchr(path, '/');
		if (!slash || (size_t)(slash - path) < end)
			return ret;
		*slash = '\0';
	}
}

/* names: "cpu,cpuacct" */
static bool is_among(const char *name, const char *names)
{
	const size_t n = strlen(name);

	for (const char *at = names; at; at = strchr(at, ','), at += at != NULL)
		if (!strncmp(at, name, n) && (!at[n] || at[n] == ','))
			return true;
	return false;
}

/*
 * Returns the limit of a line of /proc/PID/cgroup: "0::/group", or "4:cpu,cpuacct:/group" in
 * version 1.
 */
static double limit_of_line(const char *cgroups, char *line, const struct limit *which)
{
	char root[PATH_ROOM];
	char *controllers = strchr(line, ':');
	char *group = controllers ? strchr(controllers + 1, ':') : NULL;
	double v2;

	if (!group)
		return INFINITY;
	*group++ = '\0';
	controllers++;
	group[strcspn(group, "\n")] = '\0';
	if (!*controllers) {
		v2 = least(cgroups, group, which->v2);
		snprintf(root, sizeof(root), "%s/unified", cgroups);
		return fmin(v2, least(root, group, which->v2));
	}
	if (!is_among(which->controller, controllers))
		return INFINITY;
	snprintf(root, sizeof(root), "%s/%s", cgroups, controllers);
	return least(root, group, which->v1);
}

static double limit_of(const char *proc, const char *cgroups, pid_t pid, const struct limit *which)
{
	char path[PATH_ROOM], line[PATH_ROOM];
	double ret = INFINITY;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d/cgroup", proc, pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		ret = fmin(ret, limit_of_line(cgroups, line, which));
	if (f)
		fclose(f);
	return ret;
}

double usable_quota(const char *proc, const char *cgroups, pid_t pid)
{
	return limit_of(proc, cgroups, pid, &CPU);
}

double usable_memory(const char *proc, const char *cgroups, pid_t pid)
{
	return limit_of(proc, cgroups, pid, &MEMORY);
}

static void add_affinities(pid_t pid, cpu_set_t *all)
{
	struct pids tids = { 0 };
	cpu_set_t own;

	if (target_threads(pid, &tids))
		tids.n = 0;
	for (size_t i = 0; i < tids.n && i < THREADS_MAX; i++)
		if (!sched_getaffinity(tids.data[i], sizeof(own), &own))
			CPU_OR(all, all, &own);
	vec_release(&tids);
}

/*
 * Processes of one group share its quota, while other groups have their own besides it. The largest
 * quota of any process is used, because at least that much is known to be available.
 */
double usable_cpus(const pid_t *pids, size_t n)
{
	double quota = 0;
	cpu_set_t all;

	CPU_ZERO(&all);
	for (size_t i = 0; i < n && i < PROCESSES_MAX; i++) {
		double one = usable_quota("/proc", "/sys/fs/cgroup", pids[i]);

		add_affinities(pids[i], &all);
		quota = fmax(quota, one);
	}
	return CPU_COUNT(&all) ? fmin(quota, CPU_COUNT(&all)) : NAN;
}
