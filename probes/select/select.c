/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probes/select/marker.h"
#include "probes/select/match.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

struct place {
	uint64_t device, inode, offset;
};

static struct place place_of(const struct dso *dso, const struct dso_function *f)
{
	/*
	 * Several blocks may begin at one static probe, so their names distinguish them; no
	 * function's symbol has a colon.
	 */
	uint64_t block = strchr(f->symbol, ':') ? hash_bytes(f->symbol, strlen(f->symbol)) : 0;

	return (struct place){ dso_device(dso), dso_inode(dso), f->file_offset ^ block };
}

/* Returns the key in the map under which this place is, or would be put. */
static uint64_t place_key(const struct selection *s, const struct place *place)
{
	uint64_t key = hash_bytes(place, sizeof(*place));

	for (;; key++) {
		uint32_t i = map_get(&s->by_place, key);
		struct place other;

		if (i == MAP_NONE)
			return key;
		other = place_of(s->chosen.data[i].dso, s->chosen.data[i].function);
		if (!memcmp(&other, place, sizeof(other)))
			return key;
	}
}

/* Returns the index of what is chosen under this key, or MAP_NONE if there is nothing. */
static uint32_t index_at(const struct selection *s, uint64_t key)
{
	const uint32_t i = map_get(&s->by_place, key);

	return i == MAP_NONE || s->chosen.data[i].is_dropped ? MAP_NONE : i;
}

static void leave_out(struct selection *s, struct pattern *p, struct dso *dso,
		      const struct dso_function *f, const char *reason)
{
	const char *name = dso_function_name(dso, f), *object = dso_path(dso);
	uint64_t key =
		hash_u64(hash_bytes(name, strlen(name))) ^ hash_bytes(object, strlen(object));

	if (!p->impossible)
		p->impossible = xstrdup(reason);
	if (map_get(&s->left_out_known, key) != MAP_NONE)
		return;
	map_put(&s->left_out_known, key, 0);
	*vec_add(&s->left_out) =
		(struct unselected){ xstrdup(name), xstrdup(dso_path(dso)), xstrdup(reason),
				     p->of != PATTERN_OF_FUNCTIONS };
}

/* Returns the most public of the names at this address. Aliases are adjacent, the best first. */
static const struct dso_function *public_name(struct dso *dso, const struct dso_function *f)
{
	const struct dso_function *all, *first = f;

	dso_functions(dso, &all);
	while (first > all && first[-1].address == f->address)
		first--;
	while (first < f && first->ifunc)
		first++;
	return first;
}

static bool excludes_at(const struct pattern *p, struct dso *dso, const struct dso_function *f)
{
	const struct dso_function *all, *alias = f;
	size_t n = dso_functions(dso, &all);

	while (alias > all && alias[-1].address == f->address)
		alias--;
	for (; alias < all + n && alias->address == f->address; alias++) {
		if (pattern_matches_function(p, dso, alias))
			return true;
	}
	return false;
}

bool patterns_exclude(const struct patterns *all, struct dso *dso, const struct dso_function *f)
{
	if (!all)
		return false;
	vec_for_each (all, const struct pattern, p) {
		if (p->excludes && p->of == PATTERN_OF_FUNCTIONS &&
		    pattern_matches_object(p, dso) && excludes_at(p, dso, f))
			return true;
	}
	return false;
}

/*
 * Joins the arguments of several patterns that name one function. An argument that two of them name
 * is recorded once.
 */
static const char *join_arguments(struct selection *s, const char *first, const char *second)
{
	if (!*first || !strcmp(first, second))
		return second;
	if (!*second)
		return first;
	*vec_add(&s->joined) = xasprintf("%s,%s", first, second);
	return *vec_last(&s->joined);
}

/*
 * The facts that hold for all names at an address, kept because a file may give any number of names
 * to an address.
 */
struct names {
	const struct dso_function *first; /* the function that was looked at; NULL: none yet */
	const struct dso_function *public;
	bool excluded;
};

static void check_names(struct names *n, const struct selection *s, const struct patterns *patterns,
			struct dso *dso, const struct dso_function *f)
{
	if (n->first && n->first->address == f->address)
		return;
	n->first = f;
	n->public = public_name(dso, f);
	n->excluded = patterns_exclude(patterns, dso, f) || patterns_exclude(s->excluding, dso, f);
}

static void choose(struct selection *s, struct pattern *p, struct dso *dso,
		   const struct dso_function *f)
{
	bool exact = p->kind == PATTERN_NAME;
	struct place place;
	struct selected *chosen;
	uint64_t key;
	uint32_t i;

	dso_function_name(dso, f);
	place = place_of(dso, f);
	key = place_key(s, &place);
	i = index_at(s, key);
	if (i == MAP_NONE) {
		map_put(&s->by_place, key, (uint32_t)s->chosen.n);
		chosen = vec_add(&s->chosen);
		*chosen = (struct selected){ .dso = dso,
					     .function = f,
					     .pattern = p->typed,
					     .arguments = p->arguments,
					     .by_name = exact };
		return;
	}
	chosen = &s->chosen.data[i];
	chosen->arguments = join_arguments(s, chosen->arguments, p->arguments);
	if (exact &&
	    !chosen->by_name) /* the name that was asked for replaces the name that a glob found */
		*chosen = (struct selected){ .dso = dso,
					     .function = f,
					     .pattern = p->typed,
					     .arguments = chosen->arguments,
					     .by_name = true };
}

void selection_add_function(struct selection *s, struct dso *dso, const struct dso_function *f)
{
	struct place place = place_of(dso, f);
	uint64_t key = place_key(s, &place);

	if (index_at(s, key) != MAP_NONE || patterns_exclude(s->excluding, dso, f))
		return;
	map_put(&s->by_place, key, (uint32_t)s->chosen.n);
	*vec_add(&s->chosen) = (struct selected){
		.dso = dso, .function = f, .pattern = "", .arguments = "", .by_name = true
	};
}

static bool marker_excluded(const struct patterns *all, const struct marker *m)
{
	if (!all)
		return false;
	vec_for_each (all, const struct pattern, p)
		if (p->excludes && marker_matches(p, m))
			return true;
	return false;
}

/* Owns the block, and frees it if it is not chosen. */
static void choose_marker(struct selection *s, const struct patterns *patterns, struct pattern *p,
			  struct dso *dso, struct marker *m)
{
	struct place place;
	uint64_t key;
	uint32_t i;

	if (!m->begins.n) {
		leave_out(s, p, dso, &m->function, "it has ends, but no begin");
		marker_free(m);
		return;
	}
	p->matched = true;
	place = place_of(dso, &m->function);
	key = place_key(s, &place);
	i = index_at(s, key);
	if (i != MAP_NONE)
		s->chosen.data[i].arguments =
			join_arguments(s, s->chosen.data[i].arguments, p->arguments);
	if (i != MAP_NONE || marker_excluded(patterns, m) || marker_excluded(s->excluding, m)) {
		marker_free(m);
		return;
	}
	map_put(&s->by_place, key, (uint32_t)s->chosen.n);
	*vec_add(&s->chosen) = (struct selected){ .dso = dso,
						  .function = &m->function,
						  .pattern = p->typed,
						  .arguments = p->arguments,
						  .by_name = p->kind == PATTERN_NAME,
						  .marker = m };
}

static void match_markers(struct selection *s, const struct patterns *patterns, struct pattern *p,
			  struct dso *const *dsos, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct marker_list found = { 0 };

		markers_match(p, dsos[i], &found);
		vec_for_each (&found, struct marker *, m)
			choose_marker(s, patterns, p, dsos[i], *m);
		vec_release(&found);
	}
}

/* Returns whether the object has such a function, even if it cannot be traced. */
static bool match_object(struct selection *s, const struct patterns *patterns, struct pattern *p,
			 struct dso *dso)
{
	const struct dso_function *all;
	struct names names = { 0 };
	struct hits hits = { 0 };
	bool found;

	dso_functions(dso, &all);
	pattern_match(p, dso, &hits);
	found = hits.n > 0;
	vec_for_each (&hits, uint32_t, hit) {
		const struct dso_function *f = &all[*hit];

		if (f->ifunc) {
			leave_out(s, p, dso, f,
				  "an IFUNC symbol: the loader chooses the function behind it");
			continue;
		}
		p->matched =
			true; /* even if another pattern excludes it, as the user asked for that */
		check_names(&names, s, patterns, dso, f);
		if (!names.excluded)
			choose(s, p, dso, p->kind == PATTERN_NAME ? f : names.public);
	}
	vec_release(&hits);
	return found;
}

static bool exports(struct dso *dso, const char *symbol)
{
	const struct dso_function *all;
	const uint32_t *same;
	size_t n = dso_find(dso, symbol, &same);

	dso_functions(dso, &all);
	for (size_t i = 0; i < n; i++) {
		if (all[same[i]].exported && all[same[i]].default_version)
			return true;
	}
	return false;
}

/*
 * A plain name means what the dynamic linker would bind it to: the first library that exports it.
 * If none does (a static function, a C++ name without its mangling), every library is searched.
 */
static void match_libraries(struct selection *s, const struct patterns *patterns, struct pattern *p,
			    struct dso *const *dsos, size_t n)
{
	if (p->kind == PATTERN_NAME && (p->matched || p->impossible))
		return;
	for (size_t i = 0; p->kind == PATTERN_NAME && i < n; i++) {
		if (exports(dsos[i], p->name)) {
			match_object(s, patterns, p, dsos[i]);
			return;
		}
	}
	for (size_t i = 0; i < n; i++)
		match_object(s, patterns, p, dsos[i]);
}

static void match_pattern(struct selection *s, const struct patterns *patterns, struct pattern *p,
			  struct dso *const *dsos, size_t n, size_t n_executables)
{
	if (p->of != PATTERN_OF_FUNCTIONS) {
		match_markers(s, patterns, p, dsos, n);
		return;
	}
	if (p->object) {
		for (size_t i = 0; i < n; i++) {
			if (pattern_matches_object(p, dsos[i]))
				match_object(s, patterns, p, dsos[i]);
		}
		return;
	}
	for (size_t i = 0; i < n_executables; i++)
		p->in_executable |= match_object(s, patterns, p, dsos[i]);
	if (!p->in_executable)
		match_libraries(s, patterns, p, dsos + n_executables, n - n_executables);
}

struct order {
	struct dso *const *dsos;
	size_t n;
};

static size_t rank(const struct order *order, const struct dso *dso)
{
	size_t i = 0;

	while (i < order->n && order->dsos[i] != dso)
		i++;
	return i;
}

static int compare_selected(const void *a, const void *b, void *context)
{
	const struct selected *x = a, *y = b;
	size_t rx = rank(context, x->dso), ry = rank(context, y->dso);

	if (rx != ry)
		return rx < ry ? -1 : 1;
	if (x->function->address != y->function->address)
		return x->function->address < y->function->address ? -1 : 1;
	return 0;
}

static void find_again(struct selection *s)
{
	map_release(&s->by_place);
	for (size_t i = 0; i < s->chosen.n; i++) {
		struct place place = place_of(s->chosen.data[i].dso, s->chosen.data[i].function);

		if (!s->chosen.data[i].is_dropped)
			map_put(&s->by_place, place_key(s, &place), (uint32_t)i);
	}
}

void selection_drop(struct selection *s, size_t i)
{
	s->chosen.data[i].is_dropped = true;
}

/* Sorts only the new entries, because indices of the earlier ones are in use. */
static void sort_from(struct selection *s, size_t first, struct order *order)
{
	if (s->chosen.n - first < 2)
		return;
	qsort_r(s->chosen.data + first, s->chosen.n - first, sizeof(*s->chosen.data),
		compare_selected, order);
	find_again(s);
}

void selection_sort(struct selection *s, struct dso *const *dsos, size_t n)
{
	sort_from(s, 0, &(struct order){ dsos, n });
}

void selection_keep(struct selection *s, size_t n)
{
	if (s->chosen.n <= n)
		return;
	for (size_t i = n; i < s->chosen.n; i++)
		marker_free(s->chosen.data[i].marker);
	s->chosen.n = n;
	find_again(s);
}

int selection_add(struct selection *s, struct patterns *patterns, struct dso *const *dsos, size_t n,
		  size_t n_executables, struct err *err)
{
	size_t first = s->chosen.n;

	(void)err; /* no error is possible yet */
	if (n_executables > n)
		n_executables = n;
	vec_for_each (patterns, struct pattern, p) {
		if (!p->excludes)
			match_pattern(s, patterns, p, dsos, n, n_executables);
	}
	sort_from(s, first, &(struct order){ dsos, n });
	return 0;
}

void selection_release(struct selection *s)
{
	vec_for_each (&s->left_out, struct unselected, u) {
		free(u->name);
		free(u->object);
		free(u->reason);
	}
	vec_for_each (&s->chosen, struct selected, c)
		marker_free(c->marker);
	vec_for_each (&s->joined, char *, words)
		free(*words);
	vec_release(&s->joined);
	vec_release(&s->left_out);
	map_release(&s->left_out_known);
	vec_release(&s->chosen);
	map_release(&s->by_place);
}
