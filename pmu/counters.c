/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pmu/counters.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOFTWARE(name, id)                                   \
	{                                                    \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id \
	}
#define HARDWARE(name, id)                                   \
	{                                                    \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id \
	}
#define CACHE(name, id, op, result)                                                     \
	{                                                                               \
		name, PERF_TYPE_HW_CACHE,                                               \
			PERF_COUNT_HW_CACHE_##id | (PERF_COUNT_HW_CACHE_OP_##op << 8) | \
				(PERF_COUNT_HW_CACHE_RESULT_##result << 16)             \
	}

static const struct counter all[] = {
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	CACHE("L1-dcache-loads", L1D, READ, ACCESS),
	CACHE("L1-dcache-load-misses", L1D, READ, MISS),
	CACHE("LLC-loads", LL, READ, ACCESS),
	CACHE("LLC-load-misses", LL, READ, MISS),
	CACHE("dTLB-load-misses", DTLB, READ, MISS),
	CACHE("iTLB-load-misses", ITLB, READ, MISS),
	CACHE("node-loads", NODE, READ, ACCESS),
	CACHE("node-load-misses", NODE, READ, MISS),
};

size_t counters_all(const struct counter **counters)
{
	*counters = all;
	return sizeof(all) / sizeof(*all);
}

const char *counter_kind(const struct counter *c)
{
	return c->type == PERF_TYPE_SOFTWARE   ? "software"
	       : c->type == PERF_TYPE_HARDWARE ? "hardware"
					       : "cache";
}

int counter_try(const struct counter *c)
{
	struct perf_event_attr attr = {
		.type = c->type,
		.size = sizeof(attr),
		.config = c->config,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

const char *counter_why(const struct counter *c, int error, char *buf, size_t n)
{
	char pmu[64];

	switch (-error) {
	case EACCES:
	case EPERM:
		snprintf(buf, n, "perf_event_paranoid is %d and this user has no CAP_PERFMON",
			 counters_paranoid());
		return buf;
	case ENOSYS:
		return "this kernel has no perf events, or a seccomp filter forbids them";
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
		if (c->type != PERF_TYPE_SOFTWARE &&
		    !strcmp(counters_pmu(pmu, sizeof(pmu)), "none"))
			return "no hardware PMU here, as in most virtual machines";
		return "this PMU does not count it";
	default:
		return strerror(-error);
	}
}

/* Core PMUs have this attribute group's `cpu` or `cpus` file absent or present; names tell better.
 */
static bool is_core_pmu(const char *name)
{
	return !strcmp(name, "cpu") || !strcmp(name, "cpu_core") || !strncmp(name, "armv8_", 6) ||
	       !strncmp(name, "armv9_", 6);
}

const char *counters_pmu(char *buf, size_t n)
{
	DIR *dir = opendir("/sys/bus/event_source/devices");
	struct dirent *e;

	snprintf(buf, n, "none");
	while (dir && (e = readdir(dir)))
		if (is_core_pmu(e->d_name))
			snprintf(buf, n, "%s", e->d_name);
	if (dir)
		closedir(dir);
	return buf;
}

int counters_paranoid(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = INT32_MAX;

	if (!f)
		return level;
	if (fscanf(f, "%d", &level) != 1)
		level = INT32_MAX;
	fclose(f);
	return level;
}
