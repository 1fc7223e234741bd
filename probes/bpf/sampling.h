/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records one call in N. The decision is made here, so that the other calls write nothing. */
#ifndef ISPOT_PROBES_BPF_SAMPLING_H
#define ISPOT_PROBES_BPF_SAMPLING_H

#include "common.h"

/* One row for each thread and function, which the recorder reads at the end. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 262144);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct wire_sampling_key);
	__type(value, struct wire_sampling);
} sampling SEC(".maps");

/*
 * Draws one call of each series of N calls at random. At a fixed distance, a program with a period
 * that shares a factor with N would show the same call of its period again and again, or never its
 * outermost ones.
 */
static __always_inline void sampling_draw(struct wire_sampling *s)
{
	__u32 place = bpf_get_prandom_u32() % config.period;

	s->until_next = s->rest + place;
	s->rest = config.period - 1 - place;
}

static __always_inline struct wire_sampling *sampling_new(struct wire_sampling_key *key, __u32 tgid)
{
	struct wire_sampling first = { .tgid = tgid };

	sampling_draw(&first);
	bpf_map_update_elem(&sampling, key, &first, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sampling, key);
}

/*
 * The asm keeps the compiler from dropping a mask that it finds needless and that the verifier
 * needs.
 */
static __always_inline __u32 slot(__u32 depth)
{
	asm volatile("" : "+r"(depth));
	return depth & (WIRE_DEPTH_MAX - 1);
}

enum sample_taken { TAKEN_NOT, TAKEN, TAKEN_INNER };

static __always_inline __u64 word_at(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

/*
 * Whether no other call of the function is open, recorded or not. A call that an unwinder left
 * counts as open until the function is entered no deeper on the stack. The return of an unrecorded
 * call of a session is not seen: such a call is over once its return address is gone from its
 * place.
 */
static __always_inline bool enters_outermost(struct wire_sampling *s, __u64 sp, bool session)
{
	if (s->outer_sp && sp < s->outer_sp &&
	    (!s->outer_return || word_at(s->outer_sp) == s->outer_return))
		return false;
	s->outer_sp = sp;
	s->outer_return = session ? word_at(sp) : 0;
	s->outer++;
	return true;
}

/* Decides whether this entry is recorded; if so, its stack pointer is stored for its exit. */
static __always_inline enum sample_taken sample_entry(__u32 tid, __u32 tgid, __u32 id, __u64 sp,
						      bool session)
{
	struct wire_sampling_key key = { tid, id };
	struct wire_sampling *s = bpf_map_lookup_elem(&sampling, &key);
	bool outermost, full;

	if (!s)
		s = sampling_new(&key, tgid);
	if (!s)
		return TAKEN_NOT;
	s->calls++;
	outermost = enters_outermost(s, sp, session);
	if (s->until_next) {
		s->until_next--;
		return TAKEN_NOT;
	}
	/*
	 * Forget frames below this one, which an unwinder or a longjmp left. A frame at the same
	 * place may belong to a call that ends by a tail call of this one. If there is no room,
	 * such frames are forgotten, too: they were left, or their ends were not seen, as between
	 * two bursts.
	 */
	full = s->depth >= WIRE_DEPTH_MAX;
	for (int i = 0; i < WIRE_DEPTH_MAX && s->depth; i++)
		if (s->sp[slot(s->depth - 1)] < sp + full)
			s->depth--;
	if (s->depth >= WIRE_DEPTH_MAX)
		return TAKEN_NOT;
	sampling_draw(s);
	s->sp[slot(s->depth)] = sp;
	s->depth++;
	s->recorded++;
	s->outer_recorded += outermost;
	if (outermost)
		s->outer_return = 0; /* its return is recorded */
	/* inside a recorded call the reader sees the nesting itself */
	return outermost || s->depth > 1 ? TAKEN : TAKEN_INNER;
}

/*
 * Does the same for the begin of a marker, whose end has another stack pointer. One begin is open
 * at a time. Begins nested in it (deeper on the stack) are only counted, to tell their ends from
 * its own. A begin that is not deeper means that the open one never ended.
 */
static __always_inline bool sample_begin(__u32 tid, __u32 tgid, __u32 id, __u64 sp)
{
	struct wire_sampling_key key = { tid, id };
	struct wire_sampling *s = bpf_map_lookup_elem(&sampling, &key);

	if (!s)
		s = sampling_new(&key, tgid);
	if (!s)
		return false;
	s->calls++;
	if (s->depth && sp < s->sp[0]) {
		s->nested++;
		return false;
	}
	s->depth = s->nested = 0;
	s->outer++;
	if (s->until_next) {
		s->until_next--;
		return false;
	}
	sampling_draw(s);
	s->sp[0] = sp;
	s->depth = 1;
	s->recorded++;
	s->outer_recorded++;
	return true;
}

static __always_inline bool sample_end(__u32 tid, __u32 id)
{
	struct wire_sampling_key key = { tid, id };
	struct wire_sampling *s = bpf_map_lookup_elem(&sampling, &key);

	if (!s || !s->depth)
		return false;
	if (s->nested) {
		s->nested--;
		return false;
	}
	s->depth = 0;
	return true;
}

/* Whether this is the exit of a recorded entry. */
static __always_inline bool sample_exit(__u32 tid, __u32 id, __u64 sp)
{
	struct wire_sampling_key key = { tid, id };
	struct wire_sampling *s = bpf_map_lookup_elem(&sampling, &key);

	if (s && s->outer_sp == sp)
		s->outer_sp = 0;
	if (!s || !s->depth || s->sp[slot(s->depth - 1)] != sp)
		return false;
	s->depth--;
	return true;
}

#endif
