/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/select/marker.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "symbol/dso/markers.h"

/* The suffixes of the names of a marker's notes. */
static const char begin_suffix[] = "__begin", loop_suffix[] = "__loop", end_suffix[] = "__end";

void marker_free(struct marker *m)
{
	if (!m)
		return;
	free((char *)m->function.symbol);
	vec_release(&m->begins);
	vec_release(&m->ends);
	free(m);
}

bool marker_is_endless(const struct marker *m)
{
	return !m->ends.n && !strncmp(m->function.symbol, "marker:", 7);
}

/* ---- patterns ---- */

static int usage(struct err *err, int code)
{
	if (err)
		err->exit_status = 2;
	return code;
}

static int parse_usdt(struct pattern *p, const char *rest, struct err *err)
{
	const char *colon = strchr(rest, ':'), *dots = colon ? strstr(colon, "..") : NULL;
	const char *end = dots ? dots + 2 : "", *at = strchr(rest, '@');
	size_t n = at ? (size_t)(at - rest) : strlen(rest);

	p->of = PATTERN_OF_USDT;
	p->arguments = xstrdup(at ? at + 1 : "");
	if (!colon || colon == rest || !colon[1] || dots == colon + 1 || (dots && !*end))
		return usage(
			err,
			err_set(err, -EINVAL,
				"-F '%s': not a pair of USDT probes; write usdt:PROVIDER:BEGIN..END, as in usdt:postgresql:query__start..query__done",
				p->typed));
	p->object = xstrndup(rest, (size_t)(colon - rest));
	p->name = xstrndup(colon + 1, (size_t)((dots ? dots : rest + n) - colon - 1));
	p->kind = strchr(p->name, '*') ? PATTERN_GLOB : PATTERN_NAME;
	p->end = xstrndup(end, dots ? (size_t)(rest + n - end) : 0);
	if (strchr(p->end, '*') && !strchr(p->name, '*'))
		return usage(err, err_set(err, -EINVAL,
					  "-F '%s': the * of the end is what the * of the begin "
					  "matched, which has none; name the end",
					  p->typed));
	return 0;
}

int marker_pattern_parse(struct pattern *p, const char *rest, struct err *err)
{
	if (!strncmp(rest, "usdt:", 5))
		return parse_usdt(p, rest + 5, err);
	p->of = PATTERN_OF_MARKERS;
	return 0; /* the name is parsed as a function's */
}

/* ---- names ---- */

/* Returns the length of the marker's name in a note's name, or 0 without that suffix. */
static size_t stem_length(const char *note, const char *suffix)
{
	size_t n = strlen(note), k = strlen(suffix);

	return n > k && !strcmp(note + n - k, suffix) ? n - k : 0;
}

static bool name_matches(const struct pattern *p, const char *name)
{
	switch (p->kind) {
	case PATTERN_REGEX:
		return !regexec(&p->regex, name, 0, NULL, 0);
	case PATTERN_GLOB:
		return !fnmatch(p->name, name, 0);
	case PATTERN_NAME:
		return !strcmp(p->name, name);
	}
	return false;
}

/*
 * Finds the part of the name that the `*` of a pattern stands for; *n is 0 if the pattern has no
 * `*`. Returns false if the name does not match.
 */
static bool star_match(const char *pattern, const char *name, const char **stem, size_t *n)
{
	const char *star = strchr(pattern, '*');
	size_t before = star ? (size_t)(star - pattern) : 0, after, all = strlen(name);

	*stem = name;
	*n = 0;
	if (!star)
		return !strcmp(pattern, name);
	after = strlen(star + 1);
	if (all < before + after || strncmp(pattern, name, before) != 0 ||
	    strcmp(star + 1, name + all - after) != 0)
		return false;
	*stem = name + before;
	*n = all - before - after;
	return true;
}

/* Returns the pattern with its `*` replaced by stem. */
static char *star_fill(const char *pattern, size_t n_pattern, const char *stem, size_t n)
{
	const char *star = memchr(pattern, '*', n_pattern);
	size_t before = star ? (size_t)(star - pattern) : n_pattern;

	return xasprintf("%.*s%.*s%.*s", (int)before, pattern, star ? (int)n : 0, stem,
			 star ? (int)(n_pattern - before - 1) : 0, star ? star + 1 : "");
}

/* ---- blocks ---- */

static struct marker *block_of(struct marker_list *found, char *symbol, size_t prefix)
{
	struct marker *m;

	vec_for_each (found, struct marker *, known) {
		if (strcmp((*known)->function.symbol, symbol) != 0)
			continue;
		free(symbol);
		return *known;
	}
	m = xcalloc(1, sizeof(*m));
	m->period = 1;
	m->function.symbol = symbol;
	m->function.name = m->function.bare_name = symbol + prefix;
	*vec_add(found) = m;
	return m;
}

static void add_point(struct marker_points *points, const struct dso_marker *note)
{
	*vec_add(points) = (struct marker_point){
		.address = note->address,
		.file_offset = note->file_offset,
		.semaphore_offset = note->semaphore_offset,
		.arguments = note->arguments,
	};
}

static void add_begin(struct marker *m, const struct dso_marker *note)
{
	add_point(&m->begins, note);
	if (m->begins.n > 1)
		return;
	m->function.address = note->address;
	m->function.file_offset = note->file_offset;
}

/* Returns the period of a loop's note: "-4@$1000" means that one iteration in 1000 is recorded. */
static uint64_t period_of(const char *arguments)
{
	const char *at = strchr(arguments, '@');
	unsigned long long n;

	at = at ? at + 1 + (at[1] == '$') : arguments;
	n = strtoull(at, NULL, 10);
	return n ? n : 1;
}

/* Returns the values of a loop's begin, which follow the period. */
static const char *behind_period(const char *arguments)
{
	const char *blank = strchr(arguments, ' ');

	return blank ? blank + 1 : "";
}

static void match_marker(const struct pattern *p, const struct dso_marker *note,
			 struct marker_list *found)
{
	size_t begin = stem_length(note->name, begin_suffix);
	size_t loop = stem_length(note->name, loop_suffix);
	size_t end = stem_length(note->name, end_suffix);
	struct marker *m;
	char *symbol;

	if (!begin && !loop && !end)
		return;
	symbol = xasprintf("marker:%.*s", (int)(begin + loop + end), note->name);
	if (!name_matches(p, symbol + 7)) {
		free(symbol);
		return;
	}
	m = block_of(found, symbol, 7);
	if (end) {
		add_point(&m->ends, note);
		return;
	}
	add_begin(m, note);
	if (loop) {
		m->period = period_of(note->arguments);
		vec_last(&m->begins)->arguments = behind_period(note->arguments);
	}
}

static void match_usdt_begin(const struct pattern *p, const struct dso_marker *note,
			     struct marker_list *found)
{
	const char *stem;
	char *end, *symbol;
	size_t n;

	if (fnmatch(p->object, note->provider, 0) || !star_match(p->name, note->name, &stem, &n))
		return;
	end = star_fill(p->end, strlen(p->end), stem, n);
	symbol = xasprintf("usdt:%s:%s%s%s", note->provider, note->name, *end ? ".." : "", end);
	free(end);
	add_begin(block_of(found, symbol, 5), note);
}

/* Whether the note is one of the ends in a block's name: "provider:begin..done|failed". */
static bool is_end_of(const struct marker *m, const struct dso_marker *note)
{
	const char *name = m->function.name, *end = strstr(name, "..");
	size_t n = strlen(note->provider), k = strlen(note->name);

	if (strncmp(name, note->provider, n) != 0 || name[n] != ':')
		return false;
	for (end = end ? end + 2 : NULL; end; end = strchr(end, '|') ? strchr(end, '|') + 1 : NULL)
		if (!strncmp(end, note->name, k) && (!end[k] || end[k] == '|'))
			return true;
	return false;
}

static void drop_endless(struct marker_list *found)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->n; i++) {
		struct marker *m = found->data[i];

		if (m->ends.n || !strstr(m->function.name, ".."))
			found->data[kept++] = m;
		else
			marker_free(m);
	}
	found->n = kept;
}

void markers_match(const struct pattern *p, struct dso *dso, struct marker_list *found)
{
	const struct dso_marker *notes;
	size_t n = dso_markers(dso, &notes);

	for (size_t i = 0; i < n; i++) {
		if (p->of == PATTERN_OF_USDT)
			match_usdt_begin(p, &notes[i], found);
		else if (!strcmp(notes[i].provider, MARKER_PROVIDER))
			match_marker(p, &notes[i], found);
	}
	if (p->of != PATTERN_OF_USDT)
		return;
	for (size_t i = 0; i < n; i++)
		vec_for_each (found, struct marker *, m)
			if (is_end_of(*m, &notes[i]))
				add_point(&(*m)->ends, &notes[i]);
	drop_endless(found);
}

bool markers_are_in(struct dso *dso)
{
	const struct dso_marker *notes;
	size_t n = dso_markers(dso, &notes);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(notes[i].provider, MARKER_PROVIDER))
			return true;
	return false;
}

bool marker_matches(const struct pattern *p, const struct marker *m)
{
	const char *name = m->function.name, *colon = strchr(name, ':');
	char *provider, *begin;
	const char *stem;
	size_t n;
	bool matches;

	if (p->of == PATTERN_OF_MARKERS)
		return !strncmp(m->function.symbol, "marker:", 7) && name_matches(p, name);
	if (p->of != PATTERN_OF_USDT || !colon)
		return false;
	provider = xstrndup(name, (size_t)(colon - name));
	begin = xstrndup(colon + 1, strcspn(colon + 1, "."));
	matches = !fnmatch(p->object, provider, 0) && star_match(p->name, begin, &stem, &n);
	free(provider);
	free(begin);
	return matches;
}
