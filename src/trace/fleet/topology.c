/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/fleet/topology.h"

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

static struct topology_cpu place_of(uint32_t cpu)
{
	unsigned socket = 0, core = cpu, cache;

	first_number(cpu, "topology/physical_package_id", &socket);
	first_number(cpu, "topology/thread_siblings_list", &core);
	if (!last_cache(cpu, &cache))
		cache = CPUS_MAX + socket;
	return (struct topology_cpu){ (uint16_t)core, (uint16_t)cache, (uint16_t)socket };
}

int topology_read(struct topology *t)
{
	struct cpus cpus;
	int rc = cpus_read(&cpus);

	if (rc)
		return rc;
	t->n = cpus.n_possible;
	for (uint32_t i = 0; i < t->n; i++)
		t->cpus[i] = (struct topology_cpu){ (uint16_t)i, (uint16_t)(CPUS_MAX + i),
						    (uint16_t)(CPUS_MAX + i) };
	topology_update(t, &cpus);
	return 0;
}

bool topology_update(struct topology *t, const struct cpus *online)
{
	bool new = false;

	for (uint32_t i = 0; i < online->n && online->online[i] < t->n; i++) {
		struct topology_cpu *known = &t->cpus[online->online[i]];
		struct topology_cpu now = place_of(online->online[i]);

		new |= memcmp(&now, known, sizeof(now)) != 0;
		*known = now;
	}
	return new;
}

/* Finds the text behind the colon of a line of /proc/cpuinfo. */
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
