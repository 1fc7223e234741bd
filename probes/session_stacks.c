/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stacks of a recording: addresses are looked up while their process lives, names and lines
 * once per place when the recording ends.
 */
#include <stdlib.h>

#include "base/text.h"
#include "probes/bpfprog.h"
#include "probes/session_private.h"
#include "symbol/dso.h"
#include "trace/meta.h"

static uint32_t frame_id(struct session *s, const struct place *place)
{
	uint64_t key = hash_u64((uintptr_t)place->dso) ^ place->address;
	uint32_t id = map_get(&s->stacks.by_place, key);

	if (id == MAP_NONE) {
		id = s->stacks.frames.n;
		map_put(&s->stacks.by_place, key, id);
		*vec_add(&s->stacks.frames) = (struct session_frame){ place->dso, place->address };
	}
	return id;
}

/* A return address belongs to the call before it. Addresses in no file (JIT code, the vdso) are
 * left out. */
static void add_stack(struct session *s, const struct drain_stack *new)
{
	uint64_t ips[WIRE_FRAMES_MAX];
	uint32_t n = bpfprog_stack(s->programs, new->stack, ips, WIRE_FRAMES_MAX),
		 frames[WIRE_FRAMES_MAX];
	struct meta_stack stack = { .id = new->stack + 1, .frames = frames };
	struct text line = { 0 };
	struct place place;

	for (uint32_t i = 0; i < n; i++)
		if (spaces_find(&s->spaces, new->pid, ips[i] - (i > 0), &place))
			frames[stack.n_frames++] = frame_id(s, &place);
	meta_print_stack(&stack, &line);
	session_write_line(s, &line);
}

void session_add_stacks(struct session *s)
{
	for (size_t i = 0; i < s->drain.n_new_stacks; i++)
		add_stack(s, &s->drain.new_stacks[i]);
	s->drain.n_new_stacks = 0;
}

void session_write_frames(struct session *s)
{
	for (size_t i = 0; i < s->stacks.frames.n; i++) {
		const struct session_frame *f = &s->stacks.frames.data[i];
		const struct dso_function *function = dso_function_at(f->dso, f->address);
		struct dso_line where = dso_line_at(f->dso, f->address);
		struct meta_frame frame = {
			.id = i,
			.symbol = function ? dso_function_name(f->dso, function) : "",
			.object = dso_path(f->dso),
			.file = where.file,
			.line = where.line,
			.offset = f->address - (function ? function->address : 0),
		};
		struct text line = { 0 };

		meta_print_frame(&frame, &line);
		session_write_line(s, &line);
	}
}
