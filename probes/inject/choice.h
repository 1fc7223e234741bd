/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions are patched where -F names none. A command is patched before it runs, so nothing
 * is known of what will be hot: all functions of the program are chosen, those of libraries that it
 * calls, and the functions in which threads wait for each other. What is called too often for the
 * budget is taken out again while it runs (budget.h).
 */
#ifndef ISPOT_PROBES_INJECT_CHOICE_H
#define ISPOT_PROBES_INJECT_CHOICE_H

#include <stddef.h>

struct err;
struct dso;
struct patterns;
struct selection;

struct choice_of {
	struct dso *const *objects;
	size_t n, n_programs; /* the programs are the first ones */
	size_t most; /* functions of the programs and of libraries: the largest are taken */
};

/* *named: patterns that the selection borrows from; the caller frees them after it. */
int choice_make(struct selection *s, const struct choice_of *of, struct patterns **named,
		struct err *err);

#endif
