/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call sites and call stacks as they come out of the rings: those met for the first time get a
 * number at once and wait here for their addresses to be looked up while their process lives. Sites
 * and stacks are told apart in tables of fixed size; nothing here allocates after its start.
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

#define DRAIN_STACKS_MAX 1024  /* new ones that wait */
#define CALL_STACKS_MAX	 32768 /* stacks of calls and sites, of a recording */

struct drain_stack {
	uint32_t id; /* in the file */
	pid_t pid;
	uint32_t n_frames; /* 0: a blocked thread's, in the kernel's map under id - 1 */
	bool from_call;	   /* frames[0] is an instruction; else a return address like the others */
	uint64_t frames[WIRE_FRAMES_MAX];
};

#define DRAIN_COPIES_MAX 256 /* copies of stacks that wait to be unwound */

struct drain_stacks {
	struct trace_writer *writer;
	/* Taken and reset by the owner; with its number in the file. */
	struct drain_copy {
		uint32_t id;
		struct wire_copy w; /* a waiting thread's is a WIRE_WAIT_COPY */
	} * copies;
	size_t n_copies;
	/* Met for the first time; taken and reset by the owner. */
	struct drain_stack *new;
	size_t n_new;
	uint8_t *blocked_seen; /* [index in the kernel's map] */
	struct drain_known {
		uint64_t hash; /* 0: free */
		uint32_t id;
	} * sites, *stacks; /* tables */
	uint32_t n_sites, n_stacks;
	uint32_t n_walked, n_short; /* stacks by frame pointer, those that end at the caller */
	uint64_t sites_dropped, stacks_dropped; /* calls: that found no room */
	uint64_t waits;				/* that had a stack to find */
	uint64_t stacks_collided; /* those of them that found no room for their stack */
};

void drain_stacks_init(struct drain_stacks *d, struct trace_writer *w);
/* There will be copies of stacks. */
void drain_stacks_take_copies(struct drain_stacks *d);
void drain_stacks_release(struct drain_stacks *d);
/* The id that an entry has in the file: its site's, or the function's where there is no room. */
uint32_t drain_site(struct drain_stacks *d, const struct wire_call *call);
/* The stack's id in the file, 0: no room. */
uint32_t drain_call_stack(struct drain_stacks *d, const struct wire_stack *w);
uint32_t drain_call_copy(struct drain_stacks *d, const struct wire_copy *w);
uint32_t drain_wait_copy(struct drain_stacks *d, const struct wire_copy *w);
/* The same of a blocked thread, stack being its index in the kernel's map, or the file's number. */
uint32_t drain_block_stack(struct drain_stacks *d, int stack, pid_t pid);

#endif
