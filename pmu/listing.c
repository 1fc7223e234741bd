/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pmu/listing.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "pmu/group.h"
#include "pmu/list.h"
#include "pmu/perf_event.h"
#include "pmu/pfm.h"
#include "pmu/sysfs.h"

static void try_event(struct tried *t, const char *word)
{
	struct err err = { 0 };
	int ret = pmu_event_parse(&t->event, word, &err);

	if (ret) {
		snprintf(t->event.event, sizeof(t->event.event), "%s", word);
		snprintf(t->why, sizeof(t->why), "%.*s", (int)strcspn(err.text, ";"), err.text);
		return;
	}
	ret = perf_event_try(&t->event);
	if (ret) {
		char buf[120];

		snprintf(t->why, sizeof(t->why), "%s",
			 perf_event_why(&t->event, ret, buf, sizeof(buf)));
	}
}

static void try_named(void *ctx, const char *name, enum pmu_source source)
{
	struct counter_list *l = ctx;

	(void)source;
	try_event(vec_add(&l->counters), name);
}

static void try_group(struct counter_list *l, const struct pmu_group *g)
{
	struct tried_group *t = vec_add(&l->tried_groups);
	struct pmu_list list = { .is_auto = true };
	struct pmu_group_choice choice;

	t->group = g;
	pmu_group_choose(g, l->processor, &choice);
	for (unsigned i = 0; i < choice.n; i++) {
		struct tried *e = vec_add(&t->events);

		try_event(e, choice.rows[i]->event);
		snprintf(e->event.name, sizeof(e->event.name), "%s", choice.rows[i]->role);
		if (!*e->why)
			list.events[list.n++] = e->event;
	}
	pmu_list_fit(&list, NULL);
	t->fit = list.n;
}

void counter_list_find(struct counter_list *l)
{
	l->groups = xcalloc(1, sizeof(*l->groups));
	l->processor = pfm_core();
	l->paranoid = perf_event_paranoid();
	sysfs_core(l->pmu, sizeof(l->pmu));
	pmu_event_names(try_named, l);
	pmu_groups_load(l->groups);
	vec_for_each (l->groups, const struct pmu_group, g)
		try_group(l, g);
}

void counter_list_release(struct counter_list *l)
{
	vec_for_each (&l->tried_groups, struct tried_group, g)
		vec_release(&g->events);
	vec_release(&l->tried_groups);
	vec_release(&l->counters);
	if (l->groups)
		pmu_groups_release(l->groups);
	free(l->groups);
}

/* ---- text ---- */

/* The reason that all its missing events share, printed once; NULL: they have several. */
static const char *common_reason(const struct tried_group *g)
{
	const char *why = NULL;

	vec_for_each (&g->events, const struct tried, t) {
		if (!*t->why)
			continue;
		if (why && strcmp(why, t->why))
			return NULL;
		why = t->why;
	}
	return why;
}

static void print_event(const struct tried *t, const char *common, struct text *out)
{
	const char *name = strcmp(t->event.name, t->event.event) ? t->event.event : "";
	const char *why = !*t->why ? "" : common ? "no" : t->why;

	text_printf(out, "       %-*s%s%s%s%s\n", *name || *why ? 24 : 0, t->event.name,
		    *name || *why ? " " : "", name, *name && *why ? ": " : "", why);
}

static void print_group(const struct tried_group *g, struct text *out)
{
	const char *common = common_reason(g);
	unsigned usable = 0;

	vec_for_each (&g->events, const struct tried, t)
		usable += !*t->why;
	text_printf(out, "  %-4s %-24s %s\n",
		    !usable				      ? "no"
		    : g->fit < usable || usable < g->events.n ? "but"
							      : "yes",
		    g->group->name, g->group->what ? g->group->what : "");
	if (common)
		text_printf(out, "       %-24s %s\n", "", common);
	if (g->fit < usable)
		text_printf(out, "       %-24s only %u of its %u events count at once\n", "",
			    g->fit, usable);
	vec_for_each (&g->events, const struct tried, t)
		print_event(t, common, out);
}

void counter_list_print(const struct counter_list *l, struct text *out)
{
	text_printf(out, "\ncounters (core PMU: %s, libpfm4's tables: %s, perf_event_paranoid ",
		    l->pmu, l->processor ? l->processor : "none for this processor");
	if (l->paranoid == INT32_MAX)
		text_printf(out, "absent)\n");
	else
		text_printf(out, "%d)\n", l->paranoid);
	vec_for_each (&l->counters, const struct tried, t)
		text_printf(out, "  %-4s %-24s %s\n", *t->why ? "no" : "yes", t->event.name,
			    *t->why ? t->why : pmu_source_name(t->event.source));
	text_printf(out, "\ngroups of counters (record -e NAME)\n");
	vec_for_each (&l->tried_groups, const struct tried_group, g)
		print_group(g, out);
}

/* ---- JSON ---- */

static void set_hex(struct json *o, const char *key, uint64_t value)
{
	char hex[24];

	snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)value);
	json_set_string(o, key, hex);
}

static struct json *json_of_tried(const struct tried *t)
{
	struct json *o = json_new_object();

	json_set_string(o, "name", t->event.name);
	json_set_string(o, "kind", pmu_source_name(t->event.source));
	json_set_bool(o, "usable", !*t->why);
	json_set_string(o, "detail", *t->why ? t->why : NULL);
	json_set_string(o, "event", t->event.event);
	json_set_u64(o, "type", t->event.type);
	set_hex(o, "config", t->event.config);
	set_hex(o, "config1", t->event.config1);
	return o;
}

static struct json *json_of_group(const struct tried_group *g)
{
	struct json *o = json_new_object(), *events = json_new_array();

	json_set_string(o, "name", g->group->name);
	json_set_string(o, "what", g->group->what);
	json_set_string(o, "serves", g->group->serves);
	json_set_u64(o, "fit", g->fit);
	vec_for_each (&g->events, const struct tried, t)
		json_add_take(events, json_of_tried(t));
	json_set_take(o, "events", events);
	return o;
}

void counter_list_json(const struct counter_list *l, struct json *root)
{
	struct json *counters = json_new_array(), *groups = json_new_array();

	json_set_string(root, "pmu", l->pmu);
	json_set_string(root, "processor", l->processor);
	if (l->paranoid == INT32_MAX)
		json_set_null(root, "perf_event_paranoid");
	else
		json_set_i64(root, "perf_event_paranoid", l->paranoid);
	vec_for_each (&l->counters, const struct tried, t)
		json_add_take(counters, json_of_tried(t));
	json_set_take(root, "counters", counters);
	vec_for_each (&l->tried_groups, const struct tried_group, g)
		json_add_take(groups, json_of_group(g));
	json_set_take(root, "groups", groups);
}
