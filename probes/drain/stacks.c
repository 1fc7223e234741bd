/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes/drain/stacks.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/format.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"
#include "trace/write/writer.h"

#define SITES_TABLE  (2 * SITES_MAX)
#define STACKS_TABLE (2 * CALL_STACKS_MAX)

void drain_stacks_init(struct drain_stacks *d, struct trace_writer *w)
{
	*d = (struct drain_stacks){ .writer = w };
	d->new = xcalloc(DRAIN_STACKS_MAX, sizeof(*d->new));
	d->blocked_seen = xcalloc(WIRE_STACKS_MAX, 1);
	d->sites = xcalloc(SITES_TABLE, sizeof(*d->sites));
	d->stacks = xcalloc(STACKS_TABLE, sizeof(*d->stacks));
}

void drain_stacks_take_copies(struct drain_stacks *d)
{
	d->copies = xcalloc(DRAIN_COPIES_MAX, sizeof(*d->copies));
}

void drain_stacks_release(struct drain_stacks *d)
{
	free(d->new);
	free(d->copies);
	free(d->blocked_seen);
	free(d->sites);
	free(d->stacks);
	*d = (struct drain_stacks){ 0 };
}

/* Returns the slot of a hash, or the free slot where it belongs. Tables are at most half full. */
static struct drain_known *find(struct drain_known *table, size_t room, uint64_t hash)
{
	size_t at = hash & (room - 1);

	while (table[at].hash && table[at].hash != hash)
		at = (at + 1) & (room - 1);
	return &table[at];
}

/*
 * Returns a new stack. In the file, the stacks of the kernel's map have the lower numbers; 0 means
 * no stack.
 */
static struct drain_stack *new_stack(struct drain_stacks *d, pid_t pid)
{
	struct drain_stack *s;

	if (d->n_new == DRAIN_STACKS_MAX || d->n_stacks == CALL_STACKS_MAX)
		return NULL;
	s = &d->new[d->n_new++];
	s->id = WIRE_STACKS_MAX + ++d->n_stacks;
	s->pid = pid;
	s->n_frames = 0;
	s->from_call = true;
	return s;
}

static void describe_site(struct drain_stacks *d, uint32_t id, uint32_t function, uint32_t stack)
{
	struct meta_site site = { .id = id, .function = function, .stack = stack };
	struct text line = { 0 };

	meta_print_site(&site, &line);
	trace_writer_meta(d->writer, line.s);
	text_release(&line);
}

static uint32_t new_site(struct drain_stacks *d, struct drain_known *at, uint64_t hash,
			 const struct wire_call *call)
{
	uint32_t function = call->h.head & WIRE_ID_MASK;
	struct drain_stack *s = d->n_sites < SITES_MAX ? new_stack(d, (pid_t)call->h.tgid) : NULL;

	if (!s) {
		d->sites_dropped++;
		return function;
	}
	s->from_call = false;
	s->n_frames = 1;
	s->frames[0] = call->caller;
	at->hash = hash;
	at->id = SITE_ID_FIRST + d->n_sites++;
	describe_site(d, at->id, function, s->id);
	return at->id;
}

uint32_t drain_site(struct drain_stacks *d, const struct wire_call *call)
{
	uint64_t of = (uint64_t)call->h.tgid << 32 | (call->h.head & WIRE_ID_MASK);
	uint64_t hash = hash_u64(call->caller ^ hash_u64(of)) | 1;
	struct drain_known *at = find(d->sites, SITES_TABLE, hash);

	if (!call->caller)
		return call->h.head & WIRE_ID_MASK;
	if (at->hash)
		return at->id;
	return new_site(d, at, hash, call);
}

uint32_t drain_call_stack(struct drain_stacks *d, const struct wire_stack *w)
{
	uint32_t n = w->n_frames < WIRE_FRAMES_MAX ? w->n_frames : WIRE_FRAMES_MAX;
	uint64_t hash = (hash_bytes(w->frames, n * sizeof(*w->frames)) ^ hash_u64(w->h.tgid)) | 1;
	struct drain_known *at = find(d->stacks, STACKS_TABLE, hash);
	struct drain_stack *s;

	if (at->hash)
		return at->id;
	s = new_stack(d, (pid_t)w->h.tgid);
	if (!s) {
		d->stacks_dropped++;
		return 0;
	}
	s->n_frames = n;
	memcpy(s->frames, w->frames, n * sizeof(*s->frames));
	d->n_walked++;
	d->n_short += n <= 2;
	at->hash = hash;
	return at->id = s->id;
}

/*
 * Keeps a copy of a stack. Only unwinding shows the common parts of two copies, so each copy is a
 * stack of its own until then.
 */
uint32_t drain_wait_copy(struct drain_stacks *d, const struct wire_copy *w)
{
	uint32_t n = w->n_bytes < WIRE_COPY_MAX ? w->n_bytes : WIRE_COPY_MAX;
	struct drain_copy *copy;

	if (!d->copies || d->n_copies == DRAIN_COPIES_MAX || d->n_stacks == CALL_STACKS_MAX)
		return 0;
	copy = &d->copies[d->n_copies++];
	copy->id = WIRE_STACKS_MAX + ++d->n_stacks;
	memcpy(&copy->w, w, sizeof(*w) - WIRE_COPY_MAX + n);
	copy->w.n_bytes = n;
	return copy->id;
}

uint32_t drain_call_copy(struct drain_stacks *d, const struct wire_copy *w)
{
	uint32_t id = drain_wait_copy(d, w);

	d->stacks_dropped += !id;
	return id;
}

uint32_t drain_block_stack(struct drain_stacks *d, int stack, pid_t pid)
{
	d->stacks_dropped += stack == -ENOMEM;
	d->waits++;
	d->stacks_collided += stack == -EEXIST;
	if (stack >= WIRE_STACKS_MAX)
		return (uint32_t)stack;
	if (stack < 0)
		return 0;
	if (d->blocked_seen[stack])
		return (uint32_t)stack + 1;
	if (d->n_new == DRAIN_STACKS_MAX)
		return 0; /* the stack will come again */
	d->new[d->n_new++] =
		(struct drain_stack){ .id = (uint32_t)stack + 1, .pid = pid, .from_call = true };
	d->blocked_seen[stack] = 1;
	return (uint32_t)stack + 1;
}
