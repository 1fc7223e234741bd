/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/topology.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The first number in a file of sysfs below the CPU's directory. */
static bool first_number(uint32_t cpu, const char *name, unsigned *number)
{
	char path[128];
	bool found;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", cpu, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	found = fscanf(f, "%u", number) == 1 && *number < CPUS_MAX;
	fclose(f);
	return found;
}

/* The lowest CPU that shares the largest cache: caches have no numbers of their own. */
static bool last_cache(uint32_t cpu, unsigned *number)
{
	unsigned level, most = 0, lowest;
	char name[64];

	for (unsigned i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "cache/index%u/level", i);
		if (!first_number(cpu, name, &level))
			break;
		snprintf(name, sizeof(name), "cache/index%u/shared_cpu_list", i);
		if (level > most && first_number(cpu, name, &lowest)) {
			most = level;
			*number = lowest;
		}
	}
	return most >= 3;
}

int topology_read(struct topology *t)
{
	struct cpus cpus;
	int rc = cpus_read(&cpus);

	if (rc)
		return rc;
	t->n = cpus.n_possible;
	for (uint32_t i = 0; i < t->n; i++) {
		unsigned socket = 0, core = i, cache;

		first_number(i, "topology/physical_package_id", &socket);
		first_number(i, "topology/thread_siblings_list", &core);
		if (!last_cache(i, &cache))
			cache = CPUS_MAX + socket;
		t->cpus[i] =
			(struct topology_cpu){ (uint16_t)core, (uint16_t)cache, (uint16_t)socket };
	}
	return 0;
}

/* What stands behind the colon of a line of /proc/cpuinfo. */
static bool cpuinfo(const char *key, char *buf, size_t n)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	bool found = false;
	char line[256];

	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		found = colon && !strncmp(line, key, strlen(key));
		line[strcspn(line, "\n")] = '\0';
		if (found)
			snprintf(buf, n, "%s", colon + 1 + strspn(colon + 1, " "));
	}
	if (f)
		fclose(f);
	return found;
}

void topology_type(const struct topology *t, char *buf, size_t n)
{
	struct utsname name;
	char model[96];

	if (!cpuinfo("model name", model, sizeof(model)))
		snprintf(model, sizeof(model), "%s", uname(&name) ? "unknown" : name.machine);
	snprintf(buf, n, "%s x %u", model, t->n);
}
