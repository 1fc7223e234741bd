/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chooses the functions to patch if -F names none. A command is patched before it runs, so it is
 * not known which functions will be hot. All functions of the program are chosen, the functions of
 * libraries that it calls, and the functions in which threads wait for each other. Functions that
 * are called too often for the budget are removed again while the program runs (budget.h).
 */
#ifndef ISPOT_PROBES_INJECT_CHOICE_H
#define ISPOT_PROBES_INJECT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct dso;
struct patterns;
struct selection;

struct choice_of {
	struct dso *const *objects;
	size_t n, n_programs; /* the programs come first */
	size_t most; /* functions at most; the largest ones of programs and libraries are chosen */
	bool has_locks_alone; /* no function is chosen in which threads wait, but those for locks */
};

/* *named: patterns from which the selection borrows; the caller frees them after the selection. */
int choice_make(struct selection *s, const struct choice_of *of, struct patterns **named,
		struct err *err);

#endif
