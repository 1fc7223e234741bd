/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that a stopped process maps by system calls of its own (tracee.h): near the code of each
 * patched object an arena, which is executable and which the process never writes; the blocks of
 * its threads; and the region that it shares with the recorder.
 *
 * The code that makes these system calls stands first after the end of some object's code, in the
 * unused part of the last page, and then in the first arena. At any moment it can finish without
 * the recorder.
 */
#ifndef ISPOT_PROBES_INJECT_INJECTION_H
#define ISPOT_PROBES_INJECT_INJECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "probes/inject/machine/blob.h"
#include "probes/process/mark.h"

struct err;
struct tracees;

#define ARENA_HEADER 64

/* Stands at an arena's start, for the recorder that removes the patches. That recorder ignores an
 * arena without the mark, and of an arena with it believes only what the object's file confirms. */
struct arena_header {
	struct patched_mark mark; /* its jump, in the first arena, leads to the code that makes the
				     system calls */
	uint64_t table_at;	  /* offset of the struct arena_patch table in the arena */
	uint32_t n_patches;	  /* rows of the table */
	uint32_t n_bytes;	  /* bytes of the arena */
	uint64_t reserved[2];
};

struct arena_patch {
	uint64_t at; /* address of a jump */
	uint8_t n;   /* bytes of the jump */
	uint8_t is_island, original[6];
};

struct stub_arena {
	uint64_t near_start, near_end; /* range of the object's code */
	size_t bytes; /* bytes for stubs at first; injection_place() sets those of the arena */
	uint64_t at;
};

struct injection {
	struct {
		VEC(struct stub_arena)
	} arenas; /* the caller sets near_start, near_end and bytes */
	uint64_t ring_bytes;
	uint32_t period, n_functions;	  /* one call in period is recorded; number of functions */
	bool gives_up;			  /* threads may pass calls (machine/blob.h) */
	struct blob_budget budget;	  /* of each thread */
	uint32_t large_rings;		  /* see inproc_large_rings() */
	uint64_t block_bytes, rows_bytes; /* of each thread */
	uint64_t rows;			  /* address of the first thread's rows */
	/* Addresses. Threads that have no block of their own share no_block. */
	uint64_t region, blocks, no_block;
	uint64_t table; /* of the blocks of threads (threadtable.h) */
	uint64_t table_bytes;
	uint64_t tid_below; /* see struct blob_facts */
	uint64_t resume;    /* address at which the thread that ran the code continues */
	uint64_t back;	    /* address of the end of that code, see steps_resume(); 0: none */
	/* The base of %fs for threads that have none. It is readable, and its word is no thread's
	 * key. */
	uint64_t no_tls;
	int region_fd; /* the recorder's descriptor of the region; -1: none */
};

/* Chooses the addresses of the arenas, whose near_start, near_end and bytes are set. The process
 * may run meanwhile. */
int injection_place(struct injection *in, pid_t pid, struct err *err);
/* Returns whether the addresses of the arenas are still free. */
bool injection_has_room(const struct injection *in, pid_t pid);
/*
 * Maps all of the memory, with arenas whose addresses are chosen. On an error the process continues
 * as before. One thread is left inside the injected code; once the thread is released, that code
 * returns to where the thread was.
 */
int injection_make(struct injection *in, struct tracees *t, struct err *err);
void injection_release(struct injection *in);

#endif
