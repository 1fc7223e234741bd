/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/ended.h"
#include "analysis/evidence/coactivity.h"
#include "analysis/evidence/counters.h"
#include "base/likely.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/record.h"

#define RATES	   256 /* a rate below 1 / RATES gets no cell */
#define ROOM_PARTS 4   /* 1 / ROOM_PARTS of the cells is added as room to grow */

/* An open call that is measured, and the marks set at its entry. */
struct coactivity_open {
	uint32_t id, mark, own_mark;
	uint64_t entry_ns;
};

struct coactivity_thread {
	bool running, excluding;
	uint32_t gap;	    /* the candidate that the thread's untraced code counts for now; 0:
			     * none */
	uint64_t gap_call;  /* the stack of the call before that code; 0: not known */
	uint32_t taker;	    /* the candidate of the process that got the thread's CPU; 0: none */
	uint32_t stop_mark; /* the mark and the time of the begin of excluding */
	uint64_t stopped_ns;
	struct {
		VEC(uint32_t)
	} active; /* candidates of its open calls, outermost first; recursive calls only once */
	struct {
		VEC(struct coactivity_open)
	} open;		    /* innermost last */
	struct clocks *own; /* the thread's own part of the clocks, while one of its calls is
			     * measured */
};

const char *coactive_part_name(enum coactive_part part)
{
	static const char *const names[] = { "inside", "after", "cpu" };

	return names[part];
}

void coactive_code(const struct coactive *c, const char *name, struct text *out)
{
	char *running = c->running ? text_printable_new(c->running) : NULL;

	if (c->part != COACTIVE_AFTER)
		text_add(out, name);
	else if (running)
		text_printf(out, "%s (after its %s)", running, name);
	else
		text_printf(out, "code after %s", name);
	free(running);
}

void coactivity_init(struct coactivity *co, const struct calls *calls)
{
	*co = (struct coactivity){ .calls = calls, .random = 88172645463325252ull };
	vec_add(&co->candidates)->id = 0;
	vec_add(&co->candidates)->id = 0;
	co->inside_of = xcalloc(calls->n_functions + 1, sizeof(*co->inside_of));
	co->after_of = xcalloc(calls->n_functions + 1, sizeof(*co->after_of));
	co->blocks = xcalloc(calls->n_functions + 1, sizeof(*co->blocks));
	co->clocks = clocks_new(COACTIVITY_CANDIDATES);
	gains_init(&co->gains, COACTIVITY_CANDIDATES);
}

void coactivity_group_by(struct coactivity *co, const struct call_group *group)
{
	co->group = group;
}

static void thread_release(struct coactivity_thread *t)
{
	vec_release(&t->open);
	vec_release(&t->active);
	clocks_free(t->own);
}

void coactivity_release(struct coactivity *co)
{
	vec_for_each (&co->threads, struct coactivity_thread, t)
		thread_release(t);
	for (uint32_t id = 0; co->blocks && id < co->calls->n_functions; id++) {
		vec_release(&co->blocks[id].sample.rows);
		vec_release(&co->blocks[id].sample.cells);
	}
	vec_for_each (&co->spare, struct clocks *, own)
		clocks_free(*own);
	vec_release(&co->spare);
	vec_release(&co->threads);
	vec_release(&co->candidates);
	clocks_free(co->clocks);
	gains_release(&co->gains);
	map_release(&co->candidate_of);
	following_release(&co->following);
	free(co->inside_of);
	free(co->after_of);
	free(co->blocks);
	*co = (struct coactivity){ 0 };
}

static uint32_t new_candidate(struct coactivity *co, enum coactive_part part, uint32_t id)
{
	if (co->candidates.n == COACTIVITY_CANDIDATES)
		return 0;
	*vec_add(&co->candidates) = (struct coactivity_candidate){ part, id };
	return (uint32_t)co->candidates.n - 1;
}

static inline uint32_t inside(struct coactivity *co, uint32_t id)
{
	if (unlikely(!co->inside_of[id]))
		co->inside_of[id] = new_candidate(co, COACTIVE_INSIDE, id);
	return co->inside_of[id];
}

static inline uint32_t after(struct coactivity *co, uint32_t id)
{
	if (unlikely(!co->after_of[id]))
		co->after_of[id] = new_candidate(co, COACTIVE_AFTER, id);
	return co->after_of[id];
}

static uint32_t process(struct coactivity *co, uint32_t tgid)
{
	uint32_t i = map_get(&co->candidate_of, tgid);

	if (i != MAP_NONE)
		return i;
	i = new_candidate(co, COACTIVE_CPU, tgid);
	map_put(&co->candidate_of, tgid, i);
	return i;
}

static void meet_threads(struct coactivity *co, uint32_t index)
{
	while (co->threads.n <= index)
		(void)vec_add(&co->threads);
}

static inline struct coactivity_thread *thread_of(struct coactivity *co, const struct thread *t)
{
	if (unlikely(co->threads.n <= t->index))
		meet_threads(co, t->index);
	return &co->threads.data[t->index];
}

/* A candidate begins (1) or ends (-1) to run on the thread. */
static inline void shift(struct coactivity *co, struct coactivity_thread *t, uint32_t candidate,
			 int by, uint64_t time_ns)
{
	if (!candidate)
		return;
	clocks_move(co->clocks, candidate, by, time_ns);
	if (t->own)
		clocks_move(t->own, candidate, by, time_ns);
}

static void shift_all(struct coactivity *co, struct coactivity_thread *t, int by, uint64_t time_ns)
{
	shift(co, t, COACTIVITY_RUNNING, by, time_ns);
	if (t->gap)
		shift(co, t, t->gap, by, time_ns);
	vec_for_each (&t->active, uint32_t, c)
		shift(co, t, *c, by, time_ns);
}

/* The thread waits for a CPU from now on. Others may run only because it does not, so what runs
 * meanwhile is excluded from its measured calls. */
static void exclude(struct coactivity *co, struct coactivity_thread *t, uint64_t time_ns,
		    uint32_t taker)
{
	if (t->excluding)
		clocks_forget(co->clocks, t->stop_mark);
	t->excluding = true;
	t->taker = taker;
	t->stopped_ns = time_ns;
	t->stop_mark = clocks_mark(co->clocks, time_ns);
}

/* Ends the exclusion: what other threads gained meanwhile is added to the thread's own clocks,
 * which are subtracted from every measured call. */
static void include(struct coactivity *co, struct coactivity_thread *t, uint64_t time_ns)
{
	struct gains *g = &co->gains;

	t->excluding = false;
	gains_add(g, co->clocks, t->stop_mark, time_ns);
	for (uint32_t i = 0; i < g->n; i++)
		clocks_add(t->own, g->list[i], g->of[g->list[i]].ns);
	gains_clear(g);
	clocks_forget(co->clocks, t->stop_mark);
	if (t->taker)
		clocks_add(t->own, t->taker, t->stopped_ns - time_ns);
}

static void start(struct coactivity *co, struct coactivity_thread *t, uint64_t time_ns)
{
	if (t->running)
		return;
	t->running = true;
	if (t->excluding)
		include(co, t, time_ns);
	shift_all(co, t, 1, time_ns);
}

static void stop(struct coactivity *co, struct coactivity_thread *t, uint64_t time_ns)
{
	if (!t->running)
		return;
	t->running = false;
	shift_all(co, t, -1, time_ns);
}

/* ---- a random sample of each block's calls, as rows ---- */

/* Sets a mark in the thread's own clocks, which are made for the first mark. */
static uint32_t mark_own(struct coactivity *co, struct coactivity_thread *t, uint64_t time_ns)
{
	uint32_t mark;

	if (t->own)
		return clocks_mark(t->own, time_ns);
	t->own = co->spare.n ? co->spare.data[--co->spare.n] : clocks_new(COACTIVITY_CANDIDATES);
	mark = clocks_mark(t->own, time_ns);
	clocks_move(t->own, COACTIVITY_RUNNING, 1, time_ns);
	vec_for_each (&t->active, uint32_t, c)
		if (*c)
			clocks_move(t->own, *c, 1, time_ns);
	return mark;
}

/* Gives back the thread's own clocks when none of its calls is measured any more. */
static void drop_own(struct coactivity *co, struct coactivity_thread *t)
{
	if (t->excluding)
		clocks_forget(co->clocks, t->stop_mark);
	t->excluding = false;
	clocks_clear(t->own);
	*vec_add(&co->spare) = t->own;
	t->own = NULL;
}

static uint32_t draw(struct coactivity *co, uint32_t n)
{
	co->random ^= co->random << 13;
	co->random ^= co->random >> 7;
	co->random ^= co->random << 17;
	return (uint32_t)((co->random >> 32) * n >> 32);
}

/* Returns how many calls to skip before the next one is measured: a random number from 0 to 2 (gap
 * - 1), gap - 1 on average. */
static uint32_t next_gap(struct coactivity *co, const struct coactivity_block *b)
{
	return b->gap > 1 ? draw(co, 2 * b->gap - 1) : 0;
}

static void begin_block(struct coactivity *co, struct coactivity_block *b)
{
	b->used = true;
	b->gap = 1;
	co->n_blocks++;
}

/* Begins to measure a call at its entry, unless too many calls are measured already. */
static void begin_call(struct coactivity *co, struct coactivity_thread *t, const struct call *c)
{
	struct coactivity_block *b = &co->blocks[c->id];

	if (!b->used && co->n_blocks == COACTIVITY_BLOCKS) {
		b->until_next = UINT32_MAX;
		return;
	}
	if (!b->used)
		begin_block(co, b);
	b->until_next = next_gap(co, b);
	if (co->n_open == COACTIVITY_OPEN_MAX)
		return;
	co->n_open++;
	*vec_add(&t->open) = (struct coactivity_open){
		.id = c->id,
		.entry_ns = c->entry_ns,
		.mark = clocks_mark(co->clocks, c->entry_ns),
		.own_mark = mark_own(co, t, c->entry_ns),
	};
}

/* Reserves little more than what is in use, because the cells of all blocks need most of the
 * memory. */
static void size_cells(struct lift_sample *s, size_t n)
{
	s->cells.room = n + n / ROOM_PARTS + 1;
	s->cells.data = xrealloc(s->cells.data, s->cells.room * sizeof(*s->cells.data));
}

/* Drops half of the rows. From now on, half as many calls are measured. */
static void thin(struct coactivity *co, struct coactivity_block *b)
{
	struct lift_sample *s = &b->sample;
	uint32_t kept = 0, cells = 0;

	for (size_t i = 0; i + 1 < s->rows.n; i += 2) {
		/* a random one of the two, because slow and fast calls may alternate */
		struct lift_row r = s->rows.data[i + draw(co, 2)];

		if (r.n)
			memmove(&s->cells.data[cells], &s->cells.data[r.first],
				r.n * sizeof(*s->cells.data));
		r.first = cells;
		cells += r.n;
		s->rows.data[kept++] = r;
	}
	co->n_rows -= s->rows.n - kept;
	co->n_cells -= s->cells.n - cells;
	s->rows.n = kept;
	s->cells.n = cells;
	size_cells(s, cells);
	b->gap *= 2;
}

/* Whether all blocks together have reached the limit, and this one has more than its share. */
static bool beyond(const struct coactivity *co, size_t n, size_t all, size_t most)
{
	return all >= most && n >= most / co->n_blocks;
}

/* If calls are grouped, each group needs enough rows for a comparison. */
static size_t rows_max(const struct lift_sample *s)
{
	return vec_last(&s->rows)->group == MAP_NONE ? COACTIVITY_ROWS : COACTIVITY_ROWS_SPLIT;
}

static bool full(const struct coactivity *co, const struct lift_sample *s)
{
	return s->rows.n >= rows_max(s) ||
	       (s->rows.n >= COACTIVITY_ROWS_LEAST &&
		beyond(co, s->rows.n, co->n_rows, COACTIVITY_ROWS_ALL)) ||
	       (s->rows.n >= 4 && beyond(co, s->cells.n, co->n_cells, COACTIVITY_CELLS_ALL));
}

/* Adds a cell for each candidate whose clock other threads advanced during the call. */
static void add_cells(struct coactivity *co, const struct coactivity_thread *t,
		      const struct coactivity_open *o, const struct call *c, uint64_t seen_ns)
{
	struct lift_sample *s = &co->blocks[c->id].sample;
	struct gains *g = &co->gains;

	gains_add(g, co->clocks, o->mark, c->exit_ns);
	gains_take(g, t->own, o->own_mark, c->exit_ns);
	if (s->cells.n + g->n > s->cells.room)
		size_cells(s, s->cells.n + g->n);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t candidate = g->list[i];
		uint64_t ns = g->of[candidate].ns, of_ns = seen_ns;

		if (co->candidates.data[candidate].part == COACTIVE_CPU)
			of_ns = c->raw_ns;
		if (ns * RATES >= of_ns && (int64_t)ns > 0)
			s->cells.data[s->cells.n++] =
				(struct lift_cell){ candidate,
						    (float)((double)ns / (double)of_ns) };
	}
	gains_clear(g);
}

static void add_row(struct coactivity *co, const struct coactivity_thread *t,
		    const struct coactivity_open *o, const struct call *c)
{
	struct coactivity_block *b = &co->blocks[c->id];
	struct lift_sample *s = &b->sample;
	uint64_t waited = c->off.preempted_ns;
	uint64_t seen = c->raw_ns > waited ? c->raw_ns - waited : 0;
	struct lift_row row = { .duration_ns = c->duration_ns,
				.seen_ns = seen,
				.asleep_ns = c->off.blocked_ns + c->off.idle_ns,
				.first = (uint32_t)s->cells.n,
				.group = co->group ? co->group->number : MAP_NONE,
				.thread = (uint32_t)(t - co->threads.data) };

	if (!seen)
		return;
	if (row.asleep_ns > seen)
		row.asleep_ns = seen;
	add_cells(co, t, o, c, seen);
	row.n = (uint32_t)s->cells.n - row.first;
	*vec_add(&s->rows) = row;
	co->n_rows++;
	co->n_cells += row.n;
	if (full(co, s))
		thin(co, b);
}

/* Adds a row for a call that ends, if it was measured. */
static void end_call(struct coactivity *co, struct coactivity_thread *t, const struct call *c)
{
	for (size_t i = t->open.n; i--;) {
		struct coactivity_open o = t->open.data[i];

		if (o.id != c->id || o.entry_ns != c->entry_ns)
			continue;
		if (c->end == CALL_TIMED)
			add_row(co, t, &o, c);
		clocks_forget(co->clocks, o.mark);
		clocks_forget(t->own, o.own_mark);
		memmove(&t->open.data[i], &t->open.data[i + 1], (t->open.n - i - 1) * sizeof(o));
		t->open.n--;
		co->n_open--;
		if (!t->open.n)
			drop_own(co, t);
		return;
	}
}

/* ---- what threads run ---- */

static void on_enter(void *self, const struct thread *thread, const struct call *c)
{
	struct coactivity *co = self;
	struct coactivity_thread *t = thread_of(co, thread);
	struct coactivity_block *b = &co->blocks[c->id];

	if (!t->running)
		start(co, t, c->entry_ns);
	if (t->gap)
		shift(co, t, t->gap, -1, c->entry_ns);
	t->gap = 0;
	if (c->recursive)
		return;
	*vec_add(&t->active) = inside(co, c->id);
	shift(co, t, *vec_last(&t->active), 1, c->entry_ns);
	if (b->until_next) {
		b->until_next--;
		return;
	}
	begin_call(co, t, c);
}

static void remove_active(struct coactivity_thread *t, uint32_t candidate)
{
	for (size_t i = t->active.n; i--;) {
		if (t->active.data[i] != candidate)
			continue;
		memmove(&t->active.data[i], &t->active.data[i + 1],
			(t->active.n - i - 1) * sizeof(candidate));
		t->active.n--;
		return;
	}
}

static void on_call(void *self, const struct thread *thread, const struct call *c)
{
	struct coactivity *co = self;
	struct coactivity_thread *t = thread_of(co, thread);

	if (t->gap && t->running)
		shift(co, t, t->gap, -1, c->exit_ns);
	t->gap = 0;
	if (!c->recursive) {
		uint32_t candidate = inside(co, c->id);

		if (t->running)
			shift(co, t, candidate, -1, c->exit_ns);
		if (t->open.n)
			end_call(co, t, c);
		remove_active(t, candidate);
	}
	if (c->end != CALL_TIMED)
		return;
	t->gap = after(co, c->id);
	t->gap_call = c->arg_mask & 1u << ARG_CALLER ? c->args[ARG_CALLER] : 0;
	if (t->running)
		shift(co, t, t->gap, 1, c->exit_ns);
}

static void left_cpu(struct coactivity *co, struct coactivity_thread *t, const struct record *r)
{
	uint32_t taker;

	stop(co, t, r->time_ns);
	if (!t->open.n || (r->values[0] != SWITCH_PREEMPTED && r->values[0] != SWITCH_YIELDED))
		return;
	/* the idle task has tid 0; a thread of the same process is found by its functions */
	taker = r->values[1] && r->values[2] != r->tgid ? process(co, (uint32_t)r->values[2]) : 0;
	exclude(co, t, r->time_ns, taker);
}

static void woken(struct coactivity *co, const struct record *r)
{
	const struct thread *thread = threads_alive(&co->calls->threads, (uint32_t)r->values[0]);
	struct coactivity_thread *t;

	if (!thread)
		return;
	t = thread_of(co, thread);
	if (!t->running && !t->excluding && t->open.n)
		exclude(co, t, r->time_ns, 0);
}

static void sampled(struct coactivity *co, const struct coactivity_thread *t, uint64_t stack)
{
	if (t->gap)
		following_add(&co->following, co->calls->threads.meta,
			      co->candidates.data[t->gap].id, t->gap_call, stack);
}

static void on_record(void *self, const struct thread *thread, const struct record *r)
{
	struct coactivity *co = self;

	if (r->cpu != co->calls->threads.no_cpu)
		co->cpus_seen[r->cpu / 64 % 4] |= 1ull << r->cpu % 64;
	if (r->kind == REC_WAKING) {
		woken(co, r);
		return;
	}
	if (r->kind == REC_SWITCHES_OFF)
		vec_for_each (&co->calls->threads.all, struct thread *, t)
			if (!(*t)->dead)
				stop(co, thread_of(co, *t), r->time_ns);
	if (!thread)
		return;
	if (r->kind == REC_SWITCH_OUT)
		left_cpu(co, thread_of(co, thread), r);
	else if (r->kind == REC_SWITCH_IN)
		start(co, thread_of(co, thread), r->time_ns);
	else if (r->kind == REC_TASK_EXIT)
		stop(co, thread_of(co, thread), r->time_ns);
	else if (r->kind == REC_SAMPLE)
		sampled(co, thread_of(co, thread), r->values[2]);
}

static void on_sum_up(void *self, const struct ended_threads *e)
{
	struct coactivity *co = self;

	for (size_t k = 0; k < e->n; k++) {
		struct coactivity_thread *t = thread_of(co, e->threads[k]);

		stop(co, t, e->time_ns);
		if (t->own)
			drop_own(co, t);
		thread_release(t);
		*t = (struct coactivity_thread){ 0 };
	}
}

struct call_visitor coactivity_visitor(struct coactivity *co)
{
	return (struct call_visitor){ .self = co,
				      .enter = on_enter,
				      .call = on_call,
				      .record = on_record,
				      .sum_up = on_sum_up };
}

const struct lift_sample *coactivity_sample(const struct coactivity *co, uint32_t id)
{
	return &co->blocks[id].sample;
}
