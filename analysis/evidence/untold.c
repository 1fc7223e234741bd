// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/evidence/untold.h"

#include <math.h>
#include <string.h>

#include "analysis/evidence/ran.h"
#include "analysis/threads/standard.h"
#include "base/hash.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"
#include "trace/record.h"

#define KERNEL_BIT 63 /* of an address: set in the kernel */

void untold_init(struct untold *u, const struct calls *calls, const struct meta *meta)
{
	*u = (struct untold){ .calls = calls, .meta = meta };
}

void untold_release(struct untold *u)
{
	strtab_release(&u->names);
	map_release(&u->name_of);
	map_release(&u->row_of);
	vec_release(&u->rows);
	map_release(&u->part_of);
	map_release(&u->begin_of);
	map_release(&u->work_of);
	map_release(&u->waits_of);
	vec_release(&u->sets);
	vec_release(&u->parts);
}

static uint32_t name_of(struct untold *u, const struct meta_frame *f)
{
	const uint64_t frame = (uint64_t)(f - u->meta->frames.data);
	uint32_t name = map_get(&u->name_of, frame);
	struct text text = { 0 };

	if (name != MAP_NONE)
		return name;
	text_printf(&text, "%s\n%s", f->symbol, f->object);
	name = strtab_add(&u->names, text.s);
	map_put(&u->name_of, frame, name);
	text_release(&text);
	return name;
}

static void add_part(struct untold *u, const struct meta_frame *f, uint32_t thread, double ns)
{
	uint64_t key = (uint64_t)thread << 32 | name_of(u, f);
	uint32_t at = map_get(&u->part_of, key);

	if (at == MAP_NONE) {
		if (u->parts.n >= UNTOLD_PARTS_MAX)
			return;
		at = (uint32_t)u->parts.n;
		map_put(&u->part_of, key, at);
		*vec_add(&u->parts) =
			(struct untold_part){ .frame = (uint32_t)(f - u->meta->frames.data),
					      .thread = thread };
	}
	u->parts.data[at].ns += ns;
}

static struct untold_row *row_of(struct untold *u, const struct ran *ran, uint32_t call)
{
	const struct meta_frame *frames = u->meta->frames.data;
	uint64_t key = (uint64_t)name_of(u, ran->function) << 32 | call;
	uint32_t at = map_add(&u->row_of, key, (uint32_t)u->rows.n);

	if (at == u->rows.n)
		*vec_add(&u->rows) =
			(struct untold_row){ .function = (uint32_t)(ran->function - frames),
					     .frame = (uint32_t)(ran->shown - frames),
					     .call = call };
	return &u->rows.data[at];
}

/* Boyer and Moore's majority vote: the row's frame ends in the loop that has more than half of the
 * samples, if any loop has. */
static void vote(const struct meta *meta, struct untold_row *row, const struct meta_frame *f)
{
	if (meta->frames.data[row->frame].loop == f->loop &&
	    !strcmp(meta->frames.data[row->frame].symbol, f->symbol))
		row->votes++;
	else if (row->votes)
		row->votes--;
	else
		row->frame = (uint32_t)(f - meta->frames.data);
}

/* Samples from before the first probes could not be in a traced call, so they are dropped. */
static void probes_are_on(struct untold *u)
{
	bool first = !u->begun;

	u->sets_on++;
	u->begun = true;
	u->paused_until_ns = 0;
	if (!first)
		return;
	map_release(&u->row_of);
	vec_release(&u->rows);
	map_release(&u->part_of);
	map_release(&u->begin_of);
	vec_release(&u->parts);
	u->samples = 0;
	u->ns = 0;
	memset(u->runtime_ns, 0, sizeof(u->runtime_ns));
}

/* A set whose functions were taken out for good does not come back: from then on, what runs is
 * outside of all calls, which is not known of a pause between bursts. */
static void probes_are_off(struct untold *u)
{
	if (!u->sets_on || --u->sets_on)
		return;
	vec_for_each (&u->sets, const struct untold_set, set)
		if (set->off && set->gone_ns > u->paused_until_ns)
			u->paused_until_ns = set->gone_ns;
}

static struct untold_set *set_of(struct untold *u, uint64_t id)
{
	vec_for_each (&u->sets, struct untold_set, set)
		if (set->id == id)
			return set;
	*vec_add(&u->sets) = (struct untold_set){ .id = id };
	return &u->sets.data[u->sets.n - 1];
}

static void switch_set(struct untold *u, const struct record *r)
{
	struct untold_set set = { .id = r->values[0], .off = r->kind == REC_SET_OFF };
	bool any = false;

	vec_for_each (&u->meta->functions, const struct meta_function, f) {
		uint64_t ns = f->set == set.id ? meta_gone_ns(u->meta, f) : 0;

		any |= f->set == set.id;
		set.gone_ns = ns > set.gone_ns ? ns : set.gone_ns;
	}
	if (!any)
		return;
	*set_of(u, set.id) = set;
	if (set.off)
		probes_are_off(u);
	else
		probes_are_on(u);
}

/* Keeps the thread's longest stack, because stacks are cut short in code without frame pointers. */
static void note_begin(struct untold *u, uint32_t thread, uint64_t stack)
{
	const struct meta_stack *s = meta_stack(u->meta, stack);
	uint32_t longest = map_get(&u->begin_of, thread);

	if (s && (longest == MAP_NONE || s->n_frames > u->meta->stacks.data[longest].n_frames))
		map_put(&u->begin_of, thread, (uint32_t)stack);
}

/* Whether a thread with that stack waits without sleeping. */
static bool spins_at(struct untold *u, uint64_t stack, bool kernel)
{
	const struct meta_stack *s = meta_stack(u->meta, stack);
	const struct meta_frame *at = meta_frame_at(u->meta, s, 0);
	uint32_t waits = map_get(&u->waits_of, stack);

	if (at && at->spins && !kernel)
		return true;
	if (waits == MAP_NONE) {
		waits = at && standard_spins(u->meta, s);
		map_put(&u->waits_of, stack, waits);
	}
	return waits;
}

/* Whether the program has a C library of its own, which makes its system calls. */
static bool has_libc(struct untold *u)
{
	for (; !u->has_libc && u->looked < u->meta->frames.n; u->looked++)
		u->has_libc = standard_is_libc(u->meta->frames.data[u->looked].object);
	return u->has_libc;
}

static enum runtime_work work_of(struct untold *u, uint64_t stack, bool kernel)
{
	const uint64_t key = stack << 1 | kernel;
	uint32_t work = map_get(&u->work_of, key);

	if (work == MAP_NONE) {
		work = runtime_work_of(u->meta, meta_stack(u->meta, stack), kernel);
		map_put(&u->work_of, key, work);
	}
	return (enum runtime_work)work;
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	struct untold *u = self;
	struct own_functions own;
	struct untold_row *row;
	struct ran ran;
	bool kernel;

	if (r->kind == REC_SET_ON || r->kind == REC_SET_OFF)
		switch_set(u, r);
	if (t && (r->kind == REC_SAMPLE || r->kind == REC_BLOCK_STACK))
		note_begin(u, t->index, r->values[r->kind == REC_SAMPLE ? 2 : 0]);
	if (r->kind != REC_SAMPLE || !t || r->time_ns < u->paused_until_ns)
		return;
	kernel = r->values[1] >> KERNEL_BIT;
	u->samples++;
	u->ns += (double)r->values[0];
	u->runtime_ns[work_of(u, r->values[2], kernel)] += (double)r->values[0];
	ran = ran_at(u->meta, r->values[2]);
	if (!ran.function)
		return;
	own = ran_own_functions(u->meta, r->values[2]);
	add_part(u, own.innermost ? own.innermost : ran.shown, t->index, (double)r->values[0]);
	row = row_of(u, &ran, t->n_open ? t->open[t->n_open - 1].id : UNTOLD_OUTSIDE);
	row->ns += (double)r->values[0];
	if (spins_at(u, r->values[2], kernel))
		row->spins_ns += (double)r->values[0];
	else if (kernel && has_libc(u) && ran_is_in_fault(u->meta, r->values[2]))
		row->faults_ns += (double)r->values[0];
	vote(u->meta, row, ran.shown);
}

struct call_visitor untold_visitor(struct untold *u)
{
	return (struct call_visitor){ .self = u, .record = on_record };
}

static bool is_of(const struct untold_function *known, const struct meta_frame *f)
{
	return !strcmp(known->function->symbol, f->symbol) &&
	       !strcmp(known->function->object, f->object);
}

/* by_name: from a hash of both names to the index of the last function with that hash. */
static struct untold_function *function_of(struct untold_functions *out, struct map *by_name,
					   const struct meta_frame *f)
{
	const uint64_t key = hash_u64(hash_bytes(f->symbol, strlen(f->symbol))) ^
			     hash_bytes(f->object, strlen(f->object));
	const uint32_t i = map_get(by_name, key);
	struct untold_function *new;

	if (i != MAP_NONE && is_of(&out->data[i], f))
		return &out->data[i];
	map_put(by_name, key, (uint32_t)out->n);
	new = vec_add(out);
	*new = (struct untold_function){ .function = f };
	return new;
}

static int larger_share(const void *a, const void *b)
{
	double x = ((const struct untold_function *)a)->share;
	double y = ((const struct untold_function *)b)->share;

	return (x < y) - (x > y);
}

void untold_find(const struct untold *u, bool (*judged)(const void *ctx, uint32_t id),
		 const void *ctx, struct untold_functions *out)
{
	struct untold_function *f;
	struct map by_name = { 0 };
	double told_ns = 0;

	*out = (struct untold_functions){ .share = NAN };
	if (u->samples < UNTOLD_SAMPLES_MIN || !(u->ns > 0))
		return;
	vec_for_each (&u->rows, const struct untold_row, row) {
		if (row->call != UNTOLD_OUTSIDE && judged(ctx, row->call)) {
			told_ns += row->ns;
			continue;
		}
		f = function_of(out, &by_name, &u->meta->frames.data[row->function]);
		if (!f->frame || row->ns > f->most_ns) {
			f->frame = &u->meta->frames.data[row->frame];
			f->most_ns = row->ns;
		}
		f->share += row->ns / u->ns;
		f->spins += row->spins_ns / u->ns;
		out->spins += row->spins_ns / u->ns;
		f->faults += row->faults_ns / u->ns;
	}
	map_release(&by_name);
	out->share = 1 - told_ns / u->ns;
	vec_sort(out, larger_share);
}

double untold_runtime(const struct untold *u, enum runtime_work work)
{
	return u->samples < UNTOLD_SAMPLES_MIN || !(u->ns > 0) ? 0 : u->runtime_ns[work] / u->ns;
}

const struct meta_frame *untold_busiest(const struct untold *u, uint32_t thread, double *share)
{
	const struct untold_part *most = NULL;
	double all = 0;

	vec_for_each (&u->parts, const struct untold_part, part) {
		if (part->thread != thread)
			continue;
		all += part->ns;
		if (!most || part->ns > most->ns)
			most = part;
	}
	if (!most || u->samples < UNTOLD_SAMPLES_MIN || !(all > 0))
		return NULL;
	*share = most->ns / all;
	return &u->meta->frames.data[most->frame];
}

const struct meta_frame *untold_begin(const struct untold *u, uint32_t thread)
{
	uint32_t stack = map_get(&u->begin_of, thread);

	return stack == MAP_NONE ? NULL : ran_own_functions(u->meta, stack).outermost;
}
