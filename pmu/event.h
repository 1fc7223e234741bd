/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One event to count, from the word that names it:
 *
 *	cycles, page-faults …	perf's generic events
 *	context-switches …	the task's own numbers, exact per thread, for the cost of a load
 *	rNNNN			raw, hexadecimal, of the core PMU
 *	msr/tsc/, cpu/event=0x3c,umask=1/	sysfs: a PMU with a named event or with fields
 *	mem-loads		sysfs: an event that some PMU names, cores first
 *	LONGEST_LAT_CACHE:MISS, skx::…	libpfm4's tables
 *
 * A modifier :u, :k or :uk at the end says whose part counts. Without one hardware events count
 * user space: the probes' own work is the kernel's, and would be most of what a short call counts.
 */
#ifndef ISPOT_PMU_EVENT_H
#define ISPOT_PMU_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct text;

enum pmu_source {
	PMU_HARDWARE, /* of the core PMU, which has few counters */
	PMU_SOFTWARE, /* kept by the kernel, per CPU */
	PMU_TASK,     /* kept by the kernel in the task: config is an enum pmu_task */
	PMU_OTHER,    /* another PMU of sysfs (msr), whose limits are unknown */
};

const char *pmu_source_name(enum pmu_source source); /* "hardware" "software" "task" "other" */

/* Counts that the kernel keeps for each task, as probes/bpf/counters.h reads them. */
enum pmu_task {
	PMU_TASK_MINOR_FAULTS,
	PMU_TASK_MAJOR_FAULTS,
	PMU_TASK_PAGE_FAULTS, /* both */
	PMU_TASK_VOLUNTARY_SWITCHES,
	PMU_TASK_INVOLUNTARY_SWITCHES,
	PMU_TASK_CONTEXT_SWITCHES, /* both */
	PMU_TASK_MIGRATIONS,
	PMU_TASK_SECTORS_READ,	  /* of 512 bytes, from block devices; CONFIG_TASK_IO_ACCOUNTING */
	PMU_TASK_SECTORS_WRITTEN, /* the task's own writes, not those that others do later */
	PMU_TASKS,
};

#define PMU_NAME_MAX 96

struct pmu_event {
	char name[PMU_NAME_MAX];  /* as the user wrote it, without modifier */
	char event[PMU_NAME_MAX]; /* as the tables with this event call it */
	char role[24];		  /* its meaning in groups and cause rules; "": none */
	const char *unit;	  /* static */
	enum pmu_source source;
	uint32_t type; /* PERF_TYPE_* or a PMU's of sysfs; unused by PMU_TASK */
	uint64_t config, config1, config2;
	bool user, kernel; /* what is counted; both if the event cannot separate them */
};

/*
 * Finds the event that a word names. -EINVAL: malformed, or unknown (the sentence names the
 * nearest); -ENODEV: an event of other machines. Nothing is opened: pmu/perf_event.h tells whether
 * this machine counts the event.
 */
int pmu_event_parse(struct pmu_event *e, const char *word, struct err *err);

/*
 * Lists the names of perf's events, the task's counts and the events of sysfs: calls visit once for
 * each.
 */
void pmu_event_names(void (*visit)(void *ctx, const char *name, enum pmu_source source), void *ctx);

#endif
