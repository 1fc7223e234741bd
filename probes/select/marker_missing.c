/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a pattern of markers or USDT probes found nothing, and what there is instead. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/select/marker.h"
#include "probes/select/select_internal.h"

#define NAMES_MAX 5

struct names { /* of the notes of one kind, each once, near ones first */
	const char *typed;
	VEC(char *)
};

static unsigned far_from(const char *typed, const char *name)
{
	return strstr(name, typed) ? 0 : text_distance(typed, name, 64);
}

static void names_add(struct names *all, char *name)
{
	size_t at = all->n;

	vec_for_each (all, char *, known) {
		if (strcmp(*known, name) != 0)
			continue;
		free(name);
		return;
	}
	*vec_add(all) = name;
	for (; at && far_from(all->typed, all->data[at - 1]) > far_from(all->typed, name); at--)
		all->data[at] = all->data[at - 1];
	all->data[at] = name;
}

static void names_release(struct names *all)
{
	vec_for_each (all, char *, name)
		free(*name);
	vec_release(all);
}

static void say_names(struct text *t, const struct names *all)
{
	for (size_t i = 0; i < all->n && i < NAMES_MAX; i++)
		text_printf(t, "%s%s", i ? ", " : " ", all->data[i]);
	if (all->n > NAMES_MAX)
		text_printf(t, " and %zu more", all->n - NAMES_MAX);
}

/* A marker's name from its note's: cut off at the last "__". */
static char *marker_name(const char *note)
{
	const char *last = note;

	for (const char *s = note; (s = strstr(s, "__")); s++)
		last = s;
	return xstrndup(note, last == note ? strlen(note) : (size_t)(last - note));
}

static void gather(const struct pattern *p, struct dso *dso, struct names *same,
		   struct names *others)
{
	const struct dso_marker *notes;
	size_t n = dso_markers(dso, &notes);

	for (size_t i = 0; i < n; i++) {
		bool ours = !strcmp(notes[i].provider, MARKER_PROVIDER);

		if (p->of == PATTERN_OF_MARKERS && ours)
			names_add(same, marker_name(notes[i].name));
		else if (p->of == PATTERN_OF_USDT && !fnmatch(p->object, notes[i].provider, 0))
			names_add(same, xstrdup(notes[i].name));
		else if (p->of == PATTERN_OF_USDT)
			names_add(others, xstrdup(notes[i].provider));
	}
}

#define NEAR 2 /* edits: a slip of the keys */

static bool is_near(const char *provider, const struct names *others)
{
	for (size_t i = 0; i < others->n; i++)
		if (text_distance(provider, others->data[i], NEAR) <= NEAR)
			return true;
	return false;
}

/* Probes of a library that is loaded later join then, as its functions do. */
static int no_probes(const struct pattern *p, const struct names *others, struct err *err)
{
	struct text t = { 0 };
	int ret;

	if (p->of == PATTERN_OF_MARKERS)
		return err_set(err, -ENOENT,
			       "-F '%s': the program has no markers; include ispot.h and put "
			       "ISPOT_BEGIN(name) and ISPOT_END(name) around a block, see ispot(1)",
			       p->typed);
	text_printf(&t,
		    "-F '%s': the program and its libraries have no USDT probe of provider '%s'",
		    p->typed, p->object);
	if (is_near(p->object, others)) {
		text_add(&t, "; there is");
		say_names(&t, others);
		ret = err_set(err, -ENOENT, "%s", t.s);
	} else {
		log_notice("%s yet; it joins when a library that has one is loaded", t.s);
		ret = 0;
	}
	text_release(&t);
	return ret;
}

int marker_missing(const struct pattern *p, struct dso *const *dsos, size_t n, struct err *err)
{
	struct names same = { .typed = p->name }, others = { .typed = p->object ? p->object : "" };
	struct text t = { 0 };
	int ret;

	if (p->impossible)
		return err_set(err, -ENOENT, "-F '%s': %s", p->typed, p->impossible);
	for (size_t i = 0; i < n; i++)
		gather(p, dsos[i], &same, &others);
	if (!same.n) {
		ret = no_probes(p, &others, err);
	} else {
		text_printf(&t, "-F '%s': there is no such %s; there is", p->typed,
			    p->of == PATTERN_OF_MARKERS ? "marker" : "pair of probes");
		say_names(&t, &same);
		ret = err_set(err, -ENOENT, "%s", t.s);
	}
	text_release(&t);
	names_release(&same);
	names_release(&others);
	return ret;
}
