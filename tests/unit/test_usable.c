/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of made-up cgroups, and this process's own affinity. */
#include "unit.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/process/usable.h"

static char dir[] = "/tmp/ispot-usable.XXXXXX";

static void make(const char *path, const char *text)
{
	char whole[256];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", dir, path);
	if (!text) {
		assert_int_equal(mkdir(whole, 0700), 0);
		return;
	}
	f = fopen(whole, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static double quota_of(int pid)
{
	char cgroups[64];

	snprintf(cgroups, sizeof(cgroups), "%s/cgroup", dir);
	return usable_quota(dir, cgroups, pid);
}

static void the_least_quota_around_counts(void **state)
{
	(void)state;
	assert_true(quota_of(1) == 1.5); /* of the group around its own, which has none */
	assert_true(quota_of(2) == 0.25);
	assert_true(quota_of(3) == 2); /* of the first version */
	assert_true(isinf(quota_of(4)));
	assert_true(isinf(quota_of(5))); /* beside those that can be seen */
	assert_true(isinf(quota_of(6))); /* it is gone */
}

static double memory_of(int pid)
{
	char cgroups[64];

	snprintf(cgroups, sizeof(cgroups), "%s/cgroup", dir);
	return usable_memory(dir, cgroups, pid);
}

static void the_least_memory_around_counts(void **state)
{
	(void)state;
	assert_true(memory_of(1) == 268435456); /* of the group around its own, which has none */
	assert_true(memory_of(2) == 67108864);
	assert_true(memory_of(3) == 134217728); /* of the first version */
	assert_true(isinf(memory_of(4)));
	assert_true(isinf(memory_of(6))); /* it is gone */
}

static void an_affinity_bounds(void **state)
{
	pid_t self = getpid(), gone = 4194303;
	cpu_set_t before, one;
	double quota = usable_quota("/proc", "/sys/fs/cgroup", self);

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_true(usable_cpus(&self, 1) == fmin(quota, CPU_COUNT(&before)));
	CPU_ZERO(&one);
	for (int cpu = 0; !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_true(usable_cpus(&self, 1) == fmin(quota, 1));
	sched_setaffinity(0, sizeof(before), &before);
	assert_true(isnan(usable_cpus(&gone, 1)));
}

static int make_groups(void **state)
{
	static const struct {
		const char *path, *text;
	} files[] = {
		{ "cgroup", NULL },
		{ "cgroup/a", NULL },
		{ "cgroup/a/cpu.max", "150000 100000\n" },
		{ "cgroup/a/memory.max", "268435456\n" },
		{ "cgroup/a/b", NULL },
		{ "cgroup/a/b/memory.max", "max\n" },
		{ "cgroup/a/b/cpu.max", "max 100000\n" },
		{ "cgroup/a/c", NULL },
		{ "cgroup/a/c/cpu.max", "25000 100000\n" },
		{ "cgroup/a/c/memory.max", "67108864\n" },
		{ "cgroup/memory", NULL },
		{ "cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n" },
		{ "cgroup/memory/d", NULL },
		{ "cgroup/memory/d/memory.limit_in_bytes", "134217728\n" },
		{ "cgroup/cpu,cpuacct", NULL },
		{ "cgroup/cpu,cpuacct/d", NULL },
		{ "cgroup/cpu,cpuacct/d/cpu.cfs_quota_us", "200000\n" },
		{ "cgroup/cpu,cpuacct/d/cpu.cfs_period_us", "100000\n" },
		{ "cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n" },
		{ "1", NULL },
		{ "1/cgroup", "0::/a/b\n" },
		{ "2", NULL },
		{ "2/cgroup", "0::/a/c\n" },
		{ "3", NULL },
		{ "3/cgroup", "5:memory:/d\n4:cpu,cpuacct:/d\n0::/\n" },
		{ "4", NULL },
		{ "4/cgroup", "0::/\n" },
		{ "5", NULL },
		{ "5/cgroup", "0::/../a/c\n" },
	};

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		make(files[i].path, files[i].text);
	return 0;
}

static int remove_groups(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_quota_around_counts),
		cmocka_unit_test(the_least_memory_around_counts),
		cmocka_unit_test(an_affinity_bounds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_groups, remove_groups);
}
