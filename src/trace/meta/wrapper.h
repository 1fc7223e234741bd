/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that stand between a program and what it calls: those of system headers, and those of
 * the standard libraries of C++ and Rust, which are compiled into the program, and Java's locks.
 * Users know the function that calls them.
 */
#ifndef ISPOT_TRACE_META_WRAPPER_H
#define ISPOT_TRACE_META_WRAPPER_H

#include <stdbool.h>

struct meta_frame;
struct text;

/* Whether the frame's source is a system header, as that of C++'s wrappers around locks is. */
bool meta_frame_in_header(const struct meta_frame *f);
/* Whether a demangled symbol is a function of the standard library of C++ or Rust, or of Java's
 * package of locks and queues. */
bool meta_symbol_in_std(const char *symbol);
/* Either of them. */
bool meta_frame_is_wrapper(const struct meta_frame *f);

/*
 * Whether the symbol is the frame in which Rust runs the closure of a thread, or main(). Further
 * out there is nothing but the standard library. The closure itself is most often inlined here.
 */
bool meta_symbol_begins_thread(const char *symbol);
/* Adds that closure, "work::main::{closure#0}", if the symbol tells it. Returns whether it does. */
bool meta_add_closure(const char *symbol, struct text *out);
/* Adds the name that a reader knows: the symbol, or the closure that the symbol runs. */
void meta_add_function(const char *symbol, struct text *out);

#endif
