/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What functions of standard libraries wait for. pthread_barrier_wait of libc waits at a barrier,
 * whatever its futex looks like. So if a sleep's stack, or the innermost traced call, is in one of
 * these functions, the futex is known and need not be judged by its behavior. A function counts
 * only in its own library: a program's function of the same name proves nothing.
 */
#ifndef ISPOT_ANALYSIS_THREADS_STANDARD_H
#define ISPOT_ANALYSIS_THREADS_STANDARD_H

#include <stdbool.h>
#include <stdint.h>

struct meta;
struct meta_frame;
struct meta_function;
struct meta_stack;
struct thread;

enum standard_wait {
	STANDARD_NONE,
	STANDARD_LOCK,
	STANDARD_CONDITION, /* or the mutex that belongs to a condition */
	STANDARD_BARRIER,
	STANDARD_SEMAPHORE,   /* a lock if threads that wait there release it */
	STANDARD_END,	      /* the end of a thread */
	STANDARD_RESULT,      /* what another thread makes once: a future, a latch */
	STANDARD_INTERPRETER, /* the lock of an interpreter, whose holder alone runs the program */
	STANDARD_WORK,	      /* something to run, for a thread of a scheduler inside the program */
	STANDARD_WAITS,
};

/* Returns whether the symbol is that name, with or without a version ("@GLIBC_2.34"). A name that
 * ends in * stands for all names with that beginning. */
bool standard_is_named(const char *symbol, const char *name);
/*
 * Returns what a function waits for. object is the path of the library, and symbol the mangled or
 * demangled name.
 */
enum standard_wait standard_wait_of(const char *object, const char *symbol);
/* Returns what a traced function waits for, by any of its names: rows of templates have the
 * demangled one. */
enum standard_wait standard_wait_of_function(const char *object, const struct meta_function *f);
/* Returns what the innermost frame that is in the table waits for. Functions of libraries count up
 * to the first function of the program. */
enum standard_wait standard_wait_in(const struct meta *meta, const struct meta_stack *stack);

/* Whether a recorded stack shows that a thread begins in this function: it is the first one of the
 * program, behind those of libraries. Whatever the thread does is inside of it. */
bool standard_begins_thread(const struct meta *meta, const struct meta_function *f);

/* Returns whether a thread with this stack is in the system call by which the C library makes
 * threads and processes. */
bool standard_is_in_clone(const struct meta *meta, const struct meta_stack *stack);

/* Whether the innermost functions, of standard libraries, are of a wait for a condition: what they
 * wait for at its end is the condition's mutex. */
bool standard_condition_in(const struct meta *meta, const struct meta_stack *stack);

/* Languages whose interpreter has one lock for all threads, so that one of them runs at a time. */
enum standard_language { LANGUAGE_NONE, LANGUAGE_PYTHON, LANGUAGE_RUBY, LANGUAGE_OCAML, LANGUAGES };
/* Returns the language whose interpreter's lock a thread with this stack waits for. */
enum standard_language standard_interpreter_in(const struct meta *meta,
					       const struct meta_stack *stack);

/* Returns how many waiters of a condition the standard function that a thread is in releases. */
enum standard_release { RELEASE_UNKNOWN, RELEASE_ONE, RELEASE_ALL };
enum standard_release standard_release_in(const struct thread *t);

/* Whether object is the path of one of the libraries whose functions are known. */
bool standard_is_library(const char *object);
/* Whether object is the path of a library of OpenMP, or of TBB. */
bool standard_is_openmp(const char *object);
bool standard_is_tbb(const char *object);
/* Whether object is the path of glibc's loader, which runs before and after the program. */
bool standard_is_loader(const char *object);
/* Whether object is the path of the C library. */
bool standard_is_libc(const char *object);
/* Whether a function is where the C library begins a thread or a program. */
bool standard_is_start(const char *object, const char *symbol);
/* Returns the innermost function of the program that has a name, or else its innermost frame. */
const struct meta_frame *standard_own_function(const struct meta *meta,
					       const struct meta_stack *stack);
/* Returns the innermost function that is known to sleep between tries for a lock, as SQLite's busy
 * handler does for that of a database, or NULL. */
const struct meta_frame *standard_tries_in(const struct meta *meta, const struct meta_stack *stack);

/*
 * Whether a thread that runs with this stack waits without sleeping: it gives up its CPU to try
 * again, or is in a function of OpenMP that waits. If no name says which function of OpenMP it is,
 * it may wait, unless its loops that wait are known by their code. A function that waits for tasks
 * runs them and looks for them, too.
 */
bool standard_spins(const struct meta *meta, const struct meta_stack *stack);
/* Whether the function, or that of the frame, is one of the C library that gives up the CPU. */
bool standard_is_yield(const char *object, const char *symbol);
bool standard_yields(const struct meta_frame *f);
/* Whether the frame is of OpenMP and does not say for what it waits, if it does: a lock, a barrier,
 * or anything else. */
bool standard_spins_somewhere(const struct meta_frame *f);

/* Notes the stack of the thread's current sleep, by its number. */
void standard_see_stack(struct thread *t, uint64_t stack);
/*
 * Returns the kind of wait (enum wait_kind) that the innermost traced call of a thread is for.
 * WAIT_OTHER: a wait in the table above. WAIT_UNKNOWN: the call says nothing.
 */
uint32_t standard_kind_of_call(const struct thread *t);
/* Notes what the thread's current wait is for. Is called when its kind and its futex are known. */
void standard_see_wait(struct thread *t);

#endif
