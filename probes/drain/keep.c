/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/drain/keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"

#define YOUNG_MAX   65536 /* entries held back on one CPU; further ones are written at once */
#define THREADS_MAX 16384 /* threads at a time; the calls of further threads are all written */
#define RESTS_MAX   (1u << 20)

struct frame {
	struct keep_entry e;
	uint32_t cpu;
	uint64_t serial; /* set while the entry is held back; 0: it is written */
	uint64_t inside; /* number of calls inside */
	/*
	 * sums of the direct callees: their durations, the same by the clock, and the cost of
	 * probes inside these durations and outside of them
	 */
	uint64_t children_ns, children_raw_ns, cost_ns, beside_ns;
	/* the direct callees that were not written, with all that is inside them */
	struct keep_inside dropped;
	bool outer;
};

struct thread {
	uint32_t n;
	uint32_t first_rest; /* the first of the thread's rests, or MAP_NONE */
	struct frame frames[KEEP_DEPTH];
};

struct rest {
	struct keep_rest r;
	uint32_t next; /* next rest of the thread, or next free one; MAP_NONE: none */
	bool used;
};

/* An entry that is held back; a ring has them in order of time. */
struct young {
	uint64_t serial, time_ns;
	uint32_t thread, depth;
};

struct young_ring {
	struct young *at; /* [YOUNG_MAX] */
	uint64_t first, end;
};

struct keep {
	uint64_t slower_ns, serial;
	uint64_t calls; /* calls that were not written */
	uint32_t n_cpus;
	struct young_ring *cpus;
	struct map thread_of; /* tid -> index of living threads */
	struct {
		VEC(struct thread *)
	} threads;
	struct {
		VEC(uint32_t)
	} free_threads;
	struct map rest_of; /* tid << 32 | id -> index */
	struct {
		VEC(struct rest)
	} rests;
	uint32_t free_rest; /* first of the free rests */
	void (*written)(void *ctx, uint32_t cpu, const struct keep_entry *e);
	void *ctx;
};

struct keep *keep_new(uint64_t slower_ns, uint32_t n_cpus,
		      void (*written)(void *ctx, uint32_t cpu, const struct keep_entry *e),
		      void *ctx)
{
	struct keep *k = xcalloc(1, sizeof(*k));

	k->slower_ns = slower_ns;
	k->free_rest = MAP_NONE;
	k->n_cpus = n_cpus;
	k->cpus = xcalloc(n_cpus, sizeof(*k->cpus));
	for (uint32_t i = 0; i < n_cpus; i++)
		k->cpus[i].at = xcalloc(YOUNG_MAX, sizeof(*k->cpus[i].at));
	k->written = written;
	k->ctx = ctx;
	return k;
}

void keep_free(struct keep *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < k->n_cpus; i++)
		free(k->cpus[i].at);
	free(k->cpus);
	vec_for_each (&k->threads, struct thread *, t)
		free(*t);
	vec_release(&k->threads);
	vec_release(&k->free_threads);
	map_release(&k->thread_of);
	map_release(&k->rest_of);
	vec_release(&k->rests);
	free(k);
}

/*
 * Returns a thread to use, a new one if more threads than ever are alive: the threads of a target
 * come and go. In-process producers may give any thread number, so the number of threads is
 * limited. Returns MAP_NONE at the limit.
 */
static uint32_t new_thread(struct keep *k)
{
	if (k->free_threads.n)
		return k->free_threads.data[--k->free_threads.n];
	if (k->threads.n == THREADS_MAX)
		return MAP_NONE;
	*vec_add(&k->threads) = xcalloc(1, sizeof(struct thread));
	vec_reserve(&k->free_threads, k->threads.n);
	return (uint32_t)k->threads.n - 1;
}

/* Returns the index of a thread, or MAP_NONE if there are too many. */
static uint32_t thread_of(struct keep *k, uint32_t tid)
{
	uint32_t i = map_get(&k->thread_of, tid);

	if (i != MAP_NONE)
		return i;
	i = new_thread(k);
	if (i == MAP_NONE)
		return MAP_NONE;
	k->threads.data[i]->n = 0;
	k->threads.data[i]->first_rest = MAP_NONE;
	map_put(&k->thread_of, tid, i);
	return i;
}

static uint64_t rest_key(uint32_t tid, uint32_t id)
{
	return (uint64_t)tid << 32 | id;
}

static bool has_room_for(const struct keep *k, uint32_t tid, uint32_t id)
{
	return k->free_rest != MAP_NONE || k->rests.n < RESTS_MAX ||
	       map_get(&k->rest_of, rest_key(tid, id)) != MAP_NONE;
}

static uint32_t new_rest(struct keep *k)
{
	uint32_t i = k->free_rest;

	if (i != MAP_NONE) {
		k->free_rest = k->rests.data[i].next;
		return i;
	}
	vec_add(&k->rests);
	return (uint32_t)k->rests.n - 1;
}

static struct keep_rest *rest_of(struct keep *k, struct thread *t, const struct wire_call *call)
{
	uint32_t id = call->h.head & WIRE_ID_MASK;
	uint64_t key = rest_key(call->h.tid, id);
	uint32_t i = map_get(&k->rest_of, key);

	if (i == MAP_NONE) {
		i = new_rest(k);
		k->rests.data[i] = (struct rest){ .r = { .tid = call->h.tid,
							 .tgid = call->h.tgid,
							 .id = id,
							 .min_ns = UINT64_MAX,
							 .own_min_ns = UINT64_MAX },
						  .next = t->first_rest,
						  .used = true };
		t->first_rest = i;
		map_put(&k->rest_of, key, i);
	}
	return &k->rests.data[i].r;
}

/* ---- held back ---- */

static void let_go(struct keep *k, uint32_t cpu, struct frame *f)
{
	f->serial = 0;
	k->written(k->ctx, cpu, &f->e);
}

/* Removes the oldest entry of a CPU from the ring, and writes it unless its call is over. */
static void pop(struct keep *k, uint32_t cpu)
{
	struct young_ring *ring = &k->cpus[cpu];
	const struct young *y = &ring->at[ring->first++ % YOUNG_MAX];
	struct thread *t = k->threads.data[y->thread];

	/* the frame moves outwards if a marker around it has ended */
	for (uint32_t i = y->depth < t->n ? y->depth + 1 : t->n; i--;)
		if (t->frames[i].serial == y->serial) {
			let_go(k, cpu, &t->frames[i]);
			return;
		}
}

void keep_pass(struct keep *k, uint32_t cpu, uint64_t now_ns)
{
	struct young_ring *ring = &k->cpus[cpu];

	while (ring->first != ring->end &&
	       ring->at[ring->first % YOUNG_MAX].time_ns + k->slower_ns <= now_ns)
		pop(k, cpu);
}

void keep_release_all(struct keep *k)
{
	for (uint32_t cpu = 0; cpu < k->n_cpus; cpu++)
		while (k->cpus[cpu].first != k->cpus[cpu].end)
			pop(k, cpu);
	vec_for_each (&k->threads, struct thread *, t)
		(*t)->n = 0;
}

static void store_depth(struct keep *k, uint32_t cpu, uint32_t thread, uint32_t depth)
{
	struct young_ring *ring = &k->cpus[cpu];
	struct frame *f = &k->threads.data[thread]->frames[depth];

	if (ring->end - ring->first == YOUNG_MAX)
		pop(k, cpu);
	f->serial = ++k->serial;
	ring->at[ring->end++ % YOUNG_MAX] =
		(struct young){ f->serial, f->e.call.h.time_ns, thread, depth };
}

/* ---- calls ---- */

/*
 * Removes frames that have no exit. Their entries are written in order of time, so the outer ones
 * first.
 */
static void leave_frames(struct keep *k, struct thread *t, uint32_t left)
{
	for (uint32_t i = left; i < t->n; i++) {
		struct frame *f = &t->frames[i];

		if (!f->serial)
			continue;
		/* older entries of its CPU are written first */
		keep_pass(k, f->cpu, f->e.call.h.time_ns + k->slower_ns - 1);
		if (f->serial)
			let_go(k, f->cpu, f);
	}
	t->n = left;
}

/* Removes the frames that must be gone, as an entry at this stack pointer shows. */
static void drop_gone(struct keep *k, struct thread *t, uint64_t sp, uint32_t id)
{
	uint32_t left = t->n;

	while (left && (t->frames[left - 1].e.call.sp < sp ||
			(t->frames[left - 1].e.call.sp == sp &&
			 (t->frames[left - 1].e.call.h.head & WIRE_ID_MASK) == id)))
		left--;
	leave_frames(k, t, left);
}

static bool is_outer(const struct thread *t, uint32_t id)
{
	for (uint32_t i = 0; i < t->n; i++)
		if ((t->frames[i].e.call.h.head & WIRE_ID_MASK) == id)
			return false;
	return true;
}

void keep_enter(struct keep *k, uint32_t cpu, const struct keep_entry *e)
{
	uint32_t id = e->call.h.head & WIRE_ID_MASK, thread = thread_of(k, e->call.h.tid);
	struct thread *t = thread == MAP_NONE ? NULL : k->threads.data[thread];

	if (t)
		drop_gone(k, t, e->call.sp, id);
	if (!t || t->n == KEEP_DEPTH || !has_room_for(k, e->call.h.tid, id)) {
		keep_pass(k, cpu, e->call.h.time_ns);
		k->written(k->ctx, cpu, e);
		return;
	}
	t->frames[t->n] = (struct frame){ .e = *e, .cpu = cpu, .outer = is_outer(t, id) };
	store_depth(k, cpu, thread, t->n++);
}

/*
 * Returns the index of the open call that an exit ends, or KEEP_DEPTH if there is none. The end of
 * a marker may have any stack pointer.
 */
static uint32_t match(const struct thread *t, const struct wire_call *exit)
{
	uint32_t id = exit->h.head & WIRE_ID_MASK, found = KEEP_DEPTH;

	for (uint32_t i = t->n; i--;) {
		const struct wire_call *call = &t->frames[i].e.call;

		if ((call->h.head & WIRE_ID_MASK) != id)
			continue;
		if (call->sp == exit->sp)
			return i;
		if (found == KEEP_DEPTH && !call->caller)
			found = i;
	}
	return found;
}

static unsigned octave(uint64_t ns)
{
	unsigned bits = ns ? 64 - (unsigned)__builtin_clzll(ns) : 0;

	return bits <= BRIEF_BITS		    ? 0
	       : bits >= BRIEF_BITS + BRIEF_OCTAVES ? BRIEF_OCTAVES - 1
						    : bits - BRIEF_BITS;
}

static uint64_t less_or_0(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

struct times {
	uint64_t raw_ns, cost_ns, ns,
		own_ns; /* by the clock; its part in probes; the rest; that without callees */
};

/* Returns the times of a call. The cost of probing its callees is at most the time between them. */
static struct times times_of(const struct frame *f, uint64_t end_ns)
{
	struct times t = { .raw_ns = less_or_0(end_ns, f->e.call.h.time_ns) };
	uint64_t between = less_or_0(less_or_0(t.raw_ns, f->children_raw_ns), f->e.cost.inner_ns);

	t.cost_ns = f->cost_ns + lesser(f->beside_ns, between);
	t.ns = less_or_0(t.raw_ns, t.cost_ns);
	t.own_ns = less_or_0(t.ns, f->children_ns);
	return t;
}

static void count(struct keep *k, struct thread *thread, const struct frame *f,
		  const struct times *t, bool top)
{
	struct keep_rest *rest = rest_of(k, thread, &f->e.call);

	k->calls++;
	rest->calls++;
	rest->own_ns += t->own_ns;
	rest->own_min_ns = lesser(rest->own_min_ns, t->own_ns);
	rest->top_ns += top ? t->raw_ns : 0;
	if (!f->outer)
		return;
	rest->outer++;
	rest->sum_ns += t->ns;
	rest->min_ns = lesser(rest->min_ns, t->ns);
	rest->inside += f->inside;
	rest->cost_ns += t->raw_ns - t->ns;
	rest->octaves[octave(t->ns)]++;
}

/* Adds the call to the sums of the call around it. */
static void notify_parent(struct frame *parent, const struct frame *f, const struct times *t)
{
	uint64_t inner = lesser(f->e.cost.inner_ns, t->ns), cost = t->cost_ns + inner;

	parent->inside += f->inside + 1;
	parent->children_raw_ns += t->raw_ns;
	parent->children_ns += t->ns - inner;
	parent->cost_ns += cost;
	parent->beside_ns += f->e.cost.beside_ns;
	if (!f->serial)
		return;
	parent->dropped.calls += f->inside + 1;
	parent->dropped.ns += t->raw_ns;
	parent->dropped.cost_ns += cost;
	parent->dropped.beside_ns += f->e.cost.beside_ns;
}

struct keep_inside keep_leave(struct keep *k, uint32_t cpu, const struct wire_call *exit)
{
	uint32_t thread = thread_of(k, exit->h.tid);
	struct thread *t = thread == MAP_NONE ? NULL : k->threads.data[thread];
	uint32_t i = t ? match(t, exit) : KEEP_DEPTH;
	struct times times;
	struct frame f;

	keep_pass(k, cpu, exit->h.time_ns);
	if (i == KEEP_DEPTH || exit->h.time_ns < t->frames[i].e.call.h.time_ns)
		return (struct keep_inside){ .write = true };
	/* the entry's CPU also writes the entry now, if the call was long */
	keep_pass(k, t->frames[i].cpu, exit->h.time_ns);
	f = t->frames[i];
	times = times_of(&f, exit->h.time_ns);
	memmove(&t->frames[i], &t->frames[i + 1], (t->n - i - 1) * sizeof(f));
	t->n--;
	if (i)
		notify_parent(&t->frames[i - 1], &f, &times);
	if (f.serial)
		count(k, t, &f, &times, !i);
	f.dropped.write = !f.serial;
	return f.dropped;
}

uint64_t keep_calls(const struct keep *k)
{
	return k ? k->calls : 0;
}

void keep_end_thread(struct keep *k, uint32_t tid,
		     void (*visit)(void *ctx, const struct keep_rest *rest), void *ctx)
{
	uint32_t i = map_get(&k->thread_of, tid);
	struct thread *t = i == MAP_NONE ? NULL : k->threads.data[i];

	if (!t)
		return;
	leave_frames(k, t, 0);
	while (t->first_rest != MAP_NONE) {
		uint32_t at = t->first_rest;
		struct rest *rest = &k->rests.data[at];

		visit(ctx, &rest->r);
		map_remove(&k->rest_of, rest_key(tid, rest->r.id));
		t->first_rest = rest->next;
		rest->used = false;
		rest->next = k->free_rest;
		k->free_rest = at;
	}
	map_remove(&k->thread_of, tid);
	*vec_add(&k->free_threads) = i;
}

void keep_each(const struct keep *k, void (*visit)(void *ctx, const struct keep_rest *rest),
	       void *ctx)
{
	vec_for_each (&k->rests, const struct rest, rest)
		if (rest->used)
			visit(ctx, &rest->r);
}

size_t keep_bytes(const struct keep *k)
{
	return k->threads.n * sizeof(struct thread) + k->rests.room * sizeof(struct rest);
}
