/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that a stopped process is given, by system calls of its own (tracee.h): near the code of
 * each object that is patched an arena, executable and never written by the process; blocks of its
 * threads; and the region that it shares with the recorder.
 *
 * The code that makes those calls stands first behind the end of some object's code, in what is
 * left of the last page, then in the first arena. At any moment it can go on without the recorder.
 */
#ifndef ISPOT_PROBES_INJECT_INJECTION_H
#define ISPOT_PROBES_INJECT_INJECTION_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "probes/process/mark.h"

struct err;
struct tracees;

#define ARENA_HEADER 64

/* At an arena's start, for whoever takes the patches out: of an arena without its mark nothing is
 * believed, and of one with it only what the object's file confirms. */
struct arena_header {
	struct patched_mark mark; /* its jump, of the first arena, leads to the code that makes the
				     calls */
	uint64_t table_at;	  /* struct arena_patch, from the arena's start */
	uint32_t n_patches;	  /* in it */
	uint32_t n_bytes;	  /* of the arena */
	uint64_t reserved[2];
};

struct arena_patch {
	uint64_t at; /* where a jump stands now */
	uint8_t n;   /* its bytes */
	uint8_t is_island, original[6];
};

struct stub_arena {
	uint64_t near_start, near_end; /* code that jumps there and back */
	size_t bytes;		       /* wanted, then had */
	uint64_t at;
};

struct injection {
	struct {
		VEC(struct stub_arena)
	} arenas; /* the caller's wishes */
	uint64_t ring_bytes;
	uint32_t period, n_functions; /* one call in so many is recorded, of so many functions */
	uint64_t block_bytes, rows_bytes;  /* of each thread */
	uint64_t rows;			   /* address */
	uint64_t region, blocks, no_block; /* addresses; no_block: whoever has none yet has that */
	uint64_t resume;		   /* where its first thread goes on */
	uint64_t no_tls; /* readable, and no thread's: what %fs:0 is where there is no %fs */
	int region_fd;	 /* the recorder's; -1: none */
};

/* Chooses where the arenas will be, whose objects and sizes are set. The process may run. */
int injection_place(struct injection *in, pid_t pid, struct err *err);
/* Whether there is still room where they are to be. */
bool injection_has_room(const struct injection *in, pid_t pid);
/* All of it, with arenas that have their places, or none: then the process goes on as it was. Its
 * first thread is left within the code, which goes on to where it was when it is let go. */
int injection_make(struct injection *in, struct tracees *t, struct err *err);
void injection_release(struct injection *in);

#endif
