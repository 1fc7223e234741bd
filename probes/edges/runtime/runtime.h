/* SPDX-License-Identifier: MIT */
/* Shared by the two halves of the runtime: runtime.c counts, and waits.c finds the ends of
 * sections. */
#ifndef ISPOT_PROBES_EDGES_RUNTIME_RUNTIME_H
#define ISPOT_PROBES_EDGES_RUNTIME_RUNTIME_H

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "probes/edges/runtime/log.h"

#define EDGES_PUBLIC __attribute__((visibility("default")))

/* The return address of the function that uses this macro. */
#define EDGES_HERE ((uintptr_t)__builtin_return_address(0))

/* The library's own function of this name, which ours replaces. */
#define EDGES_NEXT(name)                                                              \
	__extension__({                                                               \
		static __typeof__(&name) next;                                        \
		if (!__atomic_load_n(&next, __ATOMIC_RELAXED))                        \
			__atomic_store_n(&next, (__typeof__(&name))edges_find(#name), \
					 __ATOMIC_RELAXED);                           \
		next;                                                                 \
	})
void *edges_find(const char *name); /* aborts if no library has the function */

struct edges_thread;

/* The thread that created the calling thread. The numbers are those of its log. */
struct edges_origin {
	bool known;
	uint32_t maker, made;
};
extern __thread struct edges_origin edges_origin
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Times of the calling thread since it began. */
struct edges_moment {
	uint64_t time_ns; /* of the clock */
	uint64_t cpu_ns, cpu_wait_ns, sleeps;
};

/*
 * Reads all times as of one moment: otherwise, if the thread waits for a CPU between two of the
 * readings, one of them has the wait and the other does not. at_end: read the clock first, so that
 * its time does not include the other readings.
 */
struct edges_moment edges_moment_now(bool at_end);

uint64_t edges_now_ns(void); /* of CLOCK_MONOTONIC */

/* A file's code in memory. bias: an address in memory less that in the file. */
struct edges_mapped {
	uintptr_t bias, start, end;
	char path[PATH_MAX]; /* "" not known */
};

/* Finds the file at the address. Returns false if there is none. */
bool edges_mapped_at(uintptr_t pc, struct edges_mapped *found);
/* Returns the calling thread, or NULL if it is not counted. */
struct edges_thread *edges_self(void);
/* Ends the thread's part of a section. Returns the place of the cut in the thread's log, or 0 if
 * there is none. */
uint64_t edges_cut(struct edges_thread *t, enum edges_end end, uintptr_t site, uint64_t object);
/* Called when the thread continues after a cut, with what edges_cut() returned. */
void edges_go_on(struct edges_thread *t, uint64_t cut);
/* Called when the thread creates another one. Returns the origin of the new thread. */
struct edges_origin edges_make(struct edges_thread *t);
/* Called after the thread has waited, in the call before site, for the end of another one. thread:
 * what pthread_self() returns in the other one. */
void edges_awaited(struct edges_thread *t, uint64_t thread, uintptr_t site);
/* Drops the counts since the thread last continued, which belong to no section. */
void edges_drop(struct edges_thread *t);

#endif
