/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The PMUs that the kernel describes below /sys/bus/event_source/devices: their types, the fields
 * of their events (format/event: "config:0-7") and their named events (events/tsc: "event=0x00").
 */
#ifndef ISPOT_PMU_SYSFS_H
#define ISPOT_PMU_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct sysfs_event {
	char pmu[64];
	uint32_t type;
	uint64_t config[3];
};

/*
 * Parses "msr/tsc/" or "cpu/event=0x3c,umask=0x1/". -EINVAL: malformed, with a sentence; -ENOENT:
 * this machine has no such PMU.
 */
int sysfs_parse(struct sysfs_event *e, const char *word, struct err *err);
/* Finds an event that a PMU names, core PMUs first. -ENOENT: none names it. */
int sysfs_find(struct sysfs_event *e, const char *name);
void sysfs_names(void (*visit)(void *ctx, const char *pmu, const char *name), void *ctx);

/* Returns the name of the core PMU ("cpu", "armv8_pmuv3_0"), or "none". */
const char *sysfs_core(char *buf, size_t n);
bool sysfs_is_core(const char *pmu);
/*
 * Returns the highest precise_ip of the core PMU, which tells how exactly its samples locate an
 * event, or 0 if the PMU does not say. Arm's PMUs accept any precise_ip and ignore it.
 */
unsigned sysfs_max_precise(void);

/* Sets another root than /sys/bus/event_source/devices, for tests. */
void sysfs_set_root(const char *path);

#endif
