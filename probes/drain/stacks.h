/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call sites and call stacks that come out of the rings. A new one gets a number at once, and waits
 * here until its addresses are looked up while its process is alive. Sites and stacks are kept in
 * tables of fixed size; nothing here allocates memory after the start.
 */
#ifndef ISPOT_PROBES_DRAIN_STACKS_H
#define ISPOT_PROBES_DRAIN_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/bpf/wire.h"

struct trace_writer;
struct wire_call;

#define DRAIN_STACKS_MAX 1024  /* new stacks that can wait */
#define CALL_STACKS_MAX	 32768 /* stacks of calls and sites in a recording */

struct drain_stack {
	uint32_t id; /* number in the file */
	pid_t pid;
	uint32_t n_frames; /* 0: the stack of a blocked thread, in the kernel's map under id - 1 */
	/* frames[0] is an instruction; otherwise it is a return address like the others */
	bool from_call;
	uint64_t frames[WIRE_FRAMES_MAX];
};

#define DRAIN_COPIES_MAX 256 /* copies of stacks that can wait to be unwound */

struct drain_stacks {
	struct trace_writer *writer;
	/*
	 * Copies of stacks with their numbers in the file; the owner takes them and resets
	 * n_copies.
	 */
	struct drain_copy {
		uint32_t id;
		struct wire_copy w; /* a WIRE_WAIT_COPY if the thread is waiting */
	} * copies;
	size_t n_copies;
	/* New stacks; the owner takes them and resets n_new. */
	struct drain_stack *new;
	size_t n_new;
	uint8_t *blocked_seen; /* [index in the kernel's map] */
	struct drain_known {
		uint64_t hash; /* 0: free */
		uint32_t id;
	} * sites, *stacks; /* tables */
	uint32_t n_sites, n_stacks;
	/* stacks walked by frame pointers, and those of them that end at the caller */
	uint32_t n_walked, n_short;
	uint64_t sites_dropped, stacks_dropped; /* calls without room for their site or stack */
	uint64_t waits;				/* waits that should have a stack */
	uint64_t stacks_collided; /* those of them without room for the stack in the kernel's map */
};

void drain_stacks_init(struct drain_stacks *d, struct trace_writer *w);
/* Prepares for copies of stacks. */
void drain_stacks_take_copies(struct drain_stacks *d);
void drain_stacks_release(struct drain_stacks *d);
/*
 * Returns the number of an entry in the file: that of its call site, or of the function if there is
 * no room.
 */
uint32_t drain_site(struct drain_stacks *d, const struct wire_call *call);
/* Returns the number of a stack in the file, or 0 if there is no room. */
uint32_t drain_call_stack(struct drain_stacks *d, const struct wire_stack *w);
uint32_t drain_call_copy(struct drain_stacks *d, const struct wire_copy *w);
uint32_t drain_wait_copy(struct drain_stacks *d, const struct wire_copy *w);
/*
 * Returns the number in the file of a blocked thread's stack; stack is its index in the kernel's
 * map.
 */
uint32_t drain_block_stack(struct drain_stacks *d, int stack, pid_t pid);

#endif
