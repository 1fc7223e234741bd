/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPU time that a runtime has for itself while it works for the program: OpenMP's library when it
 * hands out tasks, Go's when it collects garbage. What it takes is no interference, but a program
 * that gives it too much to do does not scale.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_RUNTIME_H
#define ISPOT_ANALYSIS_EVIDENCE_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

struct meta;
struct meta_stack;

enum runtime_work {
	RUNTIME_NONE,	/* code of the program or of another library, or a wait without sleeping */
	RUNTIME_OPENMP, /* no name tells what for */
	RUNTIME_OPENMP_TASKS,
	RUNTIME_OPENMP_CHUNKS, /* of loops with a dynamic schedule */
	RUNTIME_TBB,	       /* its tasks */
	RUNTIME_GO_MEMORY,     /* allocating, and collecting garbage */
	RUNTIME_GO_SWITCHING,  /* of goroutines, and passing values through channels */
	RUNTIME_GO_MUTEX,      /* taking and releasing mutexes of the package sync */
	RUNTIME_GO_CONTENTION, /* the same, where another goroutine holds or wants the mutex */
	RUNTIME_WORKS
};

/*
 * Returns what the thread ran for with this stack. It is in a runtime from its innermost frame out
 * to the first function that is not of a runtime or of the C library; the outermost name in between
 * that is known, or the name that the program calls there, tells what for. kernel: it is in the
 * kernel.
 */
enum runtime_work runtime_work_of(const struct meta *meta, const struct meta_stack *stack,
				  bool kernel);
/* Returns what a call of the function is for, if it is one of a runtime's own work and never waits.
 */
enum runtime_work runtime_work_of_call(const char *object, const char *symbol);

#endif
