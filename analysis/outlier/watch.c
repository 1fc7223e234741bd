/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/outlier/watch.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calls/brief.h"
#include "analysis/outlier/behaviour.h"
#include "analysis/outlier/cause.h"
#include "analysis/outlier/fit.h"
#include "analysis/outlier/outlier.h"
#include "base/mem.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

#define FRAMES_MAX 1024 /* calls of a thread that are open at once; deeper ones are ignored */
#define HOLDS_MAX  64

/* An execution that has not ended: an open call, or a lock that is held. */
struct frame {
	uint32_t block; /* MAP_NONE: not counted for any block, such as a recursive call */
	uint32_t id;	/* function, or lock */
	uint32_t level; /* of a lock: how many of the calls open when it was taken are still open */
	uint64_t entry_ns, sp;
	uint64_t counts[OUTLIER_COUNTS];
	struct outlier x;
};

struct frames {
	VEC(struct frame)
};

/* A call may begin at time 0, thus 0 cannot mean that no call has waited yet. */
#define NO_WAIT UINT64_MAX

struct outlier_thread {
	struct frames calls, holds;
	uint32_t known; /* bits of enum outlier_count that are valid in counts */
	uint64_t counts[OUTLIER_COUNTS];
	uint64_t waited_ns; /* begin of the latest call that waited for its lock; NO_WAIT: none */
	/* ended holds an execution whose counters may come with the next record. */
	bool waits;
	struct frame ended;
};

static struct outlier_thread *thread_of(struct outliers *o, const struct thread *t)
{
	while (o->threads.n <= t->index) {
		struct outlier_thread *added = xcalloc(1, sizeof(*added));

		added->waited_ns = NO_WAIT;
		*vec_add(&o->threads) = added;
	}
	return o->threads.data[t->index];
}

/* ---- blocks ---- */

static uint32_t new_block(struct outliers *o, enum block_kind kind, uint32_t id, uint32_t function)
{
	struct outlier_block *b = vec_add(&o->blocks);

	b->kind = kind;
	b->id = id;
	b->function = &o->meta->functions.data[function];
	return (uint32_t)o->blocks.n - 1;
}

static enum block_kind kind_of(const struct meta_function *f)
{
	return f->block && !strcmp(f->block, "marker") ? BLOCK_MARKER : BLOCK_FUNCTION;
}

static uint32_t block_of_call(struct outliers *o, uint32_t id)
{
	if (o->of_function[id] == MAP_NONE && !o->judging)
		o->of_function[id] = new_block(o, kind_of(&o->meta->functions.data[id]), id, id);
	return o->of_function[id];
}

static uint32_t block_of_group(struct outliers *o, uint32_t group)
{
	uint32_t block = map_get(&o->of_group, group);

	if (block == MAP_NONE && !o->judging) {
		block = new_block(o, BLOCK_LOCK, group,
				  o->sections.holds.groups.data[group].function);
		map_put(&o->of_group, group, block);
	}
	return block;
}

static void note_thread(struct outliers *o, uint32_t block, const struct thread *t)
{
	uint64_t pair = (uint64_t)block << 32 | t->index;

	if (map_get(&o->ran, pair) != MAP_NONE)
		return;
	map_put(&o->ran, pair, 0);
	o->blocks.data[block].threads++;
}

/* ---- what an execution did ---- */

static void begin_counting(const struct outlier_thread *ot, struct frame *f)
{
	f->x.counted = ot->known;
	memcpy(f->counts, ot->counts, sizeof(f->counts));
}

static void end_counting(const struct outlier_thread *ot, struct frame *f)
{
	f->x.counted &= ot->known;
	for (unsigned i = 0; i < OUTLIER_COUNTS; i++)
		f->x.counts[i] = ot->counts[i] > f->counts[i] ? ot->counts[i] - f->counts[i] : 0;
}

static void drop(struct frame *f)
{
	wait_sums_free(&f->x.waits);
}

/* Adds what a call explains to the call around it, which is still open. */
static void pass_on(struct outlier_thread *ot, double explains_ns)
{
	if (ot->calls.n)
		vec_last(&ot->calls)->x.inside_ns += explains_ns;
}

/* Judges the execution that ended last, now that its counters are known. */
static void settle(struct outliers *o, struct outlier_thread *ot)
{
	struct frame *f = &ot->ended;
	double explains_ns;

	if (!ot->waits)
		return;
	ot->waits = false;
	end_counting(ot, f);
	explains_ns = outlier_judge(o, &o->blocks.data[f->block], &f->x);
	if (o->blocks.data[f->block].kind != BLOCK_LOCK)
		pass_on(ot, explains_ns);
	drop(f);
}

/* Returns the index of the callee, which is added if it is new; OUTLIER_TOP: no room. */
static uint32_t callee_of(struct outlier *x, uint32_t parent, uint32_t id)
{
	uint32_t i = 0;

	while (i < x->n_callees && (x->callees[i].id != id || x->callees[i].parent != parent))
		i++;
	if (i == OUTLIER_CALLEES) {
		x->rest = true;
		return OUTLIER_TOP;
	}
	if (i == x->n_callees)
		x->callees[x->n_callees++] = (struct outlier_callee){ .id = id, .parent = parent };
	return i;
}

/* Adds a call that has ended, and its callees, which are those of the execution of. */
static void add_callee(struct outlier *x, const struct call *c, const struct outlier *of)
{
	uint32_t at[OUTLIER_CALLEES], depth[OUTLIER_CALLEES],
		top = callee_of(x, OUTLIER_TOP, c->id);

	if (top == OUTLIER_TOP)
		return;
	x->callees[top].calls++;
	if (c->end == CALL_TIMED)
		x->callees[top].ns += c->duration_ns;
	x->rest |= of->rest;
	for (uint32_t i = 0; i < of->n_callees; i++) {
		const struct outlier_callee *k = &of->callees[i];
		bool is_top = k->parent == OUTLIER_TOP;

		depth[i] = is_top ? 2 : depth[k->parent] + 1;
		at[i] = is_top ? top : at[k->parent];
		if (at[i] != OUTLIER_TOP && depth[i] <= OUTLIER_DEPTH)
			at[i] = callee_of(x, at[i], k->id);
		else
			at[i] = OUTLIER_TOP;
		if (at[i] == OUTLIER_TOP)
			continue;
		x->callees[at[i]].calls += k->calls;
		x->callees[at[i]].ns += k->ns;
	}
}

static void begin(struct outliers *o, struct frames *frames, const struct thread *t,
		  struct frame *like)
{
	struct outlier_thread *ot = thread_of(o, t);

	if (like->block != MAP_NONE)
		like->x.index = o->blocks.data[like->block].begun++;
	begin_counting(ot, like);
	*vec_add(frames) = *like;
}

static void end(struct outliers *o, struct outlier_thread *ot, const struct thread *t,
		struct frame *f, const struct call *c)
{
	struct outlier_block *b = f->block == MAP_NONE ? NULL : &o->blocks.data[f->block];

	if (b && c->end == CALL_TIMED && !o->judging) {
		outlier_fit_add(b, f->x.index, c->duration_ns);
		note_thread(o, f->block, t);
	}
	if (!b || c->end != CALL_TIMED || !o->judging) {
		if (!b || b->kind != BLOCK_LOCK)
			pass_on(ot, f->x.inside_ns);
		drop(f);
		return;
	}
	f->x.entry_ns = c->entry_ns;
	f->x.duration_ns = c->duration_ns;
	f->x.tid = t->tid;
	f->x.entry_cpu = c->entry_cpu;
	f->x.exit_cpu = c->exit_cpu;
	f->x.off = c->off;
	f->x.paused_ns = outlier_paused_ns(o, t, c, &f->x.safepoint_ns);
	ot->ended = *f;
	ot->waits = true;
}

/* Notes where the execution was called from. */
static void describe(struct outlier *x, const struct call *c)
{
	x->stack = c->stack ? c->stack : c->exit_stack;
	x->site = c->arg_mask & 1u << ARG_CALLER ? (uint32_t)c->args[ARG_CALLER] : 0;
	x->caller = c->parent ? c->parent->id : MAP_NONE;
}

/* ---- calls ---- */

static void on_enter(void *self, const struct thread *t, const struct call *c)
{
	struct outliers *o = self;
	struct outlier_thread *ot = thread_of(o, t);
	struct frame f = { .id = c->id, .entry_ns = c->entry_ns, .sp = c->sp };

	settle(o, ot);
	f.x.contended = ot->waited_ns == c->entry_ns;
	if (ot->calls.n >= FRAMES_MAX || o->meta->functions.data[c->id].contended_only)
		return; /* a wait for a lock is no execution; the call that waited is marked as
			 * contended */
	f.block = c->recursive ? MAP_NONE : block_of_call(o, c->id);
	begin(o, &ot->calls, t, &f);
}

static struct frame *frame_of(struct outlier_thread *ot, const struct call *c)
{
	for (size_t i = ot->calls.n; i--;) {
		struct frame *f = &ot->calls.data[i];

		if (f->id == c->id && f->entry_ns == c->entry_ns && f->sp == c->sp)
			return f;
	}
	return NULL;
}

/* Adds the call to the execution around it, and to the locks that were held during the whole
 * call. */
static void add_to_outer(struct outlier_thread *ot, const struct call *c, uint32_t depth,
			 const struct outlier *of)
{
	if (ot->calls.n && c->parent)
		add_callee(&vec_last(&ot->calls)->x, c, of);
	vec_for_each (&ot->holds, struct frame, h)
		if (depth <= h->level) {
			h->level = depth;
			if (c->entry_ns >= h->entry_ns)
				add_callee(&h->x, c, of);
		}
}

/* Adds a critical section of a runtime. One inside another is part of the outer one. */
static void add_section(struct outliers *o, const struct outlier_thread *ot, const struct frame *at,
			const struct call *c)
{
	const struct meta_function *functions = o->meta->functions.data;

	if (o->judging || c->end != CALL_TIMED || !functions[c->id].holds_lock)
		return;
	for (const struct frame *f = ot->calls.data; f < at; f++)
		if (functions[f->id].holds_lock)
			return;
	o->section_ns += c->duration_ns;
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	struct outliers *o = self;
	struct outlier_thread *ot = thread_of(o, t);
	struct frame *at, f;

	settle(o, ot);
	if (o->locks)
		sections_visitor(&o->sections).call(&o->sections, t, c);
	at = frame_of(ot, c);
	if (!at)
		return;
	add_section(o, ot, at, c);
	f = *at;
	memmove(at, at + 1, (size_t)(ot->calls.data + ot->calls.n - (at + 1)) * sizeof(*at));
	ot->calls.n--;
	f.x.shape = c->shape;
	describe(&f.x, c);
	if (o->judging)
		add_to_outer(ot, c, (uint32_t)(c - t->open), &f.x);
	end(o, ot, t, &f, c);
}

/* ---- critical sections ---- */

static void on_taken(void *self, const struct thread *t, uint32_t lock, uint32_t group,
		     const struct call *by, bool contended)
{
	struct outliers *o = self;
	struct outlier_thread *ot = thread_of(o, t);
	struct frame f = { .id = lock, .level = t->n_open };

	if (ot->holds.n >= HOLDS_MAX)
		return;
	f.block = block_of_group(o, group);
	f.entry_ns = by->exit_ns;
	f.x.contended = contended;
	describe(&f.x, by);
	begin(o, &ot->holds, t, &f);
}

static void on_held(void *self, const struct thread *t, uint32_t lock, uint32_t group,
		    const struct call *hold)
{
	struct outliers *o = self;
	struct outlier_thread *ot = thread_of(o, t);
	struct frame f;

	(void)group;
	for (size_t i = ot->holds.n; i--;) {
		if (ot->holds.data[i].id != lock)
			continue;
		f = ot->holds.data[i];
		ot->holds.data[i] = ot->holds.data[--ot->holds.n];
		settle(o, ot);
		end(o, ot, t, &f, hold);
		return;
	}
}

/* ---- other records ---- */

/* The mask comes first; then the values in the order of its bits. */
static void read_counts(struct outliers *o, struct outlier_thread *ot, const struct record *r)
{
	uint32_t next = 1;

	for (unsigned bit = 0; bit < META_COUNTERS_MAX && next < r->n_values; bit++) {
		if (!(r->values[0] & 1u << bit))
			continue;
		if (o->counters[bit] >= 0) {
			ot->counts[o->counters[bit]] = r->values[next];
			ot->known |= 1u << o->counters[bit];
		}
		next++;
	}
}

static void on_counters(struct outliers *o, const struct thread *t, const struct record *r)
{
	struct outlier_thread *ot = thread_of(o, t);

	read_counts(o, ot, r);
	/* what the entry probe itself counted is left out */
	if (t->entered && t->n_open && ot->calls.n)
		begin_counting(ot, vec_last(&ot->calls));
	else if (ot->holds.n && vec_last(&ot->holds)->entry_ns == r->time_ns)
		begin_counting(ot, vec_last(&ot->holds));
	settle(o, ot);
}

static void add_sleep(struct frames *frames, const struct thread *t, uint64_t time_ns)
{
	vec_for_each (frames, struct frame, f)
		if (f->block != MAP_NONE)
			wait_add_new(&f->x.waits, t, time_ns);
}

/* The call that begins at the record's time waited for its lock, inside the calls that are open.
 * That call may have left no record, or its record may come before or after this one. */
static void on_contended(struct outlier_thread *ot, const struct record *r)
{
	ot->waited_ns = r->time_ns;
	vec_for_each (&ot->calls, struct frame, f)
		if (f->entry_ns != r->time_ns)
			f->x.monitors_ns += r->values[0];
		else
			f->x.contended = true;
}

static void on_brief(struct outliers *o, const struct record *r)
{
	struct brief brief;
	uint32_t block;

	if (!brief_read(&brief, r, (uint32_t)o->meta->functions.n))
		return;
	block = block_of_call(o, brief.id); /* may reallocate the blocks */
	outlier_fit_brief(&o->blocks.data[block], &brief, r);
	o->brief += brief.outer;
	if (o->meta->functions.data[brief.id].holds_lock)
		o->section_ns += brief.top_ns;
}

static void drop_holds(struct outlier_thread *ot)
{
	vec_for_each (&ot->holds, struct frame, h)
		drop(h);
	ot->holds.n = 0;
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	struct outliers *o = self;

	if (o->judging && t && r->kind == REC_COUNTERS)
		on_counters(o, t, r);
	if (o->judging && t && r->kind == REC_SWITCH_IN && t->sleep.ended_ns == r->time_ns) {
		add_sleep(&thread_of(o, t)->calls, t, r->time_ns);
		add_sleep(&thread_of(o, t)->holds, t, r->time_ns);
	}
	if (t && r->kind == REC_CONTENDED)
		on_contended(thread_of(o, t), r);
	if (o->judging && r->kind == REC_PAUSE && r->values[0] <= r->time_ns)
		*vec_add(&o->pauses) =
			(struct outlier_pause){ r->time_ns - r->values[0], r->time_ns, r->tgid,
						r->values[1] != PAUSE_SAFEPOINT };
	if (!o->judging && r->kind == REC_BRIEF)
		on_brief(o, r);
	if (r->kind == REC_SET_OFF) /* releases are not traced now; struct sections drops its
				     * locks, too */
		vec_for_each (&o->threads, struct outlier_thread *, ot)
			drop_holds(*ot);
	if (o->locks)
		sections_visitor(&o->sections).record(&o->sections, t, r);
}

static void on_unseen(void *self, const struct thread *t)
{
	struct outliers *o = self;
	struct outlier_thread *ot = thread_of(o, t);

	settle(o, ot);
	if (o->locks)
		sections_visitor(&o->sections).unseen(&o->sections, t);
	drop_holds(ot);
}

static double jitter_ns(const struct outliers *o, const struct outlier_block *b)
{
	const struct paircost *cost = &calls_costs(&o->calls)[b->function->id];

	return cost->known ? (double)(cost->inner_p99_ns - cost->inner_min_ns) : 0;
}

static void on_end(void *self)
{
	struct outliers *o = self;

	vec_for_each (&o->threads, struct outlier_thread *, ot)
		settle(o, *ot);
	vec_for_each (&o->blocks, struct outlier_block, b) {
		if (!o->judging)
			outlier_fit(b, o->rule, jitter_ns(o, b));
		if (!b->name)
			outlier_name(o, b);
	}
	o->lost_records = o->calls.lost_records;
	o->switches = o->calls.threads.have_switch;
	o->monitors = !strcmp(o->meta->session.producer, "java");
}

/* Explains the outliers, now that it is known which waits are waits for work. */
static void on_judged(void *self)
{
	struct outliers *o = self;

	if (!o->judging)
		return;
	vec_for_each (&o->blocks, struct outlier_block, b) {
		outlier_reconsider(&o->calls.threads, b);
		outlier_explain(o, b);
		outlier_find_behaviours(o, b);
	}
}

struct call_visitor outlier_watch(struct outliers *o)
{
	return (struct call_visitor){ .self = o,
				      .call = on_call,
				      .enter = on_enter,
				      .record = on_record,
				      .unseen = on_unseen,
				      .end = on_end,
				      .judged = on_judged };
}

struct section_hook outlier_watch_sections(struct outliers *o)
{
	return (struct section_hook){ .self = o, .taken = on_taken, .held = on_held };
}

void outlier_watch_release(struct outliers *o)
{
	vec_for_each (&o->threads, struct outlier_thread *, it) {
		struct outlier_thread *ot = *it;

		vec_for_each (&ot->calls, struct frame, f)
			drop(f);
		drop_holds(ot);
		if (ot->waits)
			drop(&ot->ended);
		vec_release(&ot->calls);
		vec_release(&ot->holds);
		free(ot);
	}
	vec_release(&o->threads);
	vec_release(&o->pauses);
}
