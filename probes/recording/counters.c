/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "pmu/counter.h"
#include "pmu/list.h"
#include "pmu/pfm.h"
#include "pmu/sysfs.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "trace/meta/print.h"

_Static_assert(PMU_LIST_MAX <= WIRE_COUNTERS_MAX, "a call's record has room for every list");

/*
 * Sorts perf events first, because the BPF programs read them before the numbers that the kernel
 * keeps for the task.
 */
static void perf_first(struct pmu_list *list)
{
	struct pmu_list sorted = *list;

	sorted.n = 0;
	for (unsigned task = 0; task < 2; task++)
		for (unsigned i = 0; i < list->n; i++)
			if ((list->events[i].source == PMU_TASK) == task)
				sorted.events[sorted.n++] = list->events[i];
	*list = sorted;
}

/*
 * Gives up all events, because their group counts nowhere while another profiler holds the
 * counters.
 */
static void give_up_all(struct recorded_counters *c, const struct err *why)
{
	struct pmu_list software;

	if (pmu_list_parse(&software, "software", NULL))
		software.n = 0;
	for (unsigned i = 0; i < c->list.n && c->list.n_missing < PMU_LIST_MAX; i++) {
		struct pmu_missing *m = &c->list.missing[c->list.n_missing++];

		m->event = c->list.events[i];
		snprintf(m->why, sizeof(m->why), "%.*s", (int)strcspn(why->text, ";"), why->text);
	}
	memcpy(c->list.events, software.events, sizeof(software.events));
	c->list.n = software.n;
	c->list.fell_back = true;
}

int recorded_counters_open(struct recorded_counters *c, const struct recording *r, struct err *err)
{
	const char *words = r->options->events ? r->options->events : "auto";
	struct err busy = { 0 };
	int ret;

	if (r->options->scout)
		words = "none";
	ret = pmu_list_parse(&c->list, words, err);
	if (!ret)
		ret = pmu_list_fit(&c->list, err);
	if (ret)
		return ret;
	/*
	 * At this period counting adds less than 15 % to a traced call (make bench, counters); each
	 * of the task's own numbers takes one load.
	 */
	c->period = r->options->events ? 1 : WIRE_OCCASION;
	perf_first(&c->list);
	ret = pmu_percpu_open(&c->events, &c->list, r->cpus.online, r->cpus.n, &busy);
	if (ret && (c->list.is_auto || ret == -EACCES || ret == -EPERM)) {
		give_up_all(c, &busy);
		return 0;
	}
	if (ret)
		*err = busy;
	return ret;
}

struct bpfprog_counters recorded_counters_plan(const struct recorded_counters *c)
{
	struct bpfprog_counters plan = { .n = c->list.n, .period = c->period };

	for (unsigned i = 0; i < c->list.n; i++) {
		const struct pmu_event *e = &c->list.events[i];

		if (e->source == PMU_TASK)
			plan.task[i] = (uint8_t)e->config;
		else
			plan.n_perf = i + 1;
	}
	return plan;
}

int recorded_counters_connect(const struct recorded_counters *c, const struct recording *r,
			      struct err *err)
{
	for (size_t cpu = 0; cpu < c->events.n_cpus; cpu++)
		for (size_t i = 0; i < c->events.n_events; i++) {
			int fd = pmu_percpu_fd(&c->events, cpu, i), ret;

			if (fd < 0)
				continue;
			ret = bpfprog_set_counter(r->programs, r->cpus.online[cpu], (uint32_t)i,
						  fd);
			if (ret)
				return err_set(err, ret,
					       "cannot connect a counter: %s; record with -e none",
					       strerror(-ret));
		}
	return 0;
}

static void write_counter(const struct recorded_counters *c, struct recording *r, uint32_t id,
			  const struct pmu_event *e, const char *why)
{
	struct text line = { 0 };
	struct meta_counter m = pmu_counter(e, id, why);

	m.by_default = !r->options->events;
	if (!*why) {
		m.on_change = e->source == PMU_TASK;
		m.period = m.on_change ? 1 : c->period;
	}
	meta_print_counter(&m, &line);
	recording_write_line(r, &line);
}

static void names(struct text *out, const char *before, const char *name)
{
	text_printf(out, "%s%s", out->n ? before : "", name);
}

/* Reports all missing counters in one sentence. */
static void report_missing(const struct recorded_counters *c, const struct recording *r)
{
	const struct pmu_list *list = &c->list;
	struct text missing = { 0 }, counted = { 0 };

	for (unsigned i = 0; i < list->n_missing; i++)
		names(&missing, ", ", list->missing[i].event.name);
	for (unsigned i = 0; i < list->n; i++)
		names(&counted, ", ", list->events[i].name);
	if (list->n_missing && list->fell_back && !r->options->events)
		log_detail("%s, counted in every call instead: %s", list->missing[0].why,
			   counted.s ? counted.s : "nothing");
	else if (list->n_missing && list->fell_back)
		log_notice("%s: not counted (%s), counted instead: %s", missing.s,
			   list->missing[0].why, counted.s ? counted.s : "nothing");
	else if (list->n_missing && !list->is_auto)
		log_notice("%s: not counted (%s)", missing.s, list->missing[0].why);
	if (recorded_counters_plan(c).n_perf)
		log_detail("counted, perf events at one call in %u: %s", c->period, counted.s);
	else if (list->n)
		log_detail("counted: %s", counted.s);
	text_release(&missing);
	text_release(&counted);
}

void recorded_counters_write(const struct recorded_counters *c, struct recording *r)
{
	const struct pmu_list *list = &c->list;

	for (unsigned i = 0; i < list->n; i++)
		write_counter(c, r, i, &list->events[i], "");
	for (unsigned i = 0; i < list->n_missing; i++)
		write_counter(c, r, list->n + r->options->stamp_cycles + i, &list->missing[i].event,
			      list->missing[i].why);
	report_missing(c, r);
}

const char *recorded_counters_pmu(char *buf, size_t n)
{
	const char *core = sysfs_core(buf, n);

	/*
	 * libpfm4 goes by the processor's model, which a virtual machine shows even without its PMU
	 */
	return strcmp(core, "none") != 0 && pfm_core() ? pfm_core() : core;
}

void recorded_counters_release(struct recorded_counters *c)
{
	pmu_percpu_release(&c->events);
}
