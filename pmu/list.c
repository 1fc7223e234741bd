/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pmu/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "pmu/group.h"
#include "pmu/perf_event.h"
#include "pmu/pfm.h"

static bool same_event(const struct pmu_event *a, const struct pmu_event *b)
{
	return a->source == b->source && a->type == b->type && a->config == b->config &&
	       a->config1 == b->config1 && a->config2 == b->config2 && a->user == b->user &&
	       a->kernel == b->kernel;
}

/* If the name is taken by another event, its part is appended: "cycles:k". */
static int add(struct pmu_list *list, struct pmu_event *e, struct err *err)
{
	for (unsigned i = 0; i < list->n; i++) {
		size_t n = strlen(e->name);

		if (same_event(&list->events[i], e))
			return 0;
		if (!strcmp(list->events[i].name, e->name))
			snprintf(e->name + n, sizeof(e->name) - n, ":%s%s", e->user ? "u" : "",
				 e->kernel ? "k" : "");
	}
	if (list->n == PMU_LIST_MAX)
		return err_set(
			err, -E2BIG,
			"-e names more than %d events; a call's record holds %d, leave out '%s' "
			"or record twice",
			PMU_LIST_MAX, PMU_LIST_MAX, e->name);
	list->events[list->n++] = *e;
	return 0;
}

/* Gives the event the role for which a group would have chosen the same event on this machine. */
static void find_role(struct pmu_event *e, const struct pmu_groups *groups)
{
	struct pmu_group_choice choice;
	struct pfm_code row;
	const char *why;

	vec_for_each (groups, const struct pmu_group, g) {
		pmu_group_choose(g, pfm_core(), &choice);
		for (unsigned i = 0; i < choice.n && !*e->role; i++)
			if (strchr(choice.rows[i]->event, ':') &&
			    !pfm_encode(choice.rows[i]->event, &row, &why) && row.type == e->type &&
			    row.config == e->config && row.config1 == e->config1)
				snprintf(e->role, sizeof(e->role), "%s", choice.rows[i]->role);
	}
}

static int add_event(struct pmu_list *list, const char *word, const char *modifier,
		     const struct pmu_groups *groups, struct err *err)
{
	char *full = xasprintf("%s%s%s", word, *modifier ? ":" : "", modifier);
	struct pmu_event e;
	int ret = pmu_event_parse(&e, full, err);

	free(full);
	if (!ret && !*e.role)
		find_role(&e, groups);
	return ret ? ret : add(list, &e, err);
}

/* Adds the group's rows for this processor. */
static int add_group(struct pmu_list *list, const struct pmu_group *g, struct err *err)
{
	struct pmu_group_choice choice;
	int ret = 0;

	pmu_group_choose(g, pfm_core(), &choice);
	for (unsigned i = 0; i < choice.n && !ret; i++) {
		struct pmu_event e;

		ret = pmu_event_parse(&e, choice.rows[i]->event, err);
		if (ret)
			return ret;
		snprintf(e.name, sizeof(e.name), "%s", choice.rows[i]->role);
		snprintf(e.role, sizeof(e.role), "%s", choice.rows[i]->role);
		ret = add(list, &e, err);
	}
	return ret;
}

static int add_file(struct pmu_list *list, const char *path, struct err *err)
{
	struct pmu_groups groups = { 0 };
	char *text = NULL;
	size_t room = 0;
	FILE *f = fopen(path, "re");
	ssize_t n = f ? getdelim(&text, &room, '\0', f) : -1;
	int ret;

	if (n < 0)
		ret = err_set(err, -(errno ? errno : EINVAL),
			      "cannot read the group file %s (%s); check its name", path,
			      f ? "it is empty" : strerror(errno));
	else
		ret = pmu_groups_parse(&groups, text, (size_t)n, path, err);
	vec_for_each (&groups, const struct pmu_group, g)
		if (!ret)
			ret = add_group(list, g, err);
	pmu_groups_release(&groups);
	free(text);
	if (f)
		fclose(f);
	return ret;
}

static int add_word(struct pmu_list *list, const char *word, const char *modifier,
		    const struct pmu_groups *groups, struct err *err)
{
	const struct pmu_group *g;

	if (*word == '@')
		return add_file(list, word + 1, err);
	g = pmu_groups_find(groups, word);
	return g ? add_group(list, g, err) : add_event(list, word, modifier, groups, err);
}

/* Returns the length of the word, which ends at a comma that is not between slashes. */
static size_t word_length(const char *s)
{
	bool in_slashes = false;
	size_t n = 0;

	for (; s[n] && (in_slashes || s[n] != ','); n++)
		in_slashes ^= s[n] == '/';
	return n;
}

static int add_words(struct pmu_list *list, const char *words, const char *modifier,
		     const struct pmu_groups *groups, struct err *err);

/*
 * Adds the words of "{a,b}:u", each with the modifier. Braces need not group, as everything counts
 * at once. Returns the number of bytes used, or a negative errno.
 */
static ssize_t add_braces(struct pmu_list *list, const char *s, const struct pmu_groups *groups,
			  struct err *err)
{
	const char *close = strchr(s, '}');
	size_t n = close ? word_length(close) : 0;
	char *inner, *modifier;
	int ret;

	if (!close)
		return err_set(err, -EINVAL, "'%s' lacks a closing brace; end the group with }", s);
	if (n > 1 && (close[1] != ':' || n != 2 + strspn(close + 2, "uk") || n == 2))
		return err_set(err, -EINVAL, "'%s' is no modifier; braces take :u, :k or :uk",
			       close + 1);
	inner = xstrndup(s + 1, (size_t)(close - s - 1));
	modifier = xstrndup(n > 1 ? close + 2 : "", n > 1 ? n - 2 : 0);
	ret = add_words(list, inner, modifier, groups, err);
	free(inner);
	free(modifier);
	return ret ? ret : close - s + (ssize_t)n;
}

static int add_words(struct pmu_list *list, const char *s, const char *modifier,
		     const struct pmu_groups *groups, struct err *err)
{
	while (*s) {
		ssize_t used;

		if (*s == '{' && !*modifier) {
			used = add_braces(list, s, groups, err);
		} else {
			char *word = xstrndup(s, word_length(s));
			int ret = add_word(list, word, modifier, groups, err);

			used = ret ? ret : (ssize_t)strlen(word);
			free(word);
		}
		if (used < 0)
			return (int)used;
		s += used;
		if (*s == ',' && !*++s)
			return err_set(err, -EINVAL,
				       "-e ends with a comma; name an event behind it");
	}
	return 0;
}

int pmu_list_parse(struct pmu_list *list, const char *words, struct err *err)
{
	struct pmu_groups groups;
	int ret;

	*list = (struct pmu_list){ .is_auto = !strcmp(words, "auto") };
	if (!strcmp(words, "none"))
		return 0;
	if (!*words)
		return err_set(err, -EINVAL, "-e names no event; ispot list names what there is");
	pmu_groups_load(&groups);
	ret = add_words(list, words, "", &groups, err);
	pmu_groups_release(&groups);
	return ret;
}

/* ---- what this machine can count ---- */

static void give_up(struct pmu_list *list, unsigned i, const char *why)
{
	struct pmu_missing *m = &list->missing[list->n_missing++];

	m->event = list->events[i];
	snprintf(m->why, sizeof(m->why), "%s", why);
	list->n--;
	memmove(&list->events[i], &list->events[i + 1], (list->n - i) * sizeof(list->events[0]));
}

static void try_each(struct pmu_list *list)
{
	char buf[120];

	for (unsigned i = 0; i < list->n;) {
		int ret = perf_event_try(&list->events[i]);

		if (ret)
			give_up(list, i, perf_event_why(&list->events[i], ret, buf, sizeof(buf)));
		else
			i++;
	}
}

/* Whether a group counts: read(2) fails for a group that does not fit into the PMU's counters. */
static bool counts(int leader)
{
	uint64_t values[3];

	return read(leader, values, sizeof(values)) == sizeof(values);
}

/* Returns how many of the hardware events, in their order, count at once on a CPU. */
static unsigned try_group(const struct pmu_list *list, unsigned *hardware)
{
	unsigned n = 0, fit = 0;
	int fds[PMU_LIST_MAX];

	*hardware = 0;
	for (unsigned i = 0; i < list->n; i++) {
		if (list->events[i].source != PMU_HARDWARE || ++*hardware > n + 1)
			continue;
		fds[n] = perf_event_open(&list->events[i], -1, n ? fds[0] : -1);
		n += fds[n] >= 0;
		if (n == *hardware && fit + 1 == n && counts(fds[0]))
			fit = n;
	}
	for (unsigned i = n; i-- > 0;)
		close(fds[i]);
	return fit;
}

static const char *watchdog(void)
{
	FILE *f = fopen("/proc/sys/kernel/nmi_watchdog", "re");
	int on = 0;

	if (f && fscanf(f, "%d", &on) != 1)
		on = 0;
	if (f)
		fclose(f);
	return on ? " (the NMI watchdog holds one: sysctl kernel.nmi_watchdog=0)" : "";
}

/* An automatic list is cut to the events that fit; other lists fail. */
static int fit_hardware(struct pmu_list *list, struct err *err)
{
	unsigned hardware, fits = try_group(list, &hardware), seen = 0;
	struct text names = { 0 };

	if (fits >= hardware)
		return 0;
	for (unsigned i = 0; i < list->n; i++) {
		if (list->events[i].source != PMU_HARDWARE || ++seen <= fits)
			continue;
		if (list->is_auto) {
			give_up(list, i--, "no counter is left for it beside the others");
		} else {
			text_printf(&names, "%s%s", names.n ? ", " : "", list->events[i].name);
		}
	}
	if (!list->is_auto)
		err_set(err, -ENOSPC,
			"%u hardware events are to count at once, and %u do on this PMU%s; leave out "
			"%s, or record twice",
			hardware, fits, watchdog(), names.s);
	text_release(&names);
	return list->is_auto ? 0 : -ENOSPC;
}

static bool has_hardware(const struct pmu_list *list)
{
	for (unsigned i = 0; i < list->n; i++)
		if (list->events[i].source == PMU_HARDWARE)
			return true;
	return false;
}

int pmu_list_fit(struct pmu_list *list, struct err *err)
{
	struct pmu_groups groups;
	int ret;

	try_each(list);
	ret = fit_hardware(list, err);
	if (ret || !list->n_missing || (list->is_auto ? has_hardware(list) : list->n))
		return ret;
	list->n = 0;
	pmu_groups_load(&groups);
	ret = add_group(list, pmu_groups_find(&groups, "software"), err);
	pmu_groups_release(&groups);
	list->fell_back = true;
	return ret;
}
