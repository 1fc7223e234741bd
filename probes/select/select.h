/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the functions that -F means. The grammar of a pattern:
 *
 *     [object:]name[@args]         name, a glob (*, ?, [..]) or /regex/ (POSIX extended)
 *     !pattern                     excludes what it matches, in any order
 *     marker:name                  a marker of probes/ispot.h
 *     usdt:provider:begin..end     a pair of a program's own static probes (select/marker.h)
 *     @FILE                        one pattern a line, or an ispot.data whose selection is reused
 *
 * `::` is never a separator, so `std::foo` is a name and `libx.so:std::foo` has an object. object
 * is a path, a base name, or the base name up to ".so" ("libc", "libc.so.6"), and may be a glob.
 * The name is compared with the mangled name, the full demangled name, the demangled name without
 * its parameter list, and the latter without template arguments. A name without an object is looked
 * up in the executable first, and only if it is not there, in the libraries: in the first one that
 * exports it, to which the dynamic linker would bind it, or if none does, in all. A glob or regex
 * is looked up in the executable only, unless nothing matches there. "foo" also means the copies
 * that a compiler made of it (foo.constprop.0). Of several versions of a libc function the default
 * one is chosen.
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

/*
 * Whether a !pattern excludes the function, under any of its names. Callers that choose functions
 * without patterns use this, too.
 */
bool patterns_exclude(const struct patterns *p, struct dso *dso, const struct dso_function *f);

struct selected {
	struct dso *dso;
	const struct dso_function *function;
	const char *pattern;   /* the pattern that chose it, as the user wrote it */
	const char *arguments; /* the text behind '@' of all patterns for it; "": none */
	bool by_name;	       /* chosen by its exact name, not by a glob or regex */
	struct marker *marker; /* NULL: a function; otherwise function is the marker's own */
	bool is_dropped;       /* it is not traced after all; its place can be chosen again */
};

/* A function that a pattern wants but that cannot be traced, or a near miss worth reporting. */
struct unselected {
	char *name, *object, *reason;
	bool marker; /* a marker, not a function */
};

struct selection {
	struct {
		VEC(struct selected)
	} chosen; /* one for each (inode, offset), sorted by dso and address */
	struct {
		VEC(struct unselected)
	} left_out;
	struct map left_out_known; /* hash of name and object */
	struct {
		VEC(char *)
	} joined;	     /* joined argument texts of functions that several patterns name */
	struct map by_place; /* (inode, offset) -> index in chosen */
	/*
	 * Functions that match these are never chosen; NULL: all may be. The caller owns the
	 * patterns and keeps them as long as the selection uses them.
	 */
	const struct patterns *excluding;
	bool is_final; /* nothing that is loaded later is chosen */
};

/*
 * Adds the matches in some objects (dsos[0] is the executable, unless n_executables is 0). It may
 * be called again for objects that are mapped later; then it appends. A pattern without a match is
 * no error here.
 */
int selection_add(struct selection *s, struct patterns *p, struct dso *const *dsos, size_t n,
		  size_t n_executables, struct err *err);
/*
 * Adds a function that was found without a pattern, unless its place is chosen already or excluded.
 */
void selection_add_function(struct selection *s, struct dso *dso, const struct dso_function *f);
/* Sorts by the order of these objects and by address. No index into chosen may be in use. */
void selection_sort(struct selection *s, struct dso *const *dsos, size_t n);
/* Drops the function at index i of chosen, which stays there because other indices are in use. If
 * the function is chosen again, it is added at the end. */
void selection_drop(struct selection *s, size_t i);
/* Drops all but the first n; the dropped ones can be chosen again. */
void selection_keep(struct selection *s, size_t n);
void selection_release(struct selection *s);

#endif
