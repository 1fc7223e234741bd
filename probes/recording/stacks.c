/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/stacks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/text.h"
#include "probes/code/loops.h"
#include "probes/code/spinloop.h"
#include "probes/kernel/bpfprog.h"
#include "probes/place/returns.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "symbol/dso/called.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/symbols.h"
#include "symbol/dso/unwind.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

/* stacks missing for less than this part (1 in N) of the waits are not reported */
#define WAITS_TOLD  20
#define INLINES_MAX 16 /* most functions inlined into each other at one place */

static uint32_t place_id(struct recorded_stacks *stacks, const struct place *place)
{
	uint64_t key = place ? hash_u64((uintptr_t)place->dso) ^ place->address : 0;
	uint32_t id = map_get(&stacks->by_place, key);

	if (id == MAP_NONE) {
		id = stacks->places.n;
		map_put(&stacks->by_place, key, id);
		*vec_add(&stacks->places) = (struct stack_place){
			.dso = place ? place->dso : NULL,
			.address = place ? place->address : 0,
		};
	}
	return id;
}

/* Adds a stack with these addresses. A return address belongs to the call before it. */
static void add_frames(struct recorded_stacks *stacks, struct spaces *spaces,
		       const struct drain_stack *new, const uint64_t *ips, uint32_t n)
{
	struct recorded_stack *stack = vec_add(&stacks->all);
	struct place place;

	stack->id = new->id;
	stack->first = stacks->row.n;
	for (uint32_t i = 0; i < n; i++) {
		bool known =
			spaces_find(spaces, new->pid, ips[i] - (i > 0 || !new->from_call), &place);
		uint32_t id = place_id(stacks, known ? &place : NULL);

		/* unknown frames in a row are one gap */
		stack->n = stacks->row.n - stack->first;
		if (known || !stack->n || *vec_last(&stacks->row) != id)
			*vec_add(&stacks->row) = id;
	}
	stack->n = stacks->row.n - stack->first;
}

static void add_stack(struct recorded_stacks *stacks, struct recording *r,
		      const struct drain_stack *new)
{
	uint64_t of_kernel[WIRE_FRAMES_MAX];

	if (new->n_frames)
		add_frames(stacks, &r->spaces, new, new->frames, new->n_frames);
	else
		add_frames(stacks, &r->spaces, new, of_kernel,
			   bpfprog_stack(r->programs, new->id - 1, of_kernel, WIRE_FRAMES_MAX));
}

void stacks_add_sites(struct recorded_stacks *stacks, struct drain_stacks *new,
		      struct spaces *spaces)
{
	for (size_t i = 0; i < new->n_new; i++)
		add_frames(stacks, spaces, &new->new[i], new->new[i].frames, new->new[i].n_frames);
	new->n_new = 0;
}

static uint64_t copied(const uint64_t *registers, unsigned number)
{
	return registers[__builtin_popcountll(unwind_register_mask & ((1ull << number) - 1))];
}

static size_t unwind_with(struct recorded_stacks *stacks, const struct space *space,
			  struct unwind_input *in, uint64_t *frames, uint64_t *places, size_t room)
{
	in->register_mask = unwind_register_mask;
	in->maps = &space->maps;
	in->dsos = space->dsos.data;
	if (!stacks->unwinder)
		stacks->unwinder = unwinder_new();
	if (stacks->unwound_pid != space->pid || stacks->unwound_changes != space->changes)
		unwinder_forget(stacks->unwinder);
	stacks->unwound_pid = space->pid;
	stacks->unwound_changes = space->changes;
	return unwind_stack(stacks->unwinder, in, frames, places, room);
}

static size_t unwind(struct recorded_stacks *stacks, struct recording *r, pid_t pid,
		     struct unwind_input *in, uint64_t *frames, uint64_t *places, size_t room)
{
	uint64_t ip = copied(in->registers, unwind_register_ip);

	return unwind_with(stacks, spaces_get(&r->spaces, pid, ip), in, frames, places, room);
}

/*
 * Unwinds the stack of a wait. Returns false if it ends at an address where a mapping may exist
 * that is not known yet.
 */
static bool unwind_wait(struct recorded_stacks *stacks, struct recording *r,
			const struct wire_copy *w, struct unwind_input *in,
			struct drain_stack *stack, uint64_t *places)
{
	uint64_t end = copied(in->registers, unwind_register_ip), read_ns;
	const struct space *space = spaces_get(&r->spaces, stack->pid, end);

	do {
		stack->n_frames = (uint32_t)unwind_with(stacks, space, in, stack->frames, places,
							WIRE_FRAMES_MAX);
		if (!stack->n_frames)
			return false;
		end = unwinder_refused(stacks->unwinder);
		if (!end)
			end = stack->frames[stack->n_frames - 1];
		if (stack->n_frames == WIRE_FRAMES_MAX || space_settled(space, end, w->h.time_ns))
			return true;
		read_ns = space->read_ns;
		space = spaces_get(&r->spaces, stack->pid, end);
	} while (space->read_ns != read_ns);
	return false;
}

uint32_t stacks_unwind(struct recorded_stacks *stacks, struct recording *r, pid_t pid,
		       const uint64_t *registers, const uint8_t *stack, size_t stack_bytes,
		       uint64_t *frames, uint32_t room)
{
	struct unwind_input in = { .registers = registers,
				   .stack = stack,
				   .stack_bytes = stack_bytes };

	return (uint32_t)unwind(stacks, r, pid, &in, frames, NULL, room);
}

/*
 * Returns the step to a frame: the offset of its return address above the copied stack pointer, or
 * WIRE_STEP_END if the word there is another one, as in the caller of a signal handler.
 */
static uint32_t step_to(const struct wire_copy *w, uint64_t sp, uint64_t place, uint64_t address)
{
	uint64_t at = place - sp, word;

	if (place == UNWIND_IN_LINK)
		return WIRE_STEP_LINK;
	if (at >= w->n_bytes || w->n_bytes - at < sizeof(word))
		return WIRE_STEP_END;
	memcpy(&word, w->stack + at, sizeof(word));
	if (RETURNS_LINK != RETURNS_ON_STACK)
		word &= WIRE_SIGNED_ADDRESS;
	return word == address ? (uint32_t)at : WIRE_STEP_END;
}

/*
 * Passes a stack in which threads wait to the BPF programs. It ends where the distance to the next
 * address is not the same in every thread.
 */
static void know_stack(const struct recording *r, const struct wire_copy *w,
		       struct drain_stack *stack, uint64_t sp, const uint64_t *places)
{
	uint32_t steps[WIRE_FRAMES_MAX] = { 0 }, n = 1;
	struct bpfprog_known_stack known = {
		.tgid = w->h.tgid, .stack = stack->id, .frames = stack->frames, .steps = steps
	};

	for (; n < stack->n_frames; n++) {
		steps[n] = step_to(w, sp, places[n], stack->frames[n]);
		if (steps[n] == WIRE_STEP_END)
			break;
	}
	known.n = stack->n_frames = n;
	bpfprog_know_stack(r->programs, &known);
}

static void add_copy(struct recorded_stacks *stacks, struct recording *r, struct drain_copy *copy)
{
	uint64_t registers[WIRE_REGISTERS_MAX], places[WIRE_FRAMES_MAX], sp;
	struct drain_stack stack = { .id = copy->id, .pid = copy->w.h.tgid, .from_call = true };
	bool waits = copy->w.h.head >> WIRE_ID_BITS == WIRE_WAIT_COPY;
	struct unwind_input in = { .registers = registers,
				   .stack = copy->w.stack,
				   .stack_bytes = copy->w.n_bytes,
				   .at_entry = !waits || copy->w.trapped };

	memcpy(registers, copy->w.registers, sizeof(registers));
	sp = copied(registers, unwind_register_sp);
	returns_restore(&copy->w, sp, RETURNS_LINK);
	/* copied again, because the link register was restored */
	memcpy(registers, copy->w.registers, sizeof(registers));
	if (!waits)
		stack.n_frames = (uint32_t)unwind(stacks, r, stack.pid, &in, stack.frames, places,
						  WIRE_FRAMES_MAX);
	else if (unwind_wait(stacks, r, &copy->w, &in, &stack, places))
		know_stack(r, &copy->w, &stack, sp, places);
	add_stack(stacks, r, &stack);
}

/* Learns of mappings, before session_join_mapped() resets them. */
static void learn_mappings(struct recording *r)
{
	struct drain *d = &r->drain;

	for (size_t i = 0; i < d->n_ended; i++) {
		spaces_end(&r->spaces, d->ended[i]);
		drain_forget_target(d, d->ended[i]);
	}
	d->n_ended = 0;
	for (size_t i = 0; i < d->n_forks; i++)
		spaces_fork(&r->spaces, d->forks[i].parent, d->forks[i].child, d->forks[i].time_ns);
	d->n_forks = 0;
	for (size_t i = 0; i < d->n_mappings; i++) {
		struct drain_mapping *from = &d->mappings[i];
		struct mapping m = {
			.start = from->address,
			.end = from->address + from->length,
			.file_offset = from->file_offset,
			.device = makedev(from->device_major, from->device_minor),
			.inode = from->inode,
			.path = from->path,
		};

		spaces_map(&r->spaces, from->pid, &m);
	}
	if (d->mappings_overflowed)
		spaces_reread(&r->spaces);
}

void stacks_add(struct recorded_stacks *stacks, struct recording *r)
{
	learn_mappings(r);
	for (size_t i = 0; i < r->drain.stacks.n_new; i++)
		add_stack(stacks, r, &r->drain.stacks.new[i]);
	r->drain.stacks.n_new = 0;
	for (size_t i = 0; i < r->drain.stacks.n_copies; i++)
		add_copy(stacks, r, &r->drain.stacks.copies[i]);
	r->drain.stacks.n_copies = 0;
	spaces_drop(&r->spaces);
}

/* Where lines are written. */
struct lines {
	text_write_line *write;
	void *ctx;
};

static void write_frame(const struct lines *lines, const struct meta_frame *frame)
{
	struct text line = { 0 };

	meta_print_frame(frame, &line);
	lines->write(lines->ctx, &line);
}

static const struct loops *loops_at(struct recorded_stacks *stacks, const struct stack_place *place,
				    const struct dso_function *f)
{
	uint64_t key = hash_u64((uintptr_t)place->dso) ^ f->address;
	uint32_t i = map_get(&stacks->loops_of, key);

	if (i == MAP_NONE) {
		i = (uint32_t)stacks->loops.n;
		map_put(&stacks->loops_of, key, i);
		*vec_add(&stacks->loops) = loops_read_at(place->dso, place->address);
	}
	return stacks->loops.data[i];
}

/* Returns the line in the source of the function that the instruction is compiled into. */
static uint32_t outer_line(struct dso *dso, uint64_t address)
{
	struct dso_inline chain[INLINES_MAX];
	size_t n = dso_inlines_at(dso, address, chain, INLINES_MAX);

	return n ? chain[n - 1].call.line : dso_line_at(dso, address).line;
}

static void find_loops(struct recorded_stacks *stacks, const struct stack_place *place,
		       const struct dso_function *f, struct meta_frame *frame)
{
	const struct loops *loops = f ? loops_at(stacks, place, f) : NULL;
	struct loop outermost, innermost;

	if (!loops || !frame->line || !loops_around(loops, place->address, &outermost, &innermost))
		return;
	frame->loop = outer_line(place->dso, outermost.branch);
	frame->inner_loop = outer_line(place->dso, innermost.branch);
}

/*
 * Returns the name of the function that is called at a place, which is the byte before a return
 * address or the start of the stack. The caller frees the name.
 */
static char *called_at(const struct stack_place *place)
{
	const char *name = dso_called_import(place->dso, place->address + 1);

	return dso_demangle(place->dso, name ? name : "");
}

/*
 * Writes the frames at a place, innermost first. Each call of an inlined function is a line of the
 * next outer function.
 */
static void write_frames_at(struct recorded_stacks *stacks, const struct lines *lines,
			    struct stack_place *place, uint32_t *next_id)
{
	struct dso_inline chain[INLINES_MAX];
	size_t n = dso_inlines_at(place->dso, place->address, chain, INLINES_MAX);
	const struct dso_function *function = dso_function_at(place->dso, place->address);
	struct dso_line where = dso_line_at(place->dso, place->address);
	char *called = called_at(place);

	place->frame = *next_id;
	place->n_frames = n + 1;
	for (size_t i = 0; i <= n; i++) {
		struct meta_frame frame = {
			.id = (*next_id)++,
			.symbol = i < n	     ? chain[i].name
				  : function ? dso_function_name(place->dso, function)
					     : "",
			.object = dso_path(place->dso),
			.file = where.file,
			.line = where.line,
			.offset = place->address - (function ? function->address : 0),
			.inlined = i < n,
			.calls = i ? "" : called,
			.spins = !i && spinloop_at(place->dso, place->address),
		};

		if (i == n)
			find_loops(stacks, place, function, &frame);
		write_frame(lines, &frame);
		if (i < n)
			where = chain[i].call;
	}
	free(called);
}

static void write_unknown_frame(const struct lines *lines, struct stack_place *place,
				uint32_t *next_id)
{
	struct meta_frame frame = {
		.id = *next_id, .symbol = "", .object = "", .file = "", .calls = ""
	};

	place->frame = (*next_id)++;
	place->n_frames = 1;
	write_frame(lines, &frame);
}

static void write_place(struct recorded_stacks *stacks, const struct lines *lines,
			struct stack_place *place)
{
	if (place->n_frames)
		return;
	if (place->dso)
		write_frames_at(stacks, lines, place, &stacks->next_frame);
	else
		write_unknown_frame(lines, place, &stacks->next_frame);
}

static void write_stack(struct recorded_stacks *stacks, const struct lines *lines,
			const struct recorded_stack *stack)
{
	struct {
		VEC(uint32_t)
	} frames = { 0 };
	struct meta_stack line_of = { .id = stack->id };
	struct text line = { 0 };

	for (uint32_t i = 0; i < stack->n; i++) {
		uint32_t place = stacks->row.data[stack->first + i];
		struct stack_place *p = &stacks->places.data[place];

		write_place(stacks, lines, p);
		for (uint32_t f = 0; f < p->n_frames; f++)
			*vec_add(&frames) = p->frame + f;
	}
	line_of.frames = frames.data;
	line_of.n_frames = frames.n;
	meta_print_stack(&line_of, &line);
	lines->write(lines->ctx, &line);
	vec_release(&frames);
}

/* Reports stacks that are missing because there was no room for them. */
static void report_dropped(struct recording *r)
{
	const struct drain_stacks *d = &r->drain.stacks;
	struct text words = { 0 };
	char n[TEXT_NUMBER];

	if (d->sites_dropped)
		text_printf(&words,
			    "%s calls have no call site, because there are more call sites "
			    "than ispot distinguishes; ",
			    text_count(n, d->sites_dropped));
	if (d->stacks_dropped)
		text_printf(&words,
			    "%s calls have no stack, because there are more stacks than ispot "
			    "keeps; ",
			    text_count(n, d->stacks_dropped));
	if (d->stacks_collided > d->waits / WAITS_TOLD)
		text_printf(&words,
			    "%.0f%% of the waits have no stack, because there were more stacks "
			    "than ispot can unwind while the program runs; ",
			    100.0 * (double)d->stacks_collided / (double)d->waits);
	if (r->drain.aheads_dropped)
		text_printf(&words,
			    "%s calls have no stack or arguments, because more threads than ispot "
			    "distinguishes were preempted in probes; ",
			    text_count(n, r->drain.aheads_dropped));
	if (words.n > 2) {
		words.s[words.n - 2] = '\0';
		recording_write_notice(r, "stacks", words.s);
	}
	text_release(&words);
}

/* Reports missing frame pointers: stacks hold the instruction, its caller, and nothing more. */
static void report_short(struct recording *r)
{
	const struct drain_stacks *d = &r->drain.stacks;

	if (r->options->call_graph == CALL_GRAPH_FP && d->n_short > d->n_walked / 2)
		recording_write_notice(
			r, "stacks",
			"most call stacks end at the caller, because the code has no "
			"frame pointers; record with -g dwarf");
}

void stacks_write(struct recorded_stacks *stacks, text_write_line *write, void *ctx)
{
	const struct lines lines = { write, ctx };

	while (stacks->n_written < stacks->all.n)
		write_stack(stacks, &lines, &stacks->all.data[stacks->n_written++]);
}

void stacks_report(struct recording *r)
{
	report_dropped(r);
	report_short(r);
}

void stacks_release(struct recorded_stacks *stacks)
{
	vec_for_each (&stacks->loops, struct loops *, l)
		loops_free(*l);
	vec_release(&stacks->loops);
	map_release(&stacks->loops_of);
	vec_release(&stacks->places);
	map_release(&stacks->by_place);
	vec_release(&stacks->all);
	vec_release(&stacks->row);
	if (stacks->unwinder)
		unwinder_free(stacks->unwinder);
}
