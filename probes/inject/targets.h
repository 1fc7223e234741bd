/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds which functions of a command, or of running processes, are patched. */
#ifndef ISPOT_PROBES_INJECT_TARGETS_H
#define ISPOT_PROBES_INJECT_TARGETS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "probes/inject/patched.h"
#include "probes/select/select.h"

struct budget_function;
struct session_options;
struct patterns;
struct trace_writer;

struct inject_targets {
	struct dso_cache *dsos;
	struct {
		VEC(struct dso *)
	} objects;
	/* Functions that a pattern with arguments chose: those that have all of them, those that
	 * lack one, and why the first of these does. */
	size_t n_with, n_without;
	struct err without;
	struct patches_left {
		VEC(struct patched_function)
	} left; /* chosen functions that cannot be patched; why has the reason */
	struct selection selection;
	bool is_chosen; /* the user chose functions with -F */
	bool may_lock;	/* the command may lock all its memory: it calls mlockall() */
	struct patterns *named, *excluding; /* without -F: the selection borrows from them */
	struct patched_functions functions;
	char *program;		    /* base name */
	const struct dso *nameless; /* the first program of which no function has a name, or NULL */
	uint64_t inode;		    /* inode and device of the command's program */
	dev_t device;
};

/* Finds the objects of the command or the processes, but no functions. Returns -ENOTSUP if they
 * must not be patched. */
int inject_targets_find_objects(struct inject_targets *t, const struct session_options *o,
				size_t *n_programs, struct err *err);
/* Finds the objects and the functions. Returns -ENOTSUP if no function that -F chose can be
 * patched. */
int inject_targets_find(struct inject_targets *t, const struct session_options *o, struct err *err);
/* Write the objects and functions, and the functions that were not patched. */
void inject_targets_write(struct inject_targets *t, struct trace_writer *w);
void inject_targets_write_skipped(struct inject_targets *t, struct trace_writer *w);
/* Writes that a function is no longer patched because its calls cost too much. */
void inject_targets_write_given_up(const struct patched_function *p,
				   const struct budget_function *spent, uint64_t now_ns,
				   struct trace_writer *w);
/* Checks a process that was not checked before, or may have changed since. Returns -ENOTSUP if it
 * must not be patched. */
int inject_targets_refuse_mapped(struct inject_targets *t, pid_t pid, struct err *err);
void inject_targets_release(struct inject_targets *t);

#endif
