/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Adds each CPU of a list like "0-3,8". -EINVAL: malformed; -E2BIG: a number of CPUS_MAX or more.
 */
static int parse_list(const char *s, struct cpus *cpus, bool online)
{
	unsigned long from, to;
	char *end;

	while (*s >= '0' && *s <= '9') {
		from = to = strtoul(s, &end, 10);
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (to < from)
			return -EINVAL;
		if (to >= CPUS_MAX)
			return -E2BIG;
		for (; online && from <= to; from++)
			cpus->online[cpus->n++] = (uint16_t)from;
		if (to + 1 > cpus->n_possible)
			cpus->n_possible = (uint32_t)to + 1;
		s = *end == ',' ? end + 1 : end;
	}
	return *s && *s != '\n' ? -EINVAL : 0;
}

static int read_list(const char *path, struct cpus *cpus, bool online)
{
	char line[CPUS_MAX * 6];
	FILE *f = fopen(path, "re");
	int rc;

	if (!f)
		return -errno;
	rc = fgets(line, sizeof(line), f) ? parse_list(line, cpus, online) : -EIO;
	fclose(f);
	return rc;
}

/*
 * Without sysfs (a bare chroot) the C library asks the scheduler for the number of CPUs; that they
 * are numbered without gaps is a guess.
 */
static int count_from_scheduler(struct cpus *cpus)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN), possible = sysconf(_SC_NPROCESSORS_CONF);

	if (online < 1 || online > CPUS_MAX)
		return -EIO;
	for (cpus->n = 0; cpus->n < online; cpus->n++)
		cpus->online[cpus->n] = (uint16_t)cpus->n;
	cpus->n_possible = (uint32_t)(possible > online ? possible : online);
	return 0;
}

int cpus_read(struct cpus *cpus)
{
	int rc;

	cpus->n = cpus->n_possible = 0;
	if (access("/sys/devices/system/cpu/online", F_OK))
		return count_from_scheduler(cpus);
	rc = read_list("/sys/devices/system/cpu/online", cpus, true);
	if (!rc)
		rc = read_list("/sys/devices/system/cpu/possible", cpus, false);
	return rc ? rc : cpus->n ? 0 : -EIO;
}

bool cpus_has(const struct cpus *cpus, uint32_t cpu)
{
	for (uint32_t i = 0; i < cpus->n; i++)
		if (cpus->online[i] == cpu)
			return true;
	return false;
}

bool cpus_same(const struct cpus *a, const struct cpus *b)
{
	return a->n == b->n && !memcmp(a->online, b->online, a->n * sizeof(*a->online));
}

bool cpus_has_gone(uint32_t cpu)
{
	struct cpus now;

	return !cpus_read(&now) && !cpus_has(&now, cpu);
}

struct cpus_time cpus_time(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
	uint64_t tick_ns = 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK);
	struct cpus_time t = { 0 };
	FILE *f = fopen("/proc/stat", "re");

	if (f && fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
			&idle, &iowait, &irq, &softirq, &steal) == 8) {
		t.busy_ns = (user + nice + system + irq + softirq + steal) * tick_ns;
		t.steal_ns = steal * tick_ns;
	}
	if (f)
		fclose(f);
	return t;
}

#define SET_BYTES CPU_ALLOC_SIZE(CPUS_MAX)

struct cpus_own *cpus_own(void)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);

	if (set && sched_getaffinity(0, SET_BYTES, set) < 0) {
		CPU_FREE(set);
		set = NULL;
	}
	return (struct cpus_own *)set;
}

bool cpus_visit(uint32_t cpu)
{
	cpu_set_t *one = CPU_ALLOC(CPUS_MAX);
	bool ret;

	if (!one)
		return false;
	CPU_ZERO_S(SET_BYTES, one);
	CPU_SET_S(cpu, SET_BYTES, one);
	ret = !sched_setaffinity(0, SET_BYTES, one);
	CPU_FREE(one);
	return ret;
}

void cpus_return(struct cpus_own *own)
{
	cpu_set_t *set = (cpu_set_t *)own;

	if (!set)
		return;
	sched_setaffinity(0, SET_BYTES, set);
	CPU_FREE(set);
}
