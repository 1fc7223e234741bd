/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a function's exit is seen without harming the target: `return` (the kernel's return probe,
 * cheap, but an unwinder, a cancelled thread, a coroutine switch or an alternate stack passing
 * through the frame kills the target: design fact 8), `ret-sites` (probes on its ret and tail
 * jumps, dear, safe), or `none` (entry only: calls counted, not timed). Chosen from a table of
 * rows (test, mechanism, reason).
 */
#ifndef ISPOT_PROBES_EXITMECH_H
#define ISPOT_PROBES_EXITMECH_H

#include <stdbool.h>

#include "trace/meta.h"

struct dso;
struct dso_function;
struct placement;

/* What is known of a target program, from its objects' imports and symbols. */
struct target_traits {
	bool unwinds;      /* C++ exceptions, Rust panics, _Unwind_* used: by any object but libgcc itself */
	bool cancels;      /* pthread_cancel, pthread_exit */
	bool coroutines;   /* swapcontext, makecontext, boost fcontext, … */
	bool altstack;     /* sigaltstack */
	bool longjmps;     /* setjmp family */
	bool go, jvm;
	bool seccomp;      /* seccomp or prctl imports: kernels 6.11–6.13.2 kill sandboxed processes at return probes */
};

struct exit_choice {
	enum exit_mech mech;
	bool refused;       /* not even an entry probe: denied by name (setjmp, dlsym, dlopen, vfork …) or Go */
	const char *reason; /* static string, a clause for check and the report; "" for the plain case */
};

void target_traits_add(struct target_traits *traits, struct dso *dso, bool executable);
void exit_choose(const struct target_traits *traits, struct dso *dso, const struct dso_function *f,
		 const struct placement *place, unsigned kernel_version, struct exit_choice *choice);

/* Functions that wait: a row each (name, kind of waiting as a cause kind). NULL: not known to wait. */
const char *blocking_kind(const char *symbol);
/* All their names, for the hybrid selection; NULL-terminated. */
const char *const *blocking_names(void);

#endif
