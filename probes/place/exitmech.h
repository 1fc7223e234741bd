/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a function's exit is seen without harming the target: `return` (the kernel's return probe,
 * cheap, but an unwinder, a cancelled thread, a coroutine switch or an alternate stack passing
 * through the frame kills the target: design fact 8), `ret-sites` (probes on its ret and tail
 * jumps, dear, safe), or `none` (entry only: calls counted, not timed). Chosen from a table of
 * rows (test, mechanism, reason).
 */
#ifndef ISPOT_PROBES_PLACE_EXITMECH_H
#define ISPOT_PROBES_PLACE_EXITMECH_H

#include <stdbool.h>

#include "trace/meta/meta.h"

struct dso;
struct dso_function;
struct placement;

/*
 * The traits of a target program, from its objects' imports and symbols. Imports of libraries that
 * keep the matter inside (libgomp's pthread_exit) do not count: rows in exitmech.c.
 */
struct target_traits {
	bool unwinds; /* C++ exceptions, Rust panics: an object other than the runtime libraries
			 raises or cleans up */
	bool cancels; /* pthread_cancel */
	bool thread_exits; /* pthread_exit: unwinds its callers */
	bool coroutines;   /* swapcontext, makecontext, boost fcontext, … */
	bool altstack;	   /* sigaltstack */
	bool forks;	   /* fork, posix_spawn, system … */
	bool go, jvm;
	bool seccomp; /* seccomp or prctl imports: kernels 6.11–6.13.2 kill sandboxed processes at
			 return probes */
};

struct exit_choice {
	enum exit_mech mech;
	bool refused;	    /* not even an entry probe: denied by name (setjmp, vfork …) or Go */
	const char *reason; /* static string, a clause for check and the report; "" for the plain
			       case */
};

void target_traits_add(struct target_traits *traits, struct dso *dso, bool executable);
/* kernel_version as KERNEL_VERSION(). place is of the same function. */
void exit_choose(const struct target_traits *traits, struct dso *dso, const struct dso_function *f,
		 const struct placement *place, unsigned kernel_version,
		 struct exit_choice *choice);

/*
 * Why a function of that name is entered or left in a way that only code made for it survives, a
 * clause: it returns twice, or on another stack, or has no return address. NULL: nothing is known.
 */
const char *exit_odd_by_name(const char *symbol);

/* ---- the choice itself, apart from where its facts come from, so that every row has its test ----
 */

struct exit_facts {
	const struct target_traits *traits;
	const char *symbol;
	const char *object; /* base name of its file */
	bool static_object; /* libc may be linked into it */
	bool cxx_or_rust;   /* by its compile unit or its mangling */
	bool go;
	const struct placement *place;
	unsigned kernel_version;
};

void exit_choose_by_facts(const struct exit_facts *facts, struct exit_choice *choice);

/* One import of one object; object is its base name. */
void target_traits_import(struct target_traits *traits, const char *object, const char *name);

/* Is object, a base name, stem.so, stem.so.6 or stem-2.31.so? */
bool exit_object_is(const char *object, const char *stem);

#endif
