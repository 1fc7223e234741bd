/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds a program's libraries by reading what its dynamic loader (glibc's or musl's) would read:
 * DT_NEEDED, RPATH and RUNPATH, LD_LIBRARY_PATH and LD_PRELOAD, the cache, the loader's own
 * directories. Asking the loader itself (PT_INTERP --list) would run code that the file chooses:
 * its interpreter is any program, and audit modules (DT_AUDIT) are initialized even then. Reading a
 * file must not run any of its code. If the loader maps another file than the one found here, the
 * recorder sees the mapping and probes that file, too.
 *
 * Two things are left out: the subdirectories that glibc before 2.37 tries for old names of CPUs
 * (tls/, haswell/), and audit modules, which live in a namespace of their own.
 */
#include "symbol/library/closure.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dynamic.h"
#include "symbol/library/loader.h"

/* Bounds for a file that is made to keep ispot busy. */
#define LIBRARIES_MAX 4096
#define TRIES_MAX     (1u << 18)
#define COMPARED_MAX  (1u << 25)

struct library {
	struct dso *dso;
	char *path, *origin;
	struct dso_dynamic dynamic;
	size_t loaded_by; /* index of the library that asked for this one; 0 for the program */
};

struct alias { /* a name under which a library was requested */
	const char *name;
	size_t library;
};

struct walk {
	struct dso_cache *cache;
	struct dso *program, *interp;
	struct dso_dynamic interp_dynamic;
	struct loader loader;
	const char *library_path, *preload; /* values from the environment; NULL: not set */
	struct {
		VEC(struct library)
	} libraries; /* in load order, but filters come before the libraries that they filter */
	struct {
		VEC(struct alias)
	} aliases;
	uint64_t tries;	   /* number of paths and list elements tried */
	uint64_t compared; /* number of comparisons with loaded names and cache entries */
};

struct found {
	struct dso *dso;
	char *path;
};

void dso_closure_release(struct dso_closure *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->paths[i]);
	free(c->paths);
	*c = (struct dso_closure){ 0 };
}

static const char *variable(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; *environment; environment++)
		if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

/* ---- where a library may be ---- */

static bool is_exhausted(const struct walk *w)
{
	return w->tries >= TRIES_MAX || w->compared >= COMPARED_MAX;
}

/* Owns path, and frees it unless a library for the program's machine is there. */
static bool try_path(struct walk *w, char *path, struct found *found)
{
	struct err why = { 0 };

	if (w->tries++ < TRIES_MAX && !access(path, F_OK) &&
	    !dso_get(w->cache, path, &found->dso, &why) &&
	    dso_machine(found->dso) == dso_machine(w->program)) {
		found->path = path;
		return true;
	}
	free(path);
	return false;
}

static bool try_hwcaps(struct walk *w, const char *dir, const char *name, struct found *found)
{
	char *all = xasprintf("%s/glibc-hwcaps", dir);
	bool is_there = w->tries++ < TRIES_MAX && !access(all, F_OK), is_found = false;

	for (const char *const *level = hwcaps_names(); is_there && !is_found && *level; level++)
		is_found = try_path(w, xasprintf("%s/%s/%s", all, *level, name), found);
	free(all);
	return is_found;
}

static bool try_directory(struct walk *w, const char *dir, const char *name, struct found *found)
{
	const char *slash = *dir && dir[strlen(dir) - 1] == '/' ? "" : "/";

	if (!w->loader.is_musl && try_hwcaps(w, dir, name, found))
		return true;
	return try_path(w, xasprintf("%s%s%s", dir, slash, name), found);
}

static void without_end_slashes(char *dir)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		dir[--n] = '\0';
}

/* An empty element means the working directory. */
static bool try_list(struct walk *w, const char *list, const char *ends,
		     const struct library *owner, const char *name, struct found *found)
{
	for (const char *s = list; s && !is_exhausted(w); s = *s ? s + 1 : NULL) {
		size_t n = strcspn(s, ends);
		char *dir = loader_expand(&w->loader, s, n, owner->origin);
		bool is_found = false;

		w->tries++;
		s += n;
		if (dir) {
			without_end_slashes(dir);
			is_found = try_directory(w, *dir ? dir : ".", name, found);
		}
		free(dir);
		if (is_found)
			return true;
	}
	return false;
}

/*
 * Tries the RPATHs of a library and of those that led to its loading. In glibc, the RPATH of a file
 * that also has a RUNPATH is ignored, and a RUNPATH only helps to find what its own file needs.
 */
static bool try_rpaths(struct walk *w, size_t from, const char *name, struct found *found)
{
	for (size_t i = from;; i = w->libraries.data[i].loaded_by) {
		const struct library *l = &w->libraries.data[i];
		const struct dso_dynamic *d = &l->dynamic;
		const char *list = d->runpath && !w->loader.is_musl ? NULL : d->rpath;

		if (w->loader.is_musl && d->runpath)
			list = d->runpath;
		if (list && *list && try_list(w, list, ":", l, name, found))
			return true;
		if (!i)
			return false;
	}
}

static bool is_in_directory(const struct walk *w, const char *path)
{
	size_t n = (size_t)(text_base_name(path) - path) - 1;

	for (size_t i = 0; i < w->loader.directories.n; i++) {
		const char *dir = w->loader.directories.data[i];

		if (strlen(dir) == n && !strncmp(dir, path, n))
			return true;
	}
	return false;
}

static bool try_defaults(struct walk *w, bool only_cache, const char *name, struct found *found)
{
	const char *cached =
		ldcache_find(&w->loader.cache, name, dso_machine(w->program), &w->compared);

	if (cached && strchr(cached, '/') && !(only_cache && is_in_directory(w, cached)) &&
	    try_path(w, xstrdup(cached), found))
		return true;
	for (size_t i = 0; !only_cache && i < w->loader.directories.n; i++)
		if (try_directory(w, w->loader.directories.data[i], name, found))
			return true;
	return false;
}

static bool search_glibc(struct walk *w, size_t from, const char *name, struct found *found)
{
	const struct library *l = &w->libraries.data[from];
	const struct dso_dynamic *d = &l->dynamic;

	if (!d->runpath && try_rpaths(w, from, name, found))
		return true;
	if (w->library_path &&
	    try_list(w, w->library_path, ":;", &w->libraries.data[0], name, found))
		return true;
	if (d->runpath && *d->runpath && try_list(w, d->runpath, ":", l, name, found))
		return true;
	return try_defaults(w, d->no_default_directories, name, found);
}

static bool search_musl(struct walk *w, size_t from, const char *name, struct found *found)
{
	if (w->library_path &&
	    try_list(w, w->library_path, ":\n", &w->libraries.data[0], name, found))
		return true;
	return try_rpaths(w, from, name, found) || try_defaults(w, false, name, found);
}

static bool search(struct walk *w, size_t from, const char *name, struct found *found)
{
	if (strchr(name, '/')) {
		char *path = loader_expand(&w->loader, name, strlen(name),
					   w->libraries.data[from].origin);

		return path && try_path(w, path, found);
	}
	return w->loader.is_musl ? search_musl(w, from, name, found)
				 : search_glibc(w, from, name, found);
}

/* ---- what is loaded ---- */

static char *origin_of(const char *path)
{
	char *real = realpath(path, NULL), *copy, *origin;

	/*
	 * $ORIGIN of a library is where it was found; that of a program is where its file is, not a
	 * link.
	 */
	copy = xstrdup(*path == '/' || !real ? path : real);
	origin = xstrdup(dirname(copy));
	free(copy);
	free(real);
	return origin;
}

static size_t add_library(struct walk *w, struct dso *dso, char *path, char *origin,
			  size_t loaded_by)
{
	struct library *l = vec_add(&w->libraries);

	*l = (struct library){ .dso = dso, .path = path, .origin = origin, .loaded_by = loaded_by };
	dso_dynamic_read(dso, &l->dynamic);
	return w->libraries.n - 1;
}

static bool is_called(struct walk *w, const char *name)
{
	w->compared += w->aliases.n + w->libraries.n;
	vec_for_each (&w->aliases, const struct alias, a)
		if (!strcmp(a->name, name))
			return true;
	/* glibc compares with the library's SONAME, too, whatever path the library was found by. */
	for (size_t i = 0; !w->loader.is_musl && i < w->libraries.n; i++) {
		const char *soname = w->libraries.data[i].dynamic.soname;

		if (soname && !strcmp(soname, name))
			return true;
	}
	return false;
}

static bool means_interp(const struct walk *w, const char *name)
{
	const char *soname = w->interp_dynamic.soname;

	return !strcmp(name, dso_interp(w->program)) || loader_is_library(&w->loader, name) ||
	       (soname && !strcmp(soname, name));
}

static bool is_loaded(const struct walk *w, const struct dso *dso)
{
	for (size_t i = 0; i < w->libraries.n; i++)
		if (w->libraries.data[i].dso == dso)
			return true;
	return false;
}

static int refuse(const struct walk *w, const char *name, struct err *err)
{
	if (w->libraries.n >= LIBRARIES_MAX || is_exhausted(w))
		return err_set(err, -E2BIG,
			       "%s asks for more libraries than ispot looks for; check where this "
			       "program comes from",
			       dso_path(w->program));
	return err_set(err, -ENOENT,
		       "%s needs %s, which the loader does not find; install it or set "
		       "LD_LIBRARY_PATH",
		       dso_path(w->program), name);
}

static int load(struct walk *w, size_t from, const char *name, bool optional, struct err *err)
{
	struct found found = { 0 };

	if (is_exhausted(w))
		return refuse(w, name, err);
	if (strlen(name) >= PATH_MAX) /* no file has such a name, and comparing it takes long */
		return optional ? 0 : refuse(w, name, err);
	if (is_called(w, name))
		return 0;
	if (w->libraries.n >= LIBRARIES_MAX)
		return refuse(w, name, err);
	if (means_interp(w, name)) {
		found.dso = w->interp;
		found.path = xstrdup(dso_interp(w->program));
	} else if (!search(w, from, name, &found)) {
		return optional && !is_exhausted(w) ? 0 : refuse(w, name, err);
	}
	*vec_add(&w->aliases) = (struct alias){ name, w->libraries.n };
	if (is_loaded(w, found.dso))
		free(found.path);
	else
		add_library(w, found.dso, found.path, origin_of(found.path), from);
	return 0;
}

/* The names stay in the list, which must live until the walk ends. */
static void load_preloads(struct walk *w, char *list)
{
	for (char *rest = list, *name; (name = strsep(&rest, ": \t\n"));)
		if (*name)
			load(w, 0, name, true, NULL);
}

static int load_all(struct walk *w, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < w->libraries.n && !ret; i++) {
		for (size_t k = 0; k < w->libraries.data[i].dynamic.needed.n && !ret; k++) {
			struct dso_needed needed = w->libraries.data[i].dynamic.needed.data[k];

			ret = load(w, i, needed.name, needed.optional, err);
		}
	}
	if (!ret && !is_loaded(w, w->interp))
		add_library(w, w->interp, xstrdup(dso_interp(w->program)), xstrdup("/"), 0);
	return ret;
}

/* ---- all libraries of a program ---- */

static int open_interp(struct walk *w, struct err *err)
{
	const char *path = dso_interp(w->program);
	struct err why = { 0 };

	if (!dso_get(w->cache, path, &w->interp, &why)) {
		loader_open(&w->loader, w->interp, path);
		dso_dynamic_read(w->interp, &w->interp_dynamic);
		return 0;
	}
	if (why.code == -ENOENT)
		return err_set(err, -ENOENT,
			       "%s needs the loader %s, which is not there; install its C library",
			       dso_path(w->program), path);
	return err_set(err, why.code, "%s names %s as its loader: %s; install its C library",
		       dso_path(w->program), path, why.text);
}

static void release(struct walk *w)
{
	vec_for_each (&w->libraries, struct library, l) {
		dso_dynamic_release(&l->dynamic);
		free(l->path);
		free(l->origin);
	}
	vec_release(&w->libraries);
	vec_release(&w->aliases);
	dso_dynamic_release(&w->interp_dynamic);
	loader_release(&w->loader);
}

static int walk_all(struct walk *w, const char *program, char *const *environment, struct err *err)
{
	char *real = realpath(program, NULL), *preload = NULL;
	int ret = open_interp(w, err);

	add_library(w, w->program, xstrdup(program), origin_of(real ? real : program), 0);
	free(real);
	if (ret)
		return ret;
	/* A setuid program ignores these variables. */
	if (!dso_is_setuid(w->program)) {
		w->library_path = variable(environment, "LD_LIBRARY_PATH");
		w->preload = variable(environment, "LD_PRELOAD");
	}
	if (w->library_path && !*w->library_path)
		w->library_path = NULL;
	preload = w->preload ? xstrdup(w->preload) : NULL;
	load_preloads(w, preload);
	load_preloads(w, w->loader.preload);
	ret = load_all(w, err);
	vec_release(&w->aliases);
	free(preload);
	return ret;
}

int dso_closure_in(struct dso_cache *cache, const char *program, char *const *environment,
		   struct dso_closure *out, struct err *err)
{
	struct walk w = { .cache = cache };
	int ret;

	*out = (struct dso_closure){ 0 };
	ret = dso_get(cache, program, &w.program, err);
	if (ret)
		return ret;
	if (dso_interp(w.program))
		ret = walk_all(&w, program, environment, err);
	else
		add_library(&w, w.program, xstrdup(program), xstrdup("/"), 0);
	if (!ret) {
		out->paths = xcalloc(w.libraries.n, sizeof(*out->paths));
		for (; out->n < w.libraries.n; out->n++) {
			out->paths[out->n] = w.libraries.data[out->n].path;
			w.libraries.data[out->n].path = NULL;
		}
	}
	release(&w);
	return ret;
}

int dso_closure(struct dso_cache *cache, const char *program, struct dso_closure *out,
		struct err *err)
{
	return dso_closure_in(cache, program, environ, out, err);
}
