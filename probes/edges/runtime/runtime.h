/* SPDX-License-Identifier: MIT */
/* Between the two halves of the runtime: counting (runtime.c) and where sections end (waits.c). */
#ifndef ISPOT_PROBES_EDGES_RUNTIME_RUNTIME_H
#define ISPOT_PROBES_EDGES_RUNTIME_RUNTIME_H

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "probes/edges/runtime/log.h"

#define EDGES_PUBLIC __attribute__((visibility("default")))

/* Where the function that this is written in was called. */
#define EDGES_HERE ((uintptr_t)__builtin_return_address(0))

/* The library's own function of this name, before which ours stands. */
#define EDGES_NEXT(name)                                                              \
	__extension__({                                                               \
		static __typeof__(&name) next;                                        \
		if (!__atomic_load_n(&next, __ATOMIC_RELAXED))                        \
			__atomic_store_n(&next, (__typeof__(&name))edges_find(#name), \
					 __ATOMIC_RELAXED);                           \
		next;                                                                 \
	})
void *edges_find(const char *name); /* aborts if nobody has it who could have called it */

struct edges_thread;

/* The thread that made the calling thread; numbers as in its log. */
struct edges_origin {
	bool known;
	uint32_t maker, made;
};
extern __thread struct edges_origin edges_origin
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A moment of the calling thread, since it began. */
struct edges_moment {
	uint64_t time_ns; /* of the clock */
	uint64_t cpu_ns, cpu_wait_ns, sleeps;
};

/*
 * All of one moment: what the thread waits for a CPU between two of the readings would be of the
 * one and not of the other. at_end: time first, so that the other readings are none of it.
 */
struct edges_moment edges_moment_now(bool at_end);

uint64_t edges_now_ns(void); /* of CLOCK_MONOTONIC */

/* A file's code in memory, bias above the file's terms. */
struct edges_mapped {
	uintptr_t bias, start, end;
	char path[PATH_MAX]; /* "" not known */
};

/* False: no file is there. */
bool edges_mapped_at(uintptr_t pc, struct edges_mapped *found);
/* The calling thread; NULL: it is not counted. */
struct edges_thread *edges_self(void);
/* Ends the thread's part of a section. Returns where the cut is in its log, 0: nowhere. */
uint64_t edges_cut(struct edges_thread *t, enum edges_end end, uintptr_t site, uint64_t object);
/* It goes on; cut: as edges_cut() returned it. */
void edges_go_on(struct edges_thread *t, uint64_t cut);
/* It makes another thread: the origin that this one has. */
struct edges_origin edges_make(struct edges_thread *t);
/* It waited for that one's end (pthread_self()'s value there), by the call before site. */
void edges_awaited(struct edges_thread *t, uint64_t thread, uintptr_t site);
/* Drops the counts since the thread went on last: they belong to no section. */
void edges_drop(struct edges_thread *t);

#endif
