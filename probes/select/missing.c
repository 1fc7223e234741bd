/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "probes/select/missing.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/select/marker.h"
#include "probes/select/match.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/markers.h"
#include "symbol/dso/symbols.h"
#include "symbol/maps.h"
#include "symbol/package.h"

#define NEAREST 3
/* A name that contains the typed text and is longer by more than this means something else. */
#define CONTAINING_MORE 12

struct near {
	struct dso *dso;
	const char *name;
	unsigned distance;
};

struct nearest {
	struct near found[NEAREST];
	size_t n;
	unsigned limit; /* names with a larger distance are not offered */
};

static void offer(struct nearest *nearest, struct dso *dso, const char *name, unsigned distance)
{
	size_t at = nearest->n;

	for (size_t i = 0; i < nearest->n; i++) {
		if (!strcmp(nearest->found[i].name, name))
			return;
	}
	while (at > 0 && nearest->found[at - 1].distance > distance)
		at--;
	if (at == NEAREST)
		return;
	if (nearest->n < NEAREST)
		nearest->n++;
	memmove(&nearest->found[at + 1], &nearest->found[at],
		(nearest->n - at - 1) * sizeof(nearest->found[0]));
	nearest->found[at] = (struct near){ dso, name, distance };
	if (nearest->n == NEAREST)
		nearest->limit = nearest->found[NEAREST - 1].distance;
}

static const char *last_component(const char *bare)
{
	const char *last = bare;
	int depth = 0;

	for (const char *s = bare; *s; s++) {
		depth += *s == '<' || *s == '(';
		depth -= (*s == '>' || *s == ')') && depth > 0;
		if (!depth && s[0] == ':' && s[1] == ':')
			last = s + 2;
	}
	return last;
}

static unsigned distance(const char *a, const char *b, unsigned limit)
{
	size_t na = strlen(a), nb = strlen(b);

	if ((na > nb ? na - nb : nb - na) > limit)
		return limit + 1;
	return strcasecmp(a, b) ? text_distance(a, b, limit) : 0;
}

/*
 * Returns the distance of the typed text to a name, or to its last part, which people often type
 * alone: "find" is near to "ns::map<int>::find".
 */
static unsigned distance_to(const char *typed, const char *bare, unsigned limit)
{
	unsigned whole = distance(typed, bare, limit), part;
	const char *last = last_component(bare);
	char *plain;

	if (last == bare && !strchr(bare, '<'))
		return whole;
	plain = name_without_templates(strstr(typed, "::") ? bare : last);
	part = distance(typed, plain, limit) + !strstr(typed, "::");
	free(plain);
	return whole < part ? whole : part;
}

static void find_near(struct nearest *nearest, const struct pattern *p, struct dso *dso)
{
	const struct dso_function *all;
	size_t n = dso_functions(dso, &all);

	for (size_t i = 0; i < n; i++) {
		const char *name = dso_function_bare_name(dso, &all[i]);
		unsigned far = distance_to(p->name, name, nearest->limit);

		if (far <= nearest->limit)
			offer(nearest, dso, name, far);
	}
}

/* If no name is near, offers short names that contain the typed text. */
static void find_containing(struct nearest *nearest, const struct pattern *p, struct dso *dso)
{
	const struct dso_function *all;
	size_t n = strlen(p->name) > 2 ? dso_functions(dso, &all) : 0;

	for (size_t i = 0; i < n; i++) {
		const char *name = dso_function_bare_name(dso, &all[i]);

		if (strlen(name) <= strlen(p->name) + CONTAINING_MORE && strcasestr(name, p->name))
			offer(nearest, dso, name, (unsigned)strlen(name));
	}
}

static void add_nearest(struct text *t, const struct pattern *p, struct dso *const *dsos, size_t n)
{
	struct nearest nearest = { .limit = (unsigned)strlen(p->name) / 5 + 1 };

	if (p->kind != PATTERN_NAME)
		return;
	for (size_t i = 0; i < n; i++)
		find_near(&nearest, p, dsos[i]);
	for (size_t i = 0; !nearest.n && i < n; i++)
		find_containing(&nearest, p, dsos[i]);
	for (size_t i = 0; i < nearest.n; i++) {
		const char *before = !i ? "; did you mean " : i + 1 < nearest.n ? ", " : " or ";

		text_printf(t, "%s%s (%s)", before, nearest.found[i].name,
			    object_base_name(nearest.found[i].dso));
	}
	if (nearest.n)
		text_add(t, "?");
}

static void add_where(struct text *t, struct dso *const *dsos, size_t n)
{
	if (n)
		text_printf(t, " in %s", object_base_name(dsos[0]));
	if (n == 2)
		text_printf(t, " or %s", object_base_name(dsos[1]));
	else if (n > 2)
		text_printf(t, " or its %zu libraries", n - 1);
}

static bool has_functions(struct dso *dso)
{
	const struct dso_function *all;

	return dso_functions(dso, &all) > 0;
}

static bool is_stripped(struct dso *dso)
{
	const char *source = dso_symbol_source(dso);

	return !strcmp(source, "none") || !strcmp(source, ".dynsym");
}

struct objects { /* those that a pattern looks into */
	VEC(struct dso *)
};

static void objects_of(const struct pattern *p, struct dso *const *dsos, size_t n,
		       struct objects *objects)
{
	for (size_t i = 0; i < n; i++) {
		if (pattern_matches_object(p, dsos[i]))
			*vec_add(objects) = dsos[i];
	}
}

/* This is no error: the object may be mapped later. */
static void notice_no_object(const struct pattern *p, struct dso *const *dsos, size_t n,
			     bool is_final)
{
	unsigned best = (unsigned)strlen(p->object) / 4 + 1, far;
	const char *near = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *base = object_base_name(dsos[i]);
		char stem[NAME_MAX + 1];

		snprintf(stem, sizeof(stem), "%.*s", (int)strcspn(base, "."), base);
		far = distance(p->object, base, best);
		if (far > best)
			far = distance(p->object, stem, best);
		if (far <= best) {
			best = far;
			near = base;
		}
	}
	if (is_final)
		log_notice("-F '%s': no object %s is mapped yet, and what is loaded later is not "
			   "timed in process%s%s%s; attach with -p once it is loaded, or record "
			   "with --engine kernel",
			   p->typed, p->object, near ? " (did you mean " : "", near ? near : "",
			   near ? "?)" : "");
	else
		log_notice("-F '%s': no object %s is mapped yet: its functions join when it is "
			   "loaded%s%s%s",
			   p->typed, p->object, near ? " (or did you mean " : "", near ? near : "",
			   near ? "?)" : "");
}

/*
 * Returns the function that the loader chose on this machine, if ispot itself runs with the same
 * file, or NULL.
 */
static const struct dso_function *chosen_here(struct dso *dso, const char *symbol)
{
	struct mappings maps = { 0 };
	const struct dso_function *f = NULL;
	const struct mapping *m;
	void *address = dlsym(RTLD_DEFAULT, symbol);

	if (address && !mappings_read(&maps, getpid(), NULL)) {
		uint64_t at = (uint64_t)(uintptr_t)address;

		m = mappings_find(&maps, at);
		if (m && m->inode == dso_inode(dso) && m->device == dso_device(dso))
			f = dso_function_at(
				dso, dso_offset_to_address(dso, at - m->start + m->file_offset));
	}
	mappings_release(&maps);
	return f && !f->ifunc ? f : NULL;
}

/* Adds FILE:FUNCTION, quoted for a shell, as -F takes it. */
static void add_with_file(struct text *t, const char *file, const char *function)
{
	char *word = xasprintf("%s:%s", file, function);

	text_shell_word(t, word);
	free(word);
}

static void add_candidates(struct text *t, struct dso *dso, const char *symbol)
{
	const struct dso_function *all, *here = chosen_here(dso, symbol);
	size_t n = dso_functions(dso, &all), skip = strspn(symbol, "_"), found = 0;

	if (here) {
		text_printf(t, ", here %s; trace -F ", here->symbol);
		add_with_file(t, object_base_name(dso), here->symbol);
		return;
	}
	for (size_t i = 0; i < n && found < NEAREST; i++) {
		const char *name = all[i].symbol + strspn(all[i].symbol, "_");
		size_t length = strlen(symbol + skip);

		if (all[i].ifunc || strncmp(name, symbol + skip, length) != 0 ||
		    name[length] != '_')
			continue;
		text_printf(t, "%s%s", found++ ? ", " : "; it is one of ", all[i].symbol);
	}
	text_add(t, found ? ", …" : "; install the library's debug symbols to see their names");
}

static void ensure_hint(struct text *t)
{
	if (!strstr(t->s, "; "))
		text_add(t, "; ispot check -F '*' lists the functions that there are");
}

static int ifunc_error(const struct pattern *p, const struct objects *objects, struct err *err)
{
	struct text t = { 0 };
	int ret;

	vec_for_each (objects, struct dso *, dso) {
		const struct dso_function *all;
		const uint32_t *same;
		size_t n = dso_find(*dso, p->name, &same);

		dso_functions(*dso, &all);
		if (!n || !all[same[0]].ifunc)
			continue;
		text_printf(
			&t,
			"%s (%s) is an IFUNC symbol: the function behind it is chosen when the library is loaded",
			p->name, object_base_name(*dso));
		add_candidates(&t, *dso, p->name);
		break;
	}
	if (!t.n)
		text_add(&t, p->impossible);
	ensure_hint(&t);
	ret = err_set(err, -ENOENT, "%s", t.s);
	text_release(&t);
	return ret;
}

static int no_symbols_error(const struct pattern *p, const struct objects *objects, struct err *err)
{
	struct dso *dso = objects->data[0];
	struct text hint = { 0 };
	int ret;

	package_symbols_from(PACKAGE_LISTS, dso_path(dso), &hint);
	ret = err_set(
		err, -ENOENT,
		"-F '%s': %s has no symbols at all (looked for .symtab, a debug file under /usr/lib/debug, "
		"%s, .gnu_debugdata, .dynsym); %s",
		p->typed, dso_path(dso),
		getenv("DEBUGINFOD_URLS") ? "debuginfod"
					  : "debuginfod (DEBUGINFOD_URLS is not set)",
		hint.s);
	text_release(&hint);
	return ret;
}

static void add_list_command(struct text *t, struct dso *dso)
{
	char path[1024];

	text_add(t, "; `ispot check -F '*' ");
	text_shell_word(t, text_printable(path, sizeof(path), dso_path(dso)));
	text_add(t, "` lists what there is");
}

static void add_stripped(struct text *t, struct dso *dso, bool asked)
{
	text_printf(t, "%s %s is stripped: %s; ", asked ? "" : ", and", object_base_name(dso),
		    has_functions(dso) ? "only the functions that it exports are known"
				       : "none of its functions has a name");
	package_symbols_from(PACKAGE_LISTS, dso_path(dso), t);
}

/* Adds other advice, after the nearest names if there are any. */
static void add_what_else(struct text *t, const struct pattern *p, struct dso *dso)
{
	bool asked = t->s[t->n - 1] == '?';

	if (p->kind == PATTERN_NAME && strchr(p->name, ',') && !strpbrk(p->name, "(<"))
		text_add(t, "; commas do not part patterns: give -F once for each");
	else if (is_stripped(dso))
		add_stripped(t, dso, asked);
	else if (!asked)
		add_list_command(t, dso);
}

/* A function that does not exist yet can be waited for if its file is named. */
static void add_later(struct text *t, const char *function)
{
	bool asked = t->s[t->n - 1] == '?';

	text_add(t, asked		 ? " If it is loaded or started later: -F "
		    : strstr(t->s, "; ") ? ", or, if it is loaded or started later, give -F "
					 : "; if it is loaded or started later, give -F ");
	add_with_file(t, "FILE", function);
}

static int not_found_error(const struct pattern *p, const struct objects *objects, struct err *err)
{
	struct text t = { 0 };
	int ret;

	if (p->kind == PATTERN_NAME)
		text_printf(&t, "no function '%s'", p->name);
	else
		text_printf(&t, "no function matches '%s'", p->typed);
	add_where(&t, objects->data, objects->n);
	add_nearest(&t, p, objects->data, objects->n);
	add_what_else(&t, p, objects->data[0]);
	if (p->kind == PATTERN_NAME && !p->object && !strchr(p->name, ','))
		add_later(&t, p->name);
	ensure_hint(&t);
	ret = err_set(err, -ENOENT, "%s", t.s);
	text_release(&t);
	return ret;
}

int selection_refuse_go(const struct dso *dso, struct err *err)
{
	return err_set(err, -ENOENT,
		       "%s is a Go program: its stacks move, which probes do not survive; "
		       "trace it with its own tools (go tool trace)",
		       object_base_name(dso));
}

static int missing_error(const struct pattern *p, const struct objects *objects, struct err *err)
{
	bool any = false;

	if (p->impossible)
		return ifunc_error(p, objects, err);
	vec_for_each (objects, struct dso *, dso)
		any |= has_functions(*dso);
	if (!any)
		return no_symbols_error(p, objects, err);
	vec_for_each (objects, struct dso *, dso) {
		if (p->kind == PATTERN_NAME && dso_only_inlined(*dso, p->name))
			return err_set(
				err, -ENOENT,
				"%s exists in %s only inlined into its callers: it has no boundary to "
				"probe; build it with __attribute__((noinline)) or trace a caller",
				p->name, object_base_name(*dso));
	}
	if (dso_is_go(objects->data[0]))
		return selection_refuse_go(objects->data[0], err);
	return not_found_error(p, objects, err);
}

int selection_missing(const struct selection *s, struct patterns *patterns, struct dso *const *dsos,
		      size_t n, struct err *err)
{
	int ret = 0;

	/* what matched is remembered in the patterns */
	vec_for_each (patterns, struct pattern, p) {
		struct objects objects = { 0 };

		if (ret || p->excludes || p->matched)
			continue;
		if (p->of != PATTERN_OF_FUNCTIONS) {
			ret = marker_missing(p, dsos, n, err);
			continue;
		}
		objects_of(p, dsos, n, &objects);
		if (!objects.n && p->object)
			notice_no_object(p, dsos, n, s->is_final);
		else if (!objects.n)
			ret = err_set(err, -ENOENT,
				      "-F '%s': no program to look into; give a command or -p PID",
				      p->typed);
		else
			ret = missing_error(p, &objects, err);
		vec_release(&objects);
	}
	return ret;
}

/* ---- markers and USDT probes ---- */

#define NAMES_MAX 5

struct names { /* names of notes of one kind, without duplicates, the nearest first */
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

static void report_names(struct text *t, const struct names *all)
{
	for (size_t i = 0; i < all->n && i < NAMES_MAX; i++)
		text_printf(t, "%s%s", i ? ", " : " ", all->data[i]);
	if (all->n > NAMES_MAX)
		text_printf(t, " and %zu more", all->n - NAMES_MAX);
}

/* Returns the marker's name in a note's name, which is cut off at the last "__". */
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

#define NEAR 2 /* edits: a typing error */

static bool is_near(const char *provider, const struct names *others)
{
	for (size_t i = 0; i < others->n; i++)
		if (text_distance(provider, others->data[i], NEAR) <= NEAR)
			return true;
	return false;
}

/* USDT probes of a library that is loaded later join then, as its functions do. */
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
		report_names(&t, others);
		ret = err_set(err, -ENOENT, "%s", t.s);
	} else {
		log_notice("%s yet, but it joins when a library that has one is loaded", t.s);
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
		return err_set(err, -ENOENT, "-F '%s': %s; name others", p->typed, p->impossible);
	for (size_t i = 0; i < n; i++)
		gather(p, dsos[i], &same, &others);
	if (!same.n) {
		ret = no_probes(p, &others, err);
	} else {
		text_printf(&t, "-F '%s': there is no such %s; there is", p->typed,
			    p->of == PATTERN_OF_MARKERS ? "marker" : "pair of probes");
		report_names(&t, &same);
		ret = err_set(err, -ENOENT, "%s", t.s);
	}
	text_release(&t);
	names_release(&same);
	names_release(&others);
	return ret;
}
