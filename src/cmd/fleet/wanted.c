/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/fleet/wanted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/ipc.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/fleet/internal.h"
#include "probes/sample/ipc.h"
#include "trace/meta/meta.h"

#define DURATION "duration"
#define IPC	 "ipc"

/* Common names of events that have other names in the kernel. */
static const char *const events[][2] = { { "llc-misses", "cache-misses" } };

static bool is_event(const char *word)
{
	return strcmp(word, DURATION) != 0 && strcmp(word, IPC) != 0;
}

static const char *event_of(const char *word)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (!strcmp(word, events[i][0]))
			return events[i][1];
	return word;
}

static int add_word(struct fleet_wanted *w, const char *word, struct err *err)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (!strcmp(w->words[i], word))
			return args_refuse(err, "--indicator: %s twice; name it once", word);
	if (!*word || w->n == FLEET_INDICATORS)
		return args_refuse(err,
				   "--indicator: no name, or more than %d; name what to "
				   "measure, as ipc,llc-misses",
				   FLEET_INDICATORS);
	if (strlen(word) >= sizeof(((struct fleet_indicator *)0)->name))
		return args_refuse(err, "--indicator %s: no such event; ispot list has them", word);
	w->words[w->n++] = word;
	w->durations |= !strcmp(word, DURATION);
	w->counters |= strcmp(word, DURATION) != 0;
	return 0;
}

static int check(const struct fleet_wanted *w, const struct fleet_args *a, struct err *err)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < w->n; i++)
		most += is_event(w->words[i]);
	if (most > IPC_EVENTS)
		return args_refuse(err,
				   "--indicator: more events than are counted at once; name "
				   "at most %d",
				   IPC_EVENTS);
	if (w->durations && !a->functions.n)
		return args_refuse(err, "--indicator duration: no function; name it with -F");
	if (!w->durations && a->functions.n)
		return args_refuse(err, "-F names a function, and its duration is not among the "
					"indicators; add it: --indicator duration,...");
	return 0;
}

int fleet_wanted_init(struct fleet_wanted *w, const struct fleet_args *a, struct err *err)
{
	struct text list = { 0 };
	char *rest, *word;
	int rc = 0;

	*w = (struct fleet_wanted){ .each = a->indicators.n };
	vec_for_each (&a->indicators, const char *const, words)
		text_printf(&list, "%s%s", list.n ? "," : "", *words);
	if (!a->indicators.n)
		text_add(&list, a->functions.n ? DURATION : IPC);
	w->list = rest = xstrdup(list.s);
	text_release(&list);
	while (!rc && (word = strsep(&rest, ",")))
		rc = add_word(w, word, err);
	return rc ? rc : check(w, a, err);
}

void fleet_wanted_release(struct fleet_wanted *w)
{
	free(w->list);
	w->list = NULL;
}

void fleet_wanted_events(const struct fleet_wanted *w, struct ipc *ipc)
{
	ipc->n_events = 0;
	for (uint32_t i = 0; i < w->n; i++)
		if (is_event(w->words[i]))
			ipc->events[ipc->n_events++] = event_of(w->words[i]);
}

/* ---- durations ---- */

static int refuse_functions(struct err *err)
{
	return err_set(err, -EINVAL,
		       "-F matches more functions than a file has indicators, or two of one name; "
		       "name those that are to be compared, %d at most with the others",
		       FLEET_INDICATORS);
}

/* Inserts a function in the order of names. */
static int add_function(struct fleet_wanted *w, const struct meta_function *f, struct err *err)
{
	char name[sizeof(w->names[0])];
	uint32_t at = 0;

	snprintf(name, sizeof(name), "duration of %s", f->name);
	while (at < w->n_functions && strcmp(w->names[at], name) < 0)
		at++;
	if (w->n - 1 + w->n_functions == FLEET_INDICATORS ||
	    (at < w->n_functions && !strcmp(w->names[at], name)))
		return refuse_functions(err);
	for (uint32_t i = w->n_functions++; i > at; i--) {
		w->functions[i] = w->functions[i - 1];
		memcpy(w->names[i], w->names[i - 1], sizeof(name));
	}
	w->functions[at] = f->id;
	memcpy(w->names[at], name, sizeof(name));
	return 0;
}

/* Finds the function's new id: a later trace has the same functions, but their ids may differ. */
static void find_again(struct fleet_wanted *w, const struct meta_function *f)
{
	char name[sizeof(w->names[0])];

	snprintf(name, sizeof(name), "duration of %s", f->name);
	for (uint32_t i = 0; i < w->n_functions; i++)
		if (!strcmp(w->names[i], name))
			w->functions[i] = f->id;
}

int fleet_wanted_functions(struct fleet_wanted *w, const struct meta *meta, struct err *err)
{
	bool known = w->n_functions;
	int rc = 0;

	for (uint32_t i = 0; i < w->n_functions; i++)
		w->functions[i] = UINT32_MAX;
	vec_for_each (&meta->functions, const struct meta_function, f) {
		if (rc || !f->symbol || !f->chosen)
			continue;
		if (known)
			find_again(w, f);
		else
			rc = add_function(w, f, err);
	}
	return rc;
}

bool fleet_wanted_known(const struct fleet_wanted *w)
{
	return !w->each || !w->durations || w->n_functions;
}

/* Returns the number of indicators that a word stands for. */
static uint32_t width_of(const struct fleet_wanted *w, uint32_t word)
{
	return w->each && !strcmp(w->words[word], DURATION) ? w->n_functions : 1;
}

uint32_t fleet_wanted_find(const struct fleet_wanted *w, uint32_t function)
{
	uint32_t number = 0;

	for (uint32_t i = 0; strcmp(w->words[i], DURATION) != 0; i++)
		number += width_of(w, i);
	if (!w->each)
		return number;
	for (uint32_t i = 0; i < w->n_functions; i++)
		if (w->functions[i] == function)
			return number + i;
	return UINT32_MAX;
}

/* ---- counters ---- */

void fleet_wanted_numbers(const struct fleet_wanted *w, struct fleet_ipc *samples)
{
	uint32_t number = 0;

	samples->n = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		if (strcmp(w->words[i], DURATION) != 0)
			samples->indicators[samples->n++] = number;
		number += width_of(w, i);
	}
}

void fleet_wanted_values(const struct fleet_wanted *w, const struct ipc_sample *s, uint32_t *values)
{
	const uint64_t *event = s->events;

	for (uint32_t i = 0; i < w->n; i++)
		if (is_event(w->words[i]))
			*values++ = fleet_ipc_rate(*event++, s->instructions);
		else if (!strcmp(w->words[i], IPC))
			*values++ = fleet_ipc_value(s->instructions, s->cycles);
}

/* ---- the header ---- */

static void add_indicator(struct fleet_header *h, uint32_t number, const char *name,
			  const char *unit, bool higher_is_better)
{
	struct fleet_indicator more = { .higher_is_better = higher_is_better };

	if (number) {
		snprintf(more.name, sizeof(more.name), "%s", name);
		snprintf(more.unit, sizeof(more.unit), "%s", unit);
		h->more[number - 1] = more;
		h->n_more = number;
		return;
	}
	snprintf(h->indicator, sizeof(h->indicator), "%s", name);
	snprintf(h->unit, sizeof(h->unit), "%s", unit);
	h->higher_is_better = higher_is_better;
}

void fleet_wanted_describe(const struct fleet_wanted *w, const char *duration,
			   struct fleet_header *h)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		const char *word = w->words[i];

		if (strcmp(word, DURATION) != 0)
			add_indicator(h, number++, word, "1e-6", !strcmp(word, IPC));
		else if (!w->each)
			add_indicator(h, number++, duration, "ns", false);
		for (uint32_t f = 0; w->each && !strcmp(word, DURATION) && f < w->n_functions; f++)
			add_indicator(h, number++, w->names[f], "ns", false);
	}
}
