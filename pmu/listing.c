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

#define COLUMNS	      80
#define LIST_INDENT   10
#define MISSING_NAMED 3 /* of the counters that cannot be used for the same reason */

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

/*
 * Returns the reason that all unusable events of the group share, which is printed once, or NULL if
 * they have several.
 */
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

	text_printf(out, "          %-*s%s%s%s%s\n", *name || *why ? 24 : 0, t->event.name,
		    *name || *why ? " " : "", name, *name && *why ? ": " : "", why);
}

static unsigned usable_of(const struct tried_group *g)
{
	unsigned usable = 0;

	vec_for_each (&g->events, const struct tried, t)
		usable += !*t->why;
	return usable;
}

static const char *state_of(const struct tried_group *g)
{
	unsigned usable = usable_of(g);

	return !usable ? "no" : g->fit < usable || usable < g->events.n ? "limited" : "yes";
}

static void print_group(const struct tried_group *g, struct text *out)
{
	const char *common = common_reason(g);

	text_printf(out, "  %-7s %-24s %s\n", state_of(g), g->group->name,
		    g->group->what ? g->group->what : "");
	if (common)
		text_printf(out, "          %-24s %s\n", "", common);
	if (g->fit < usable_of(g))
		text_printf(out, "          %-24s only %u of its %u events count at once\n", "",
			    g->fit, usable_of(g));
	vec_for_each (&g->events, const struct tried, t)
		print_event(t, common, out);
}

/*
 * Adds a word to a list whose lines end before COLUMNS; *used counts the columns of the current
 * line.
 */
static void add_word(const char *word, unsigned indent, unsigned *used, struct text *out)
{
	unsigned n = (unsigned)strlen(word);

	if (*used > indent && *used + 1 + n > COLUMNS) {
		text_printf(out, "\n%*s", (int)indent, "");
		*used = indent;
	} else if (*used > indent) {
		text_add(out, " ");
		++*used;
	}
	text_add(out, word);
	*used += n;
}

static void add_name(const char *name, bool last, unsigned *used, struct text *out)
{
	char word[sizeof(((struct tried *)NULL)->event.name) + 2];

	snprintf(word, sizeof(word), "%s%s", name, last ? "" : ",");
	add_word(word, LIST_INDENT, used, out);
}

static void add_words(const char *s, unsigned *used, struct text *out)
{
	char word[128];

	while (*s) {
		size_t n = strcspn(s, " ");

		snprintf(word, sizeof(word), "%.*s", (int)n, s);
		add_word(word, LIST_INDENT, used, out);
		s += n + strspn(s + n, " ");
	}
}

/*
 * Prints one list of the counters with this reason, which comes last; why "": those that can be
 * used.
 */
static void print_alike(const struct counter_list *l, const char *why, struct text *out)
{
	unsigned used = LIST_INDENT;
	size_t n = 0, all = 0;

	vec_for_each (&l->counters, const struct tried, t)
		all += !strcmp(t->why, why);
	if (!all)
		return;
	text_printf(out, "  %-7s ", *why ? "no" : "yes");
	vec_for_each (&l->counters, const struct tried, t) {
		if (strcmp(t->why, why))
			continue;
		if (*why && n == MISSING_NAMED && all > MISSING_NAMED + 1)
			break;
		n++;
		add_name(t->event.name, n == all && !*why, &used, out);
	}
	if (*why) {
		char rest[40];

		snprintf(rest, sizeof(rest), "%zu more:", all - n);
		if (all > n)
			add_words(rest, &used, out);
		add_words(why, &used, out);
	}
	text_add(out, "\n");
}

static bool is_first_with_reason(const struct counter_list *l, const struct tried *t)
{
	vec_for_each (&l->counters, const struct tried, other) {
		if (other == t)
			break;
		if (!strcmp(other->why, t->why))
			return false;
	}
	return *t->why;
}

static void print_group_short(const struct tried_group *g, struct text *out)
{
	unsigned usable = usable_of(g), used = LIST_INDENT;
	char words[160];

	text_printf(out, "  %-7s ", state_of(g));
	snprintf(words, sizeof(words), usable < g->events.n ? "%s: %u of its %zu events" : "%s",
		 g->group->name, g->fit, g->events.n);
	add_words(words, &used, out);
	if (g->fit < usable) {
		snprintf(words, sizeof(words), "%s%u count at once",
			 usable < g->events.n ? "" : ": of its events ", g->fit);
		add_words(words, &used, out);
	} else if (usable < g->events.n) {
		add_words("count:", &used, out);
		vec_for_each (&g->events, const struct tried, t)
			if (!*t->why)
				add_name(t->event.name, !--usable, &used, out);
	}
	text_add(out, "\n");
}

/* Prints one line for all groups in which nothing counts for the same reason. */
static void print_unusable(const struct counter_list *l, const char *why, struct text *out)
{
	unsigned used = LIST_INDENT;

	text_printf(out, "  %-7s ", "no");
	vec_for_each (&l->tried_groups, const struct tried_group, g)
		if (!usable_of(g) && common_reason(g) && !strcmp(common_reason(g), why))
			add_name(g->group->name, false, &used, out);
	out->s[--out->n] = '\0';
	text_add(out, ":");
	add_words(why, &used, out);
	text_add(out, "\n");
}

static void print_groups(const struct counter_list *l, struct text *out)
{
	const char *told = NULL;

	vec_for_each (&l->tried_groups, const struct tried_group, g) {
		const char *common = usable_of(g) ? NULL : common_reason(g);

		if (!common)
			print_group_short(g, out);
		else if (!told || strcmp(told, common))
			print_unusable(l, told = common, out);
	}
}

static void print_short(const struct counter_list *l, struct text *out)
{
	text_add(out, "\ncounters (record -e NAME)\n");
	print_alike(l, "", out);
	vec_for_each (&l->counters, const struct tried, t)
		if (is_first_with_reason(l, t))
			print_alike(l, t->why, out);
	text_add(out, "\ngroups of counters (record -e NAME)\n");
	print_groups(l, out);
}

void counter_list_print(const struct counter_list *l, bool each, struct text *out)
{
	if (!each) {
		print_short(l, out);
		return;
	}
	text_printf(out, "\ncounters (core PMU: %s, libpfm4's tables: %s, perf_event_paranoid ",
		    l->pmu, l->processor ? l->processor : "none for this processor");
	if (l->paranoid == INT32_MAX)
		text_printf(out, "absent)\n");
	else
		text_printf(out, "%d)\n", l->paranoid);
	vec_for_each (&l->counters, const struct tried, t)
		text_printf(out, "  %-7s %-24s %s\n", *t->why ? "no" : "yes", t->event.name,
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
