/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions of a command, or of running processes, are patched. */
#ifndef ISPOT_PROBES_INJECT_TARGETS_H
#define ISPOT_PROBES_INJECT_TARGETS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/inject/patched.h"
#include "probes/select/select.h"

struct budget_function;
struct err;
struct inject_recording;
struct patterns;
struct trace_writer;

struct inject_targets {
	struct dso_cache *dsos;
	struct {
		VEC(struct dso *)
	} objects;
	struct patches_left {
		VEC(struct patched_function)
	} left; /* chosen, and not to be patched: why says it */
	struct selection selection;
	bool is_chosen;			    /* by -F */
	bool may_lock;			    /* the command, all its memory: it calls mlockall() */
	struct patterns *named, *excluding; /* without it; the selection borrows from them */
	struct patched_functions functions;
	char *program;	/* base name */
	uint64_t inode; /* of the command's program */
	dev_t device;
};

/* The objects of the command or the processes alone. -ENOTSUP: they are not to be patched. */
int inject_targets_look(struct inject_targets *t, const struct inject_recording *o,
			size_t *n_programs, struct err *err);
/* Nothing that -F chose can be patched: -ENOTSUP. */
int inject_targets_find(struct inject_targets *t, const struct inject_recording *o,
			struct err *err);
/* Objects, functions, and what is left alone. */
void inject_targets_write(struct inject_targets *t, struct trace_writer *w);
void inject_targets_write_left(struct inject_targets *t, struct trace_writer *w);
/* A function that was patched, and is not any more, as its calls cost too much. */
void inject_targets_write_out(const struct patched_function *p, const struct budget_function *spent,
			      uint64_t now_ns, struct trace_writer *w);
/* A process that was not looked at, or is another one by now. -ENOTSUP: it is not to be patched. */
int inject_targets_refuse_mapped(struct inject_targets *t, pid_t pid, struct err *err);
void inject_targets_release(struct inject_targets *t);

#endif
