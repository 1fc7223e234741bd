/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stacks of a recording. Addresses are looked up while their process is alive. Names, lines and
 * inlined functions are looked up once for each place, when the place is written, at the end of the
 * recording.
 */
#ifndef ISPOT_PROBES_RECORDING_STACKS_H
#define ISPOT_PROBES_RECORDING_STACKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"

struct drain_stacks;
struct dso;
struct loops;
struct recording;
struct spaces;
struct unwinder;

/* Places that stacks name, and the stacks as rows of them. */
struct stack_place {
	struct dso *dso; /* NULL: in no file (JIT code, the vDSO, an unknown mapping) */
	uint64_t address;
	/* the first id in the file, of the place and of what it was inlined into; n_frames 0: not
	 * written yet */
	uint32_t frame, n_frames;
};
struct recorded_stack {
	uint32_t id, first, n; /* of row */
};
struct recorded_stacks {
	struct {
		VEC(struct stack_place)
	} places;
	struct map by_place;
	struct {
		VEC(struct recorded_stack)
	} all;
	struct {
		VEC(uint32_t)
	} row;
	size_t n_written; /* of all */
	uint32_t next_frame;
	struct map loops_of; /* hash of dso and function -> index of loops */
	struct {
		VEC(struct loops *)
	} loops;
	struct unwinder *unwinder; /* caches this process, as of that number of mappings */
	pid_t unwound_pid;
	unsigned unwound_changes;
};

/* Adds new stacks. Called after each drain. */
void stacks_add(struct recorded_stacks *stacks, struct recording *r);
/* Adds new call sites alone, for a recorder without other stacks. */
void stacks_add_sites(struct recorded_stacks *stacks, struct drain_stacks *new,
		      struct spaces *spaces);
/* Writes those that are not written yet. */
void stacks_write(struct recorded_stacks *stacks, text_write_line *write, void *ctx);
/* Writes a notice on missing stacks, at the end. */
void stacks_report(struct recording *r);
/* Unwinds a copied stack, as unwind_stack() does. */
uint32_t stacks_unwind(struct recorded_stacks *stacks, struct recording *r, pid_t pid,
		       const uint64_t *registers, const uint8_t *stack, size_t stack_bytes,
		       uint64_t *frames, uint32_t room);
void stacks_release(struct recorded_stacks *stacks);

#endif
