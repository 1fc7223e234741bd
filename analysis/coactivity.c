/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/block.h"
#include "analysis/coactivity.h"
#include "base/mem.h"
#include "trace/meta.h"
#include "trace/record.h"

#define RUNNING	 1 /* the candidate: any thread on a CPU. 0 is none */
#define RATE_MIN (1.0 / 256)
#define PART_BIT 32

struct coactivity_candidate {
	enum coactive_part part;
	uint32_t id;
};

/* A call that is measured: the clocks at its entry. */
struct open_sample {
	uint32_t id, n;
	uint64_t entry_ns;
	uint64_t *clocks;
};

struct coactivity_thread {
	bool running, excluding;
	uint32_t gap;	     /* the candidate that its untraced code counts for, 0: none */
	uint32_t taker;	     /* the process that got its CPU, as a candidate */
	uint64_t stopped_ns; /* since when it waits for a CPU */
	struct {
		VEC(uint32_t)
	} active; /* candidates of its open calls, outermost first, recursion once */
	struct {
		VEC(struct open_sample)
	} samples; /* innermost last */
	/* Its own part of the clocks, from its first sample on. */
	uint32_t n_own;
	struct coactivity_clock *own;
	uint64_t *at_stop;
};

struct coactivity_block {
	uint32_t gap, until_next; /* one call in gap is measured */
	bool used;
	struct lift_sample sample;
};

const char *coactive_part_name(enum coactive_part part)
{
	static const char *const names[] = { "inside", "after", "cpu" };

	return names[part];
}

void coactivity_init(struct coactivity *co, const struct calls *calls)
{
	*co = (struct coactivity){ .calls = calls, .random = 88172645463325252ull };
	vec_add(&co->candidates)->id = 0;
	vec_add(&co->candidates)->id = 0;
	co->inside_of = xcalloc(calls->n_functions + 1, sizeof(*co->inside_of));
	co->after_of = xcalloc(calls->n_functions + 1, sizeof(*co->after_of));
	co->blocks = xcalloc(calls->n_functions + 1, sizeof(*co->blocks));
}

static void thread_release(struct coactivity_thread *t)
{
	vec_for_each (&t->samples, struct open_sample, s)
		free(s->clocks);
	vec_release(&t->samples);
	vec_release(&t->active);
	free(t->own);
	free(t->at_stop);
}

void coactivity_release(struct coactivity *co)
{
	vec_for_each (&co->threads, struct coactivity_thread, t)
		thread_release(t);
	for (uint32_t id = 0; co->blocks && id < co->calls->n_functions; id++) {
		vec_release(&co->blocks[id].sample.rows);
		vec_release(&co->blocks[id].sample.cells);
	}
	vec_release(&co->threads);
	vec_release(&co->candidates);
	map_release(&co->candidate_of);
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
	if (__builtin_expect(!co->inside_of[id], 0))
		co->inside_of[id] = new_candidate(co, COACTIVE_INSIDE, id);
	return co->inside_of[id];
}

static inline uint32_t after(struct coactivity *co, uint32_t id)
{
	if (__builtin_expect(!co->after_of[id], 0))
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
	if (__builtin_expect(co->threads.n <= t->index, 0))
		meet_threads(co, t->index);
	return &co->threads.data[t->index];
}

static void own_room(struct coactivity *co, struct coactivity_thread *t)
{
	uint32_t n = (uint32_t)co->candidates.n;

	if (n <= t->n_own)
		return;
	t->own = xrealloc(t->own, n * sizeof(*t->own));
	memset(t->own + t->n_own, 0, (n - t->n_own) * sizeof(*t->own));
	t->n_own = n;
}

/* A candidate begins (1) or ends (-1) to run on the thread. */
static inline void shift(struct coactivity *co, struct coactivity_thread *t, uint32_t candidate,
			 int by, uint64_t time_ns)
{
	uint64_t step = (uint64_t)(int64_t)by, ns = by > 0 ? time_ns : -time_ns;

	co->clocks[candidate].n += step;
	co->clocks[candidate].offset_ns += ns;
	if (!t->own)
		return;
	if (candidate >= t->n_own)
		own_room(co, t);
	t->own[candidate].n += step;
	t->own[candidate].offset_ns += ns;
}

static void shift_all(struct coactivity *co, struct coactivity_thread *t, int by, uint64_t time_ns)
{
	shift(co, t, RUNNING, by, time_ns);
	if (t->gap)
		shift(co, t, t->gap, by, time_ns);
	vec_for_each (&t->active, uint32_t, c)
		shift(co, t, *c, by, time_ns);
}

/* The clocks of all other threads, at most n of them. */
static void read_clocks(struct coactivity *co, struct coactivity_thread *t, uint64_t time_ns,
			uint64_t *clocks, uint32_t n)
{
	own_room(co, t);
	for (uint32_t i = 0; i < n; i++)
		clocks[i] = (co->clocks[i].n - t->own[i].n) * time_ns -
			    (co->clocks[i].offset_ns - t->own[i].offset_ns);
}

/* From here on it waits for a CPU: what runs now runs because it does not. */
static void exclude(struct coactivity *co, struct coactivity_thread *t, uint64_t time_ns,
		    uint32_t taker)
{
	t->excluding = true;
	t->taker = taker;
	t->stopped_ns = time_ns;
	if (!t->at_stop)
		t->at_stop = xmalloc(COACTIVITY_CANDIDATES * sizeof(*t->at_stop));
	memset(t->at_stop, 0, co->candidates.n * sizeof(*t->at_stop));
	read_clocks(co, t, time_ns, t->at_stop, (uint32_t)co->candidates.n);
}

static void include(struct coactivity *co, struct coactivity_thread *t, uint64_t time_ns)
{
	uint64_t now[COACTIVITY_CANDIDATES];
	uint32_t n = (uint32_t)co->candidates.n;

	t->excluding = false;
	read_clocks(co, t, time_ns, now, n);
	for (uint32_t i = 0; i < n; i++)
		t->own[i].offset_ns -= now[i] - t->at_stop[i];
	if (t->taker)
		t->own[t->taker].offset_ns += time_ns - t->stopped_ns;
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

/* The first sample of a thread: its part of the clocks is kept from now on. */
static void begin_own(struct coactivity *co, struct coactivity_thread *t, uint64_t time_ns)
{
	stop(co, t, time_ns);
	own_room(co, t);
	start(co, t, time_ns);
}

static uint32_t draw(struct coactivity *co, uint32_t n)
{
	co->random ^= co->random << 13;
	co->random ^= co->random >> 7;
	co->random ^= co->random << 17;
	return (uint32_t)((co->random >> 32) * n >> 32);
}

/* Calls to pass over before the next one is measured: any of 0 … 2 (gap - 1), gap - 1 on average.
 */
static uint32_t next_gap(struct coactivity *co, const struct coactivity_block *b)
{
	return b->gap > 1 ? draw(co, 2 * b->gap - 1) : 0;
}

static void open_sample(struct coactivity *co, struct coactivity_thread *t, const struct call *c)
{
	struct open_sample *s;

	if (co->n_open == COACTIVITY_OPEN_MAX)
		return;
	co->n_open++;
	if (!t->own)
		begin_own(co, t, c->entry_ns);
	s = vec_add(&t->samples);
	s->id = c->id;
	s->entry_ns = c->entry_ns;
	s->n = (uint32_t)co->candidates.n;
	s->clocks = xmalloc(s->n * sizeof(*s->clocks));
	read_clocks(co, t, c->entry_ns, s->clocks, s->n);
}

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
	if (!b->used) {
		b->used = true;
		b->gap = 1;
		co->n_blocks++;
	}
	b->until_next = next_gap(co, b);
	open_sample(co, t, c);
}

/* Every other row goes, and half as many calls are measured from now on. */
static void thin(struct coactivity *co, struct coactivity_block *b)
{
	struct lift_sample *s = &b->sample;
	uint32_t kept = 0, cells = 0;

	for (size_t i = 0; i + 1 < s->rows.n; i += 2) {
		/* either of the two: calls may well alternate */
		struct lift_row r = s->rows.data[i + draw(co, 2)];

		if (r.n)
			memmove(&s->cells.data[cells], &s->cells.data[r.first],
				r.n * sizeof(*s->cells.data));
		r.first = cells;
		cells += r.n;
		s->rows.data[kept++] = r;
	}
	s->rows.n = kept;
	s->cells.n = cells;
	b->gap *= 2;
}

static bool full(const struct coactivity *co, const struct coactivity_block *b)
{
	size_t rows = COACTIVITY_ROWS_ALL / co->n_blocks,
	       cells = COACTIVITY_CELLS_ALL / co->n_blocks;

	if (rows > COACTIVITY_ROWS)
		rows = COACTIVITY_ROWS;
	return b->sample.rows.n >= 4 && (b->sample.rows.n >= rows || b->sample.cells.n >= cells);
}

static void add_cell(struct lift_sample *s, uint32_t candidate, uint64_t ns, double seen_ns)
{
	double rate = (double)(int64_t)ns / seen_ns;

	if (rate >= RATE_MIN)
		*vec_add(&s->cells) = (struct lift_cell){ candidate, (float)rate };
}

static void add_row(struct coactivity *co, struct coactivity_thread *t, const struct open_sample *o,
		    const struct call *c)
{
	struct coactivity_block *b = &co->blocks[c->id];
	struct lift_sample *s = &b->sample;
	uint64_t now[COACTIVITY_CANDIDATES], waited = c->off.preempted_ns;
	uint32_t n = (uint32_t)co->candidates.n;
	uint64_t seen = c->raw_ns > waited ? c->raw_ns - waited : 0;
	struct lift_row row = { .duration_ns = c->duration_ns,
				.seen_ns = seen,
				.asleep_ns = c->off.blocked_ns + c->off.idle_ns,
				.first = (uint32_t)s->cells.n };

	if (!seen)
		return;
	if (row.asleep_ns > seen)
		row.asleep_ns = seen;
	read_clocks(co, t, c->exit_ns, now, n);
	for (uint32_t i = RUNNING; i < n; i++) {
		uint64_t was = i < o->n ? o->clocks[i] : 0;
		bool cpu = co->candidates.data[i].part == COACTIVE_CPU;

		if (now[i] != was)
			add_cell(s, i, now[i] - was, (double)(cpu ? c->raw_ns : seen));
	}
	row.n = (uint32_t)s->cells.n - row.first;
	*vec_add(&s->rows) = row;
	if (full(co, b))
		thin(co, b);
}

static void end_sample(struct coactivity *co, struct coactivity_thread *t, const struct call *c)
{
	for (size_t i = t->samples.n; i--;) {
		struct open_sample o = t->samples.data[i];

		if (o.id != c->id || o.entry_ns != c->entry_ns)
			continue;
		if (c->end == CALL_TIMED)
			add_row(co, t, &o, c);
		free(o.clocks);
		memmove(&t->samples.data[i], &t->samples.data[i + 1],
			(t->samples.n - i - 1) * sizeof(o));
		t->samples.n--;
		co->n_open--;
		return;
	}
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
		if (t->samples.n)
			end_sample(co, t, c);
		remove_active(t, candidate);
	}
	if (c->end != CALL_TIMED)
		return;
	t->gap = after(co, c->id);
	if (t->running)
		shift(co, t, t->gap, 1, c->exit_ns);
}

static void left_cpu(struct coactivity *co, struct coactivity_thread *t, const struct record *r)
{
	uint32_t taker;

	stop(co, t, r->time_ns);
	if (!t->samples.n || r->values[0] != SWITCH_PREEMPTED)
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
	if (!t->running && !t->excluding && t->samples.n)
		exclude(co, t, r->time_ns, 0);
}

static void on_record(void *self, const struct thread *thread, const struct record *r)
{
	struct coactivity *co = self;

	co->cpus_seen[r->cpu / 64 % 4] |= 1ull << r->cpu % 64;
	if (r->kind == REC_WAKING) {
		woken(co, r);
		return;
	}
	if (!thread)
		return;
	if (r->kind == REC_SWITCH_OUT)
		left_cpu(co, thread_of(co, thread), r);
	else if (r->kind == REC_SWITCH_IN)
		start(co, thread_of(co, thread), r->time_ns);
	else if (r->kind == REC_TASK_EXIT)
		stop(co, thread_of(co, thread), r->time_ns);
}

struct call_visitor coactivity_visitor(struct coactivity *co)
{
	return (struct call_visitor){
		.self = co, .enter = on_enter, .call = on_call, .record = on_record
	};
}

const struct lift_sample *coactivity_sample(const struct coactivity *co, uint32_t id)
{
	return &co->blocks[id].sample;
}

static uint32_t cpus(const struct coactivity *co)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < 4; i++)
		n += (uint32_t)__builtin_popcountll(co->cpus_seen[i]);
	return n ? n : co->calls->threads.meta->session.cpus;
}

/* [function id]: the thread that alone runs it, UINT32_MAX where several do */
static uint32_t *only_threads(const struct coactivity *co)
{
	const struct threads *th = &co->calls->threads;
	uint32_t n = co->calls->n_functions, *only = xmalloc((n + 1) * sizeof(*only));
	uint8_t *seen = xcalloc(n + 1, 1);

	for (uint32_t slot = 1; slot < th->slots.n; slot++) {
		const struct slot *s = &th->slots.data[slot];

		only[s->id] = seen[s->id] ? UINT32_MAX : s->thread;
		seen[s->id] = 1;
	}
	free(seen);
	return only;
}

static const char *process_name(const struct coactivity *co, uint32_t pid)
{
	vec_for_each (&co->calls->threads.meta->processes, const struct meta_process, p)
		if (p->pid == pid)
			return p->comm;
	return NULL;
}

static void add(const struct coactivity *co, struct block *b, const struct lift *l,
		const uint32_t *only)
{
	const struct coactivity_candidate *c = &co->candidates.data[l->candidate];
	const struct meta_function *f =
		c->part == COACTIVE_CPU ? NULL : &co->calls->threads.meta->functions.data[c->id];

	*vec_add(&b->coactive) = (struct coactive){
		.part = c->part,
		.id = c->id,
		.name = !f		      ? process_name(co, c->id)
			: f->name && *f->name ? f->name
					      : f->symbol,
		.thread = f ? only[c->id] : UINT32_MAX,
		.lift = l->lift,
		.low = l->low,
		.high = l->high,
		.share = l->share,
		.slow_rate = l->slow_rate,
		.fast_rate = l->fast_rate,
	};
}

static uint8_t *takers(const struct coactivity *co)
{
	uint8_t *takes_cpu = xcalloc(co->candidates.n, 1);

	for (size_t i = 0; i < co->candidates.n; i++)
		takes_cpu[i] = co->candidates.data[i].part == COACTIVE_CPU;
	return takes_cpu;
}

void coactivity_find(struct coactivity *co, struct blocks *blocks)
{
	struct lift_question q = { .n = (uint32_t)co->candidates.n,
				   .running = RUNNING,
				   .cpus = cpus(co) };
	uint32_t *only = only_threads(co);
	uint8_t *takes_cpu = takers(co);

	q.takes_cpu = takes_cpu;
	vec_for_each (blocks, struct block, b)
		q.pairs += lift_pairs(&co->blocks[b->id].sample, q.n);
	co->pairs = q.pairs;
	vec_for_each (blocks, struct block, b) {
		const struct lift_sample *s = &co->blocks[b->id].sample;
		struct lifts lifts = { 0 };

		b->coactive.measured = lift_enough(s);
		lift_find(s, &q, &lifts);
		for (size_t i = 0; i < lifts.n && i < COACTIVES_MAX; i++)
			add(co, b, &lifts.data[i], only);
		vec_release(&lifts);
	}
	free(takes_cpu);
	free(only);
}
