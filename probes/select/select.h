/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions -F means. The grammar of a pattern:
 *
 *	[object:]name[@args]   name, a glob (*, ?, [..]) or /regex/ (POSIX extended)
 *	!pattern               takes out what it matches, whatever the order
 *	marker:name            a marker of probes/ispot.h
 *	usdt:provider:begin..end     a pair of a program's own static probes (select/marker.h)
 *	@FILE                  one pattern a line, or an ispot.data whose selection is used again
 *
 * `::` is never a separator, so `std::foo` is a name and `libx.so:std::foo` has an object. object
 * is a path, a base name, or the base name up to ".so" ("libc", "libc.so.6"), globs allowed. The
 * name is tried on the mangled name, the full demangled name, the demangled name without its
 * parameter list, and that without template arguments. A name without an object is looked for in
 * the executable first and in the libraries only if it is not there: in the first that exports it,
 * as the dynamic linker would bind it, else in all; with a glob or regex in the executable only,
 * unless nothing matches there. "foo" also means the copies that a compiler made of it
 * (foo.constprop.0). Of several versions of a libc function the default one is taken.
 */
#ifndef ISPOT_PROBES_SELECT_SELECT_H
#define ISPOT_PROBES_SELECT_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct err;
struct dso;
struct dso_cache;
struct dso_function;
struct marker;

struct patterns; /* parsed */

/* Taken out by a !pattern, under whichever of its names: also for whoever chooses without patterns.
 */
bool patterns_exclude(const struct patterns *p, struct dso *dso, const struct dso_function *f);

struct selected {
	struct dso *dso;
	const struct dso_function *function;
	const char *pattern;   /* that brought it in, as typed */
	const char *arguments; /* behind '@', of all patterns that mean it; "" none */
	bool by_name;	       /* by its very name, not by a glob or regex */
	struct marker *marker; /* NULL: a function; else function is the marker's own */
};

/* Wanted by a pattern but impossible, or a near miss worth saying. */
struct unselected {
	char *name, *object, *reason;
	bool marker; /* no function */
};

struct selection {
	struct {
		VEC(struct selected)
	} chosen; /* one per (inode, offset), in order of dso, address */
	struct {
		VEC(struct unselected)
	} left_out;
	struct map left_out_known; /* hash of name and object */
	struct {
		VEC(char *)
	} joined;	     /* arguments that several patterns name */
	struct map by_place; /* (inode, offset) -> index in chosen */
	/*
	 * Functions that match these are never chosen; NULL: all may be. The caller's, as long as
	 * it is used.
	 */
	const struct patterns *excluding;
};

/*
 * Matches against some objects (dsos[0] the executable, or none: n_executables 0). May be called
 * again for objects mapped later: it appends. A pattern without a match is not an error here.
 */
int selection_add(struct selection *s, struct patterns *p, struct dso *const *dsos, size_t n,
		  size_t n_executables, struct err *err);
/* One that was found otherwise, unless what lies there is chosen already or excluded. */
void selection_add_function(struct selection *s, struct dso *dso, const struct dso_function *f);
/* In order of these objects and of addresses: nobody holds an index to any of them yet. */
void selection_sort(struct selection *s, struct dso *const *dsos, size_t n);
/* Only the first n: the others can be chosen again. */
void selection_keep(struct selection *s, size_t n);
void selection_release(struct selection *s);

#endif
