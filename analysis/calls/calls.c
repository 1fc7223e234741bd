/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/ended.h"
#include "analysis/calls/internal.h"
#include "analysis/threads/unwatched.h"
#include "base/likely.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

/* Tail calls share a stack pointer; the kernel follows 64 returns of a thread. */
#define SAME_SP_MAX 64

/* A probe costs more if more threads run it at the same time. */
static void choose_costs(struct calls *c)
{
	c->table_threads = c->threads.n_alive;
	c->table = paircosts_nearest(&c->paircosts, c->table_threads);
	c->costs = c->paircosts.tables[c->table].costs;
}

const struct paircost *calls_costs(const struct calls *c)
{
	unsigned best = c->table;

	for (unsigned i = 0; i < c->paircosts.n; i++)
		if (c->table_entries[i] > c->table_entries[best])
			best = i;
	return c->paircosts.tables[best].costs;
}

static enum call_traced traced_as(const struct meta_function *f)
{
	if (!f->symbol)
		return TRACED_UNKNOWN;
	if (f->exit == EXIT_NONE)
		return TRACED_ENTRIES;
	if (f->contended_only)
		return TRACED_WAITS;
	return f->block && !strcmp(f->block, "marker") ? TRACED_MARKER : TRACED_BOTH;
}

void calls_init(struct calls *c, const struct meta *meta, uint64_t start_ns)
{
	*c = (struct calls){ .n_functions = (uint32_t)meta->functions.n,
			     .gap_ends_ns = UINT64_MAX };
	threads_init(&c->threads, meta, start_ns);
	paircosts_init(&c->paircosts, meta);
	choose_costs(c);
	c->traced = xcalloc(c->n_functions + 1, sizeof(*c->traced));
	c->marker_faults = xcalloc(c->n_functions + 1, sizeof(*c->marker_faults));
	for (uint32_t id = 0; id < c->n_functions; id++) {
		const struct meta_function *f = &meta->functions.data[id];

		c->traced[id] = traced_as(f);
	}
}

void calls_add_visitor(struct calls *c, const struct call_visitor *v)
{
	if (c->n_visitors == CALLS_VISITORS_MAX)
		return;
	c->visitors[c->n_visitors++] = *v;
	if (v->call)
		c->ends[c->n_ends++] = (struct call_hook){ v->self, v->call };
	if (v->enter)
		c->enters[c->n_enters++] = (struct call_hook){ v->self, v->enter };
}

void calls_release(struct calls *c)
{
	threads_release(&c->threads);
	paircosts_release(&c->paircosts);
	free(c->traced);
	free(c->marker_faults);
	vec_release(&c->open_of);
	vec_release(&c->gaps);
	*c = (struct calls){ 0 };
}

static inline void notify(const struct call_hook *hooks, unsigned n, const struct thread *t,
			  const struct call *call)
{
	for (const struct call_hook *hook = hooks; hook < hooks + n; hook++)
		hook->call(hook->self, t, call);
}

static uint64_t less_or_0(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Returns how much of the time between the callees was the cost of probing them. */
static uint64_t cost_between_ns(struct calls *c, const struct call *call)
{
	uint64_t own = less_or_0(call->raw_ns, call->children_raw_ns);
	uint64_t room = less_or_0(own, c->costs[call->id].inner_min_ns);

	if (likely(call->between_ns <= room))
		return call->between_ns;
	c->bounded++;
	return room;
}

static void measure_off(const struct thread *t, struct call *call)
{
	call->off = offcpu_between(&call->off_at_entry, &t->off);
	call->own_off = call->children_off_any ? offcpu_between(&call->children_off, &call->off)
					       : call->off;
	call->off_any = true;
}

static inline __attribute__((always_inline)) void measure(struct calls *c, const struct thread *t,
							  struct call *call)
{
	call->raw_ns = call->exit_ns - call->entry_ns;
	call->never_off = call->off_changes == t->off_changes;
	if (unlikely(!call->never_off))
		measure_off(t, call);
	/* calls without callees go through this, too: the branch would be mispredicted half of the
	 * time */
	call->inside_cost_ns += cost_between_ns(c, call);
	call->duration_ns = less_or_0(call->raw_ns, call->inside_cost_ns);
	call->own_ns = less_or_0(call->duration_ns, call->children_ns);
}

/* Returns the hash of a path with one more call, and the path inside that call. Order and nesting
 * count. */
static inline uint64_t path_with(uint64_t path, uint32_t id, uint64_t inside)
{
	path = (path + id + 1) * 0xd6e8feb86659fd93ull ^ inside * 0x9e3779b97f4a7c15ull;
	return path ^ path >> 29;
}

/* Adds the ended call to the sums of the call that it is in. */
static inline void add_to_parent(struct calls *c, struct call *parent, const struct call *call)
{
	const struct paircost *cost = &c->costs[call->id];

	bool is_step = likely(c->traced[call->id] != TRACED_WAITS);

	parent->exit_ns = call->exit_ns;
	parent->inside += call->inside + is_step;
	parent->inside_cost_ns += call->inside_cost_ns + call_cost_inside_ns(c, call);
	parent->between_ns += call_cost_beside_ns(c, call);
	/* a call that waits for a lock must not have another path than one that need not */
	if (is_step)
		parent->shape = path_with(parent->shape, call->id, call->shape);
	if (unlikely(!call_has_times(call))) {
		parent->between_ns += call->between_ns;
		parent->own_unknown = true;
		return;
	}
	parent->children_raw_ns += call->raw_ns;
	if (call->duration_ns > cost->inner_ns)
		parent->children_ns += call->duration_ns - cost->inner_ns;
	if (unlikely(!call->never_off))
		call_add_child_off(parent, &call->off);
}

/*
 * Returns the thread time that an outermost call covers. If the exits of its function are probed at
 * `ret` only, a call that is open at the end may have been left by a longjmp or an exception: it
 * covers the time up to the last record inside it.
 */
static uint64_t covered_ns(const struct calls *c, const struct call *call, uint64_t seen_ns)
{
	const struct meta *meta = c->threads.meta;

	if (call->end != CALL_OPEN || meta->functions.data[call->id].exit != EXIT_RET_SITES)
		return call->raw_ns;
	return seen_ns > call->entry_ns ? seen_ns - call->entry_ns : 0;
}

/* Inlined on the path of most calls: a function call would add a tenth to their cost. */
static inline __attribute__((always_inline)) void
finish(struct calls *c, struct thread *t, struct call *call, enum call_end end, uint64_t time_ns)
{
	struct call *parent = call == t->open ? NULL : call - 1;
	uint64_t seen_ns = call->exit_ns;

	if (unlikely(t->open_markers && call_is_marker(c, call->id)))
		t->open_markers--;
	call->end = end;
	if (unlikely(call_has_times(call) && time_ns < call->entry_ns))
		call->end = CALL_NEGATIVE;
	call->exit_ns = time_ns;
	call->exit_cpu = t->cpu;
	c->open_of.data[call->slot]--;
	call->parent = parent;
	if (likely(call_has_times(call))) {
		measure(c, t, call);
		if (!parent) {
			uint64_t covered = covered_ns(c, call, seen_ns);

			t->covered_ns += covered;
			if (covered == call->raw_ns && !call->never_off)
				offcpu_add(&t->covered_off, &call->off);
		}
	}
	if (parent)
		add_to_parent(c, parent, call);
	notify(c->ends, c->n_ends, t, call);
	if (unlikely(call->waits))
		wait_sums_free(&call->waits);
}

void calls_finish(struct calls *c, struct thread *t, uint32_t i, enum call_end end,
		  uint64_t time_ns)
{
	finish(c, t, &t->open[i], end, time_ns);
}

static void drop_innermost(struct calls *c, struct thread *t, enum call_end end, uint64_t time_ns)
{
	t->n_open--;
	t->entered = false;
	calls_finish(c, t, t->n_open, end, time_ns);
}

/* A marker that was left without an end before was probably left again, so it does not end as
 * open. */
static enum call_end end_of_open(struct calls *c, const struct thread *t, enum call_end end)
{
	struct marker_faults *faults = &c->marker_faults[t->open[t->n_open - 1].id];

	if (end != CALL_OPEN || !faults->unended)
		return end;
	faults->unended++;
	return CALL_UNWOUND;
}

void calls_drop_all(struct calls *c, struct thread *t, enum call_end end, uint64_t time_ns)
{
	while (t->n_open)
		drop_innermost(c, t, end_of_open(c, t, end), time_ns);
}

/* Ends the calls whose frames cannot exist any more, as shown by an entry at this stack pointer. */
static inline void drop_gone(struct calls *c, struct thread *t, uint64_t sp, uint64_t time_ns)
{
	while (t->n_open) {
		uint64_t top = t->open[t->n_open - 1].sp;

		if (likely(!((top < sp) | (t->after_exit & (top <= t->exit_sp)))))
			break;
		drop_innermost(c, t, CALL_UNWOUND, time_ns);
	}
	if (unlikely(t->n_open >= SAME_SP_MAX) && t->open[t->n_open - SAME_SP_MAX].sp == sp)
		for (unsigned i = 0; i < SAME_SP_MAX; i++)
			drop_innermost(c, t, CALL_UNWOUND, time_ns);
}

static __attribute__((noinline, cold)) void grow_open(struct thread *t)
{
	uint32_t had = t->room_open;

	t->room_open = had ? 2 * had : 8;
	t->open = xrealloc(t->open, t->room_open * sizeof(*t->open));
	memset(t->open + had, 0, (t->room_open - had) * sizeof(*t->open));
}

static void grow_open_of(struct calls *c, uint32_t slot)
{
	while (c->open_of.n <= slot)
		*vec_add(&c->open_of) = 0;
}

static inline void settle_running(struct calls *c, struct thread *t, uint64_t time_ns)
{
	if (unlikely(t->state != THREAD_RUNNING)) {
		/*
		 * The switch-in of the thread has no record: it is not known since when the thread
		 * runs.
		 */
		thread_seen(&c->threads, t, time_ns);
		unwatched_runs(t);
		t->since_ns = time_ns;
		thread_runs(t, time_ns);
	}
}

/* Checks whether the thread can still be followed, while records of some CPU may be missing. */
static inline void check_sight(struct calls *c, struct thread *t, uint64_t time_ns)
{
	if (unlikely(c->gaps.n))
		calls_check_sight(c, t, time_ns);
}

/* Returns the thread of an entry or exit. It runs, since it executed a probe. */
static inline struct thread *runs(struct calls *c, const struct record *r)
{
	struct thread *t = threads_of(&c->threads, r->cpu, r->tid, r->tgid, r->time_ns);

	if (unlikely(c->threads.n_alive != c->table_threads))
		choose_costs(c);
	if (likely(r->cpu != c->threads.no_cpu)) /* else as its latest switch says */
		t->cpu = r->cpu;
	settle_running(c, t, r->time_ns);
	t->has_called = true;
	if (unlikely(t->off_changes != t->changes_at_call)) {
		t->off_at_call = t->off;
		t->changes_at_call = t->off_changes;
	}
	return t;
}

static inline enum call_traced traced(const struct calls *c, uint32_t id)
{
	return id < c->n_functions ? c->traced[id] : TRACED_UNKNOWN;
}

/* Returns the function of a call site. Sites are described before entries refer to them, so a
 * missing site means a damaged recording. */
static inline uint32_t function_of_site(const struct calls *c, uint32_t id, uint32_t *stack)
{
	const struct meta_site *site = meta_site(c->threads.meta, id);

	if (!site)
		return UINT32_MAX;
	*stack = site->stack;
	return site->function;
}

/* Adds a call to the open ones. Members that are set when a call ends are not cleared, because
 * these are the most frequent stores of all. stack: of the call site; 0: not known. */
static inline __attribute__((always_inline)) struct call *
push(struct calls *c, struct thread *t, const struct record *r, uint32_t id, uint32_t stack)
{
	uint32_t slot = threads_slot(&c->threads, t, id);
	struct call *call;

	if (unlikely(slot >= c->open_of.n))
		grow_open_of(c, slot);
	if (unlikely(t->n_open == t->room_open))
		grow_open(t);
	call = &t->open[t->n_open++];
	if (call != t->open)
		call[-1].children++;
	call->sp = r->sp;
	call->entry_ns = r->time_ns;
	call->id = id;
	call->slot = slot;
	call->entry_cpu = t->cpu;
	call->off_changes = t->off_changes;
	call->recursive = (c->open_of.data[slot]++ > 0) | t->inner;
	call->unseen_outer = t->inner;
	call->own_unknown = call->never_off = call->children_off_any = false;
	call->arg_mask = 0;
	if (stack) {
		call->arg_mask = 1u << ARG_CALLER;
		call->args[ARG_CALLER] = stack;
	}
	call->inside = call->children = 0;
	call->stack = call->exit_stack = 0;
	call->waits = NULL;
	call->inside_cost_ns = call->between_ns = 0;
	call->children_ns = call->children_raw_ns = call->shape = 0;
	call->exit_ns = r->time_ns;
	call->off_at_entry = t->off;
	if (unlikely(call->off_any)) {
		call->off = call->own_off = (struct offcpu){ 0 };
		call->off_any = false;
	}
	return call;
}

/* The innermost call has no exit probe. It ends as it begins, or after the records of its arguments
 * if it has any, because visitors may group by these. */
static void enter_untimed(struct calls *c, struct thread *t, const struct record *r)
{
	const struct call *call = &t->open[t->n_open - 1];

	if (!c->threads.meta->functions.data[call->id].n_arguments) {
		drop_innermost(c, t, CALL_UNTIMED, r->time_ns);
		return;
	}
	c->untimed = t;
	c->untimed_ns = r->time_ns;
}

/* Ends the call without an exit probe, unless next still describes it. next: NULL after the last
 * record. */
static void end_untimed(struct calls *c, const struct record *next)
{
	struct thread *t = c->untimed;

	if (!t || (next && next->time_ns == c->untimed_ns &&
		   (next->kind == REC_ARGS || next->kind == REC_STACK)))
		return;
	c->untimed = NULL;
	if (t->n_open)
		drop_innermost(c, t, CALL_UNTIMED, c->untimed_ns);
}

static inline __attribute__((always_inline)) void enter(struct calls *c, const struct record *r)
{
	uint32_t stack = 0;
	uint32_t id = r->id < SITE_ID_FIRST ? r->id : function_of_site(c, r->id, &stack);
	enum call_traced how = traced(c, id);
	struct thread *t;
	struct call *call;

	if (unlikely(how == TRACED_UNKNOWN)) {
		c->unknown_ids++;
		return;
	}
	t = runs(c, r);
	c->entries++;
	c->table_entries[c->table]++;
	if (unlikely(t->open_markers))
		calls_drop_gone_around(c, t, r->sp, r->time_ns);
	else
		drop_gone(c, t, r->sp, r->time_ns);
	if (unlikely(how == TRACED_MARKER)) {
		calls_marker_begins(c, t, r);
		t->open_markers++;
	}
	call = push(c, t, r, id, stack);
	t->after_exit = t->returns = t->inner = false;
	t->exit_stack = 0;
	t->entered = true;
	notify(c->enters, c->n_enters, t, call);
	if (unlikely(how == TRACED_ENTRIES))
		enter_untimed(c, t, r);
	else if (unlikely(t->n_open > CALLS_DEPTH_MAX))
		drop_innermost(c, t, CALL_UNWOUND, r->time_ns);
	check_sight(c, t, r->time_ns);
}

/* Returns the open call that an exit belongs to, or NULL. Ends the calls inside it, and those whose
 * frames are gone, so that it is the innermost one. */
static __attribute__((noinline)) struct call *match(struct calls *c, struct thread *t,
						    const struct record *r)
{
	uint32_t i;

	while (t->n_open && t->open[t->n_open - 1].sp < r->sp)
		drop_innermost(c, t, CALL_UNWOUND, r->time_ns);
	for (i = t->n_open; i && t->open[i - 1].sp == r->sp; i--)
		if (t->open[i - 1].id == r->id)
			break;
	if (!i || t->open[i - 1].sp != r->sp)
		return NULL;
	while (t->n_open > i)
		drop_innermost(c, t, CALL_UNWOUND, r->time_ns);
	return &t->open[i - 1];
}

/* Ends the call of an exit if no marker is open. */
static inline __attribute__((always_inline)) void end_innermost(struct calls *c, struct thread *t,
								const struct record *r)
{
	struct call *call = t->n_open ? &t->open[t->n_open - 1] : NULL;

	if (unlikely(!call || call->sp != r->sp || call->id != r->id))
		call = match(c, t, r);
	t->after_exit = true;
	t->exit_sp = r->sp;
	calls_take_exit(t, call);
	if (unlikely(!call)) {
		c->orphan_exits++;
		return;
	}
	/* same as drop_innermost(), without its cost for most calls */
	t->n_open--;
	finish(c, t, call, CALL_TIMED, r->time_ns);
}

static inline __attribute__((always_inline)) void leave(struct calls *c, const struct record *r)
{
	enum call_traced how = traced(c, r->id);
	struct thread *t;

	if (unlikely(how == TRACED_UNKNOWN)) {
		c->unknown_ids++;
		return;
	}
	t = runs(c, r);
	c->exits++;
	t->entered = false;
	if (unlikely(how == TRACED_MARKER))
		calls_marker_ends(c, t, r);
	else if (unlikely(t->open_markers))
		calls_leave_around(c, t, r);
	else
		end_innermost(c, t, r);
	check_sight(c, t, r->time_ns);
}

bool call_is_inner(const struct thread *t, const struct call *c,
		   bool (*same)(void *ctx, const struct call *outer), void *ctx)
{
	if (!c->recursive)
		return false;
	for (const struct call *outer = c; outer-- > t->open;)
		if (outer->id == c->id && same(ctx, outer))
			return true;
	return c->unseen_outer;
}

/* A thread that is created during a loss may run on the CPU that loses records, too. */
static void check_sight_of_both(struct calls *c, struct thread *t, const struct record *r)
{
	if (!c->gaps.n || !t)
		return;
	calls_check_sight(c, t, r->time_ns);
	if (r->kind == REC_FORK)
		t = threads_alive(&c->threads, (uint32_t)r->values[0]);
	if (r->kind == REC_FORK && t)
		calls_check_sight(c, t, r->time_ns);
}

/* Frees the memory for open calls, because a server may end a million threads. */
static void no_more_calls(struct thread *t)
{
	free(t->open);
	t->open = NULL;
	t->n_open = t->room_open = 0;
}

/* Follows stretches in which switches have no records. */
static void follow(struct calls *c, const struct record *r)
{
	if (r->kind == REC_SWITCHES_OFF)
		unwatched_begin(&c->threads, r->time_ns);
	else if (r->kind == REC_SWITCHES_ON)
		unwatched_end(&c->threads, r->time_ns, r->values[0]);
	else
		unwatched_meet(&c->threads, r);
}

static void other(struct calls *c, const struct record *r)
{
	struct thread *t = NULL;

	if (r->kind == REC_LOST)
		calls_lose(c, r);
	else if (r->kind == REC_SET_OFF || r->kind == REC_SET_ON)
		calls_end_set(c, r);
	else if (r->kind == REC_SWITCHES_OFF)
		calls_switches_off(c, r->time_ns);
	if (r->kind == REC_TASK_EXIT || r->kind == REC_EXEC)
		t = threads_alive(&c->threads, r->tid);
	if (t)
		calls_drop_all(c, t, CALL_OPEN, r->time_ns);
	follow(c, r);
	t = threads_record(&c->threads, r);
	calls_describe(c, t, r);
	for (unsigned i = 0; i < c->n_visitors; i++)
		if (c->visitors[i].record)
			c->visitors[i].record(c->visitors[i].self, t, r);
	check_sight_of_both(c, t, r);
	if (r->kind == REC_SWITCHES_OFF)
		calls_forget_threads(c);
	else if (r->kind == REC_SWITCHES_ON)
		calls_switches_on(c, r->time_ns);
	if (r->kind == REC_TASK_EXIT && t && t->dead) {
		no_more_calls(t);
		ended_sum_up(c, r->time_ns);
	}
}

void calls_sum_up_ended(struct calls *c)
{
	c->threads.sums_up = true;
}

static inline __attribute__((always_inline)) void take(struct calls *c, const struct record *r)
{
	if (unlikely(c->untimed))
		end_untimed(c, r);
	if (unlikely(r->time_ns >= c->gap_ends_ns))
		calls_end_gaps(c, record_due_ns(r), true);
	if (unlikely(c->threads.unwatched.now) && !unwatched_keeps(r)) {
		c->unwatched += r->kind == REC_ENTRY || r->kind == REC_EXIT;
		return;
	}
	if (r->kind == REC_ENTRY)
		enter(c, r);
	else if (r->kind == REC_EXIT)
		leave(c, r);
	else
		other(c, r);
}

void calls_records(struct calls *c, const struct record *records, size_t n)
{
	for (const struct record *r = records; r < records + n; r++)
		take(c, r);
}

void calls_record(struct calls *c, const struct record *r)
{
	calls_records(c, r, 1);
}

void calls_skip(struct calls *c, const struct record *r)
{
	end_untimed(c, r);
	if (record_due_ns(r) >= c->gap_ends_ns)
		calls_end_gaps(c, record_due_ns(r), false);
	if (c->threads.unwatched.now && !unwatched_keeps(r))
		return;
	if (r->kind == REC_LOST)
		calls_lose(c, r);
	if (r->kind == REC_ENTRY || r->kind == REC_EXIT) {
		check_sight_of_both(c, runs(c, r), r);
		return;
	}
	follow(c, r);
	check_sight_of_both(c, threads_record(&c->threads, r), r);
	if (r->kind == REC_SWITCHES_ON)
		calls_switches_on(c, r->time_ns);
}

void calls_restart(struct calls *c, uint64_t time_ns)
{
	end_untimed(c, NULL);
	vec_for_each (&c->threads.all, struct thread *, t) {
		for (uint32_t i = 0; i < (*t)->n_open; i++) {
			c->open_of.data[(*t)->open[i].slot]--;
			wait_sums_free(&(*t)->open[i].waits);
		}
		(*t)->n_open = (*t)->open_markers = 0;
		(*t)->after_exit = (*t)->inner = false;
	}
	calls_end_gaps(c, time_ns, false);
	calls_restart_losses(c);
	unwatched_restart(&c->threads, time_ns);
	threads_restart(&c->threads, time_ns);
}

/* Ends the calls that are still open at the end of the recording, or of its records of switches. */
static void end_open(struct calls *c, struct thread *t, uint64_t time_ns)
{
	/* a thread whose tid was reused has ended without a record */
	if (!t->dead)
		thread_settle(t, time_ns);
	if (!t->dead && thread_sleeps(t) && t->n_open)
		wait_add_new(&t->open[t->n_open - 1].waits, t, time_ns);
	calls_drop_all(c, t, CALL_OPEN, t->dead ? t->end_ns : time_ns);
}

void calls_switches_off(struct calls *c, uint64_t time_ns)
{
	if (c->threads.unwatched.now)
		return;
	end_untimed(c, NULL);
	vec_for_each (&c->threads.all, struct thread *, t)
		if ((*t)->n_open)
			end_open(c, *t, time_ns);
}

void calls_end(struct calls *c, uint64_t time_ns)
{
	end_untimed(c, NULL);
	calls_end_gaps(c, UINT64_MAX, true);
	if (c->threads.unwatched.now)
		unwatched_end(&c->threads, time_ns, 0);
	vec_for_each (&c->threads.all, struct thread *, t)
		end_open(c, *t, time_ns);
	for (unsigned i = 0; i < c->n_visitors; i++)
		if (c->visitors[i].end)
			c->visitors[i].end(c->visitors[i].self);
	threads_end(&c->threads, time_ns);
	for (unsigned i = 0; i < c->n_visitors; i++)
		if (c->visitors[i].judged)
			c->visitors[i].judged(c->visitors[i].self);
}
