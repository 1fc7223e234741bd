/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The PMUs that the kernel describes below /sys/bus/event_source/devices: type, the fields of
 * their events (format/event: "config:0-7") and events they name (events/tsc: "event=0x00").
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

/* "msr/tsc/", "cpu/event=0x3c,umask=0x1/". -EINVAL with its sentence; -ENOENT: no such PMU. */
int sysfs_parse(struct sysfs_event *e, const char *word, struct err *err);
/* An event that some PMU names, core PMUs asked first. -ENOENT: none. */
int sysfs_find(struct sysfs_event *e, const char *name);
void sysfs_names(void (*visit)(void *ctx, const char *pmu, const char *name), void *ctx);

/* The core PMU's name ("cpu", "armv8_pmuv3_0"), "none" without one. */
const char *sysfs_core(char *buf, size_t n);
bool sysfs_is_core(const char *pmu);
/* How exactly its samples tell where an event happened, at most: precise_ip, 0 where it does not
 * say. Arm's takes any precise_ip, and does not heed it. */
unsigned sysfs_max_precise(void);

/* For tests: another root than /sys/bus/event_source/devices. */
void sysfs_set_root(const char *path);

#endif
