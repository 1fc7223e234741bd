/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that tell from the stack of a CPU sample what the thread was running. */
#ifndef ISPOT_ANALYSIS_EVIDENCE_RAN_H
#define ISPOT_ANALYSIS_EVIDENCE_RAN_H

#include <stdbool.h>
#include <stdint.h>

struct meta;
struct meta_frame;

struct ran {
	const struct meta_frame *function; /* NULL: not known */
	const struct meta_frame *shown;	   /* the function, or the closure that it runs */
};

/*
 * Finds the function that ran: the innermost frame that has a symbol and is not inlined, so that
 * the time in the vDSO counts for its caller, but not that in another library. What C++ and Rust
 * run in a function of their standard libraries, as the closure of a thread, is known by the
 * outermost of the program's functions inlined there. Without symbols, the innermost frame with an
 * object. stack: a number of meta.stacks.
 */
struct ran ran_at(const struct meta *meta, uint64_t stack);

/* The frames of the program's own functions, or of a library of its own, in a stack. */
struct own_functions {
	const struct meta_frame *innermost; /* NULL: none */
	const struct meta_frame *outermost; /* NULL: none, or code without a name calls it */
};

struct own_functions ran_own_functions(const struct meta *meta, uint64_t stack);

/*
 * Returns whether a thread that was in the kernel was most likely in a page fault: it ran code of
 * the program's own file, or a function of the C library that copies memory, which make no system
 * call. That holds only for programs whose system calls are in a C library of their own: the caller
 * has seen one of its frames.
 */
bool ran_is_in_fault(const struct meta *meta, uint64_t stack);

#endif
