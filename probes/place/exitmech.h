/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chooses how the exit of a function is traced without harming the target. `return` is the kernel's
 * return probe, which is cheap; but if an unwinder, a canceled thread, a coroutine switch or an
 * alternate stack passes through the frame, the target dies (design fact 8). `ret-sites` are probes
 * on the function's rets and tail jumps, which are costly but safe. With `none`, calls are counted,
 * not timed. A table of rows (test, mechanism, reason) decides.
 */
#ifndef ISPOT_PROBES_PLACE_EXITMECH_H
#define ISPOT_PROBES_PLACE_EXITMECH_H

#include <stdbool.h>

#include "trace/meta/meta.h"

struct dso;
struct dso_function;
struct placement;

/*
 * The traits of a target program, from the imports and symbols of its objects. Imports that a
 * library needs only for its own work (libgomp's pthread_exit) do not count; exitmech.c lists them.
 */
struct target_traits {
	bool unwinds; /* C++ exceptions, Rust panics: an object other than the runtime libraries
			 raises or cleans up */
	bool cancels; /* pthread_cancel */
	bool thread_exits; /* pthread_exit, which unwinds its callers */
	bool coroutines;   /* swapcontext, makecontext, boost fcontext, … */
	bool altstack;	   /* sigaltstack */
	bool forks;	   /* fork, posix_spawn, system … */
	bool go, jvm;
	bool seccomp; /* seccomp or prctl imports: kernels 6.11–6.13.2 kill sandboxed processes at
			 return probes */
};

struct exit_choice {
	enum exit_mech mech;
	bool refused;	    /* no entry probe either: denied by name (setjmp, vfork …), or Go */
	const char *reason; /* static string, a clause for check and the report; "" for the plain
			       case */
};

void target_traits_add(struct target_traits *traits, struct dso *dso, bool executable);
/* Chooses the exit of f. place is that of f; kernel_version is a KERNEL_VERSION(). */
void exit_choose(const struct target_traits *traits, struct dso *dso, const struct dso_function *f,
		 const struct placement *place, unsigned kernel_version,
		 struct exit_choice *choice);

/*
 * Returns a clause if a function of that name is entered or left in a way that only code made for
 * it survives: it returns twice, or on another stack, or has no return address. Otherwise returns
 * NULL.
 */
const char *exit_odd_by_name(const char *symbol);
/* Whether the C library's function of that name may do its waiting in another one, to which it
 * jumps: its exits are then left before it waits. */
bool exit_waits_behind_jump(const char *symbol);

/*
 * ---- the choice itself, separate from the source of its facts, so that every row can be tested
 * ----
 */

struct exit_facts {
	const struct target_traits *traits;
	const char *symbol;
	const char *object; /* base name of the function's file */
	bool static_object; /* libc may be linked into it */
	bool cxx_or_rust;   /* by its compile unit or its mangling */
	bool go;
	const struct placement *place;
	unsigned kernel_version;
};

void exit_choose_by_facts(const struct exit_facts *facts, struct exit_choice *choice);

/* Notes one import of one object; object is its base name. */
void target_traits_import(struct target_traits *traits, const char *object, const char *name);

/* Whether object, a base name, is stem.so, stem.so.6 or stem-2.31.so. */
bool exit_object_is(const char *object, const char *stem);

#endif
