/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pmu/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pmu/event.h"
#include "pmu/sysfs.h"

int perf_event_open(const struct pmu_event *e, int cpu, int group)
{
	struct perf_event_attr attr = {
		.type = e->type,
		.size = sizeof(attr),
		.config = e->config,
		.config1 = e->config1,
		.config2 = e->config2,
		.pinned = group < 0,
		.exclude_user = !e->user,
		.exclude_kernel = !e->kernel,
		.exclude_hv = !e->kernel,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, cpu < 0 ? 0 : -1, cpu, group,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The kernel may be built without some counts: those of I/O accounting, or of block devices. */
static int try_task(uint64_t config)
{
	const char *path = config == PMU_TASK_SECTORS_READ	? "/proc/self/io"
			   : config == PMU_TASK_SECTORS_WRITTEN ? "/sys/block"
								: "/";

	return access(path, F_OK) ? -ENODEV : 0;
}

int perf_event_try(const struct pmu_event *e)
{
	int fd;

	if (e->source == PMU_TASK)
		return try_task(e->config);
	fd = perf_event_open(e, -1, -1);
	/* some PMUs of sysfs count CPUs only */
	if (fd == -EINVAL && e->source == PMU_OTHER)
		fd = perf_event_open(e, 0, -1);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

const char *perf_event_why(const struct pmu_event *e, int error, char *buf, size_t n)
{
	char pmu[64];

	switch (-error) {
	case EACCES:
	case EPERM:
		snprintf(buf, n, "perf_event_paranoid is %d and this user has no CAP_PERFMON",
			 perf_event_paranoid());
		return buf;
	case ENOSYS:
		return "this kernel has no perf events, or a seccomp filter forbids them";
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
		if (e->source == PMU_TASK)
			return "this kernel has no CONFIG_TASK_IO_ACCOUNTING";
		if (e->source == PMU_HARDWARE && !strcmp(sysfs_core(pmu, sizeof(pmu)), "none"))
			return "no hardware PMU here, as in most virtual machines";
		return "this PMU does not count it";
	case EBUSY:
		return "its counter is taken; another profiler may run";
	default:
		return strerror(-error);
	}
}

int perf_event_paranoid(void)
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
