/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/inject/choice.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "probes/select/blocking.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

#define FEW_OF_ITS_OWN 20 /* a program with fewer functions is a front end of its libraries */

struct candidate {
	struct dso *dso;
	const struct dso_function *function;
	size_t order; /* index of its object */
};

struct candidates {
	VEC(struct candidate)
};

struct names {
	VEC(const char *)
};

/* Every program loads these libraries. Their functions are many and short, and are not the
 * program's own work; those that block are chosen by name. */
static bool is_runtime(struct dso *dso)
{
	static const char *const begins[] = { "libc.",	  "libm.",	 "ld-",	    "ld.",
					      "libdl.",	  "libpthread.", "librt.",  "libgcc_s.",
					      "libasan.", "libstdc++.",	 "libtsan." };
	const char *name = text_base_name(dso_path(dso));

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* The linker and the compiler add these functions, and main has all of the program's time. */
static bool is_scaffold(const char *symbol)
{
	static const char *const names[] = { "_start",	     "_init",
					     "atexit",	     "deregister_tm_clones",
					     "main",	     "register_tm_clones",
					     "_fini",	     "__do_global_dtors_aux",
					     "frame_dummy",  "_dl_relocate_static_pie",
					     "call_weak_fn", "init_have_lse_atomics" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(symbol, names[i]))
			return true;
	/* gcc's atomic operations of aarch64 are calls of __aarch64_ldadd8_relax and so on */
	return !strncmp(symbol, "_GLOBAL__sub_I_", 15) || !strncmp(symbol, "__aarch64_", 10) ||
	       blocking_part(symbol);
}

static void add_candidate(struct candidates *all, const struct choice_of *of, size_t object,
			  const struct dso_function *f)
{
	if (of->has_locks_alone && blocking_kind(f->symbol) && !blocking_is_lock(f->symbol))
		return;
	if (!f->ifunc && !is_scaffold(f->symbol) && !strstr(f->symbol, ".cold"))
		*vec_add(all) = (struct candidate){ of->objects[object], f, object };
}

static void add_functions(struct candidates *all, const struct choice_of *of, size_t object)
{
	const struct dso_function *functions;
	size_t n = dso_functions(of->objects[object], &functions);

	for (size_t i = 0; i < n; i++)
		if (!i || functions[i].address != functions[i - 1].address)
			add_candidate(all, of, object, &functions[i]);
}

/* Finds the import as the loader does: in the first library that exports it. */
static void add_import(struct candidates *all, const struct choice_of *of, const char *name)
{
	for (size_t k = of->n_programs; k < of->n; k++) {
		const struct dso_function *functions;
		const uint32_t *same;
		size_t n = dso_find(of->objects[k], name, &same);

		dso_functions(of->objects[k], &functions);
		if (!n || !functions[same[0]].exported)
			continue;
		if (!is_runtime(of->objects[k]))
			add_candidate(all, of, k, &functions[same[0]]);
		return;
	}
}

static void add_imports(struct candidates *all, const struct choice_of *of, struct dso *program)
{
	const char *const *imports;
	size_t n = dso_imports(program, &imports);

	for (size_t i = 0; i < n; i++)
		add_import(all, of, imports[i]);
}

static void find_candidates(struct candidates *all, const struct choice_of *of)
{
	for (size_t i = 0; i < of->n_programs; i++)
		add_functions(all, of, i);
	if (all->n < FEW_OF_ITS_OWN) {
		for (size_t i = of->n_programs; i < of->n; i++)
			if (!is_runtime(of->objects[i]))
				add_functions(all, of, i);
		return;
	}
	for (size_t i = 0; i < of->n_programs; i++)
		add_imports(all, of, of->objects[i]);
}

static int by_size(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->function->size != y->function->size)
		return x->function->size > y->function->size ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->function->address < y->function->address ? -1 : 1;
}

static int by_place(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	if (x->function->address != y->function->address)
		return x->function->address < y->function->address ? -1 : 1;
	return 0;
}

static void add_name(struct names *names, const char *name)
{
	vec_for_each (names, const char *, known)
		if (!strcmp(*known, name))
			return;
	*vec_add(names) = name;
}

static bool is_blocking(const struct choice_of *of, size_t object, const char *name)
{
	if (of->has_locks_alone)
		return blocking_is_lock(name);
	return blocking_on_threads(name) || (object < of->n_programs && blocking_kind(name));
}

/* Adds the blocking functions that a program imports, and the locks that its libraries import. */
static void add_blocking(struct names *names, const struct choice_of *of, size_t object)
{
	const char *const *imports;
	size_t n = dso_imports(of->objects[object], &imports);

	for (size_t i = 0; i < n; i++) {
		const char *release = blocking_release(imports[i]);

		if (!is_blocking(of, object, imports[i]))
			continue;
		add_name(names, imports[i]);
		if (release)
			add_name(names, release);
	}
}

static int select_named(struct selection *s, const struct choice_of *of, struct patterns **named,
			struct err *err)
{
	struct names names = { 0 };
	int ret = 0;

	for (size_t i = 0; i < of->n; i++)
		if (i < of->n_programs || !is_runtime(of->objects[i]))
			add_blocking(&names, of, i);
	if (names.n)
		ret = patterns_parse(named, names.data, names.n, err);
	if (!ret && names.n)
		ret = selection_add(s, *named, of->objects, of->n, 0, err);
	vec_release(&names);
	return ret;
}

int choice_make(struct selection *s, const struct choice_of *of, struct patterns **named,
		struct err *err)
{
	struct candidates all = { 0 };
	int ret = select_named(s, of, named, err);

	find_candidates(&all, of);
	if (all.n > of->most) {
		qsort(all.data, all.n, sizeof(*all.data), by_size);
		all.n = of->most;
	}
	if (all.n)
		qsort(all.data, all.n, sizeof(*all.data), by_place);
	vec_for_each (&all, const struct candidate, c)
		if (!ret)
			selection_add_function(s, c->dso, c->function);
	vec_release(&all);
	selection_sort(s, of->objects, of->n);
	return ret;
}
