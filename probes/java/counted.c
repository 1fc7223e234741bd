// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/counted.h"

#include <stdio.h>

#include "base/log.h"
#include "base/text.h"
#include "pmu/counter.h"
#include "pmu/list.h"
#include "pmu/group.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/inproc.h"
#include "probes/inproc/lines.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

_Static_assert(PMU_LIST_MAX <= INPROC_COUNTS_MAX, "a call has room for every list");
_Static_assert(INPROC_COUNTS_MAX < 1 << INPROC_COUNT_BITS, "records have room for every number");

/* Returns the enum inproc_task that getrusage(2) counts the event as, or -1 if it does not. */
static int task_of(const struct pmu_event *e)
{
	switch ((enum pmu_task)e->config) {
	case PMU_TASK_MINOR_FAULTS:
		return INPROC_MINOR_FAULTS;
	case PMU_TASK_MAJOR_FAULTS:
		return INPROC_MAJOR_FAULTS;
	case PMU_TASK_PAGE_FAULTS:
		return INPROC_PAGE_FAULTS;
	case PMU_TASK_VOLUNTARY_SWITCHES:
		return INPROC_VOLUNTARY_SWITCHES;
	case PMU_TASK_INVOLUNTARY_SWITCHES:
		return INPROC_INVOLUNTARY_SWITCHES;
	case PMU_TASK_CONTEXT_SWITCHES:
		return INPROC_CONTEXT_SWITCHES;
	default:
		return -1;
	}
}

/* Ranks hardware events first, because the first event leads the group and keeps it on the CPU. */
static unsigned rank_of(const struct pmu_event *e)
{
	return e->source == PMU_HARDWARE ? 0 : e->source == PMU_TASK ? 2 : 1;
}

static void give_up(struct pmu_list *list, const struct pmu_event *e)
{
	struct pmu_missing *m;

	if (list->n_missing == PMU_LIST_MAX)
		return;
	m = &list->missing[list->n_missing++];
	m->event = *e;
	snprintf(m->why, sizeof(m->why), "a Java machine's threads cannot read it of themselves");
}

static void sort(struct pmu_list *list)
{
	const struct pmu_list all = *list;

	list->n = 0;
	for (unsigned rank = 0; rank < 3; rank++)
		for (unsigned i = 0; i < all.n; i++) {
			const struct pmu_event *e = &all.events[i];

			if (rank_of(e) != rank)
				continue;
			if (e->source == PMU_TASK && task_of(e) < 0)
				give_up(list, e);
			else
				list->events[list->n++] = *e;
		}
}

static void report_missing(const struct pmu_list *list)
{
	struct text missing = { 0 }, counted = { 0 };

	for (unsigned i = 0; i < list->n_missing; i++)
		text_printf(&missing, "%s%s", i ? ", " : "", list->missing[i].event.name);
	for (unsigned i = 0; i < list->n; i++)
		text_printf(&counted, "%s%s", i ? ", " : "", list->events[i].name);
	if (list->n_missing && (list->fell_back || !list->is_auto))
		log_notice("%s: not counted (%s)%s%s", missing.s, list->missing[0].why,
			   list->fell_back ? ", counted instead: " : "",
			   !list->fell_back ? ""
			   : list->n	    ? counted.s
					    : "nothing");
	text_release(&missing);
	text_release(&counted);
}

int java_counted_choose(struct pmu_list *list, const char *words, struct err *err)
{
	int ret = pmu_list_parse(list, words ? words : "none", err);

	if (!ret && list->n)
		ret = pmu_list_fit(list, err);
	if (ret)
		return ret;
	sort(list);
	report_missing(list);
	return 0;
}

void java_counted_config(const struct pmu_list *list, struct text *out)
{
	for (unsigned i = 0; list && i < list->n; i++) {
		const struct pmu_event *e = &list->events[i];

		if (e->source == PMU_TASK)
			text_printf(out, "count task %d\n", task_of(e));
		else
			text_printf(out, "count perf %u %llu %llu %llu %d %d\n", e->type,
				    (unsigned long long)e->config, (unsigned long long)e->config1,
				    (unsigned long long)e->config2, e->user, e->kernel);
	}
}

static void write_counter(struct inproc_drain *d, uint32_t id, const struct pmu_event *e,
			  const char *why)
{
	struct text line = { 0 };
	struct meta_counter m = pmu_counter(e, id, why);

	m.on_change = !*why; /* a thread reads its counters at both ends of each call */
	m.period = !*why;
	meta_print_counter(&m, &line);
	inproc_write_line(d->writer, &line);
}

void java_counted_begin(const struct pmu_list *list, struct inproc_drain *d)
{
	if (!list)
		return;
	for (unsigned i = 0; i < list->n; i++)
		write_counter(d, i, &list->events[i], "");
	for (unsigned i = 0; i < list->n_missing; i++)
		write_counter(d, list->n + i, &list->missing[i].event, list->missing[i].why);
	d->n_counts = list->n;
}
