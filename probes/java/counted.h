/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the calls of Java methods count (record --java -e). The agent reads counters by system
 * calls in the thread itself, so that it has any perf event that its user may open, and of the
 * numbers that the kernel keeps of a task those that getrusage(2) tells.
 */
#ifndef ISPOT_PROBES_JAVA_COUNTED_H
#define ISPOT_PROBES_JAVA_COUNTED_H

struct err;
struct inproc_drain;
struct pmu_list;
struct text;

/* From -e's words; NULL: nothing. Perf events come first, those of hardware before others. Says
 * what of them cannot be counted. Errors: pmu/list.h's. */
int java_counted_choose(struct pmu_list *list, const char *words, struct err *err);
/* The agent's lines (probes/java/agent/count.h). */
void java_counted_config(const struct pmu_list *list, struct text *out);
/* The file's lines; from then on the records of these counters are taken. */
void java_counted_begin(const struct pmu_list *list, struct inproc_drain *d);

#endif
