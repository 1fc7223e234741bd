/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the calls of Java methods count (record --java -e). The agent reads counters by system calls
 * in the thread itself. So it has any perf event that its user may open, and those of the kernel's
 * task counts that getrusage(2) returns.
 */
#ifndef ISPOT_PROBES_JAVA_COUNTED_H
#define ISPOT_PROBES_JAVA_COUNTED_H

struct err;
struct inproc_drain;
struct pmu_list;
struct text;

/*
 * Chooses the counters from the words of -e; NULL: none. Perf events come first, and of these the
 * hardware ones. Reports which of them cannot be counted. Returns the errors of pmu/list.h.
 */
int java_counted_choose(struct pmu_list *list, const char *words, struct err *err);
/* Adds the lines for the agent (probes/java/agent/count.h). */
void java_counted_config(const struct pmu_list *list, struct text *out);
/* Writes the lines of the file; from then on, records of these counters are accepted. */
void java_counted_begin(const struct pmu_list *list, struct inproc_drain *d);

#endif
