/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hist.h"
#include "base/hash.h"
#include "base/mem.h"
#include "trace/record.h"

/* Sums over calls. Behind them n of each: calls that counted it, its sum. */
struct row {
	uint64_t calls, ns, running_ns;
	uint64_t still; /* of calls, those that counted 0 of all that are written on change */
	uint64_t of[];	/* [2 * id]: calls, [2 * id + 1]: sum */
};

/* Sums for a line of running time on a value. */
struct line {
	double n, x, y, xx, xy, yy;
};

struct table {
	struct row *pages[HIST_PAGES]; /* by duration, HIST_PAGE rows each */
	struct line *lines;	       /* [counter id] */
	struct line still; /* of the calls that counted 0 of all that are written on change */
};

struct counted_function {
	struct table all, own;
};

/* What one call counted. */
struct delta {
	uint32_t mask;
	uint64_t of[COUNTERS_MAX];
};

/* An open call whose entry was counted. */
struct frame {
	uint64_t entry_ns; /* of the call that it is about; 0: none */
	uint64_t changes;  /* the thread's then */
	bool children_missing;
	bool children_counted; /* what children holds is set */
	struct delta entry, children;
};

/* A call that has ended and whose values come with the next record. */
struct ended {
	bool waits, outer, own_known;
	uint32_t id, depth;
	struct call_group group;
	uint64_t exit_ns, ns, running_ns, own_running_ns;
};

struct counted_thread {
	struct {
		VEC(struct frame)
	} frames; /* [depth] */
	struct ended ended;
	struct delta latest; /* of those that are written on change */
	uint64_t changes;    /* of it so far */
};

void counters_init(struct counters *c, const struct meta *meta)
{
	*c = (struct counters){ .meta = meta };
	vec_for_each (&meta->counters, const struct meta_counter, m)
		if (*m->name && !*m->why) {
			c->mask |= 1u << m->id;
			c->on_change |= (uint32_t)m->on_change << m->id;
			c->n = m->id + 1;
		}
	c->functions = xcalloc(meta->functions.n + 1, sizeof(struct counted_function *));
}

void counters_group_by(struct counters *c, const struct call_group *group)
{
	c->group = group;
}

static void table_release(struct table *t)
{
	for (unsigned p = 0; p < HIST_PAGES; p++)
		free(t->pages[p]);
	free(t->lines);
}

static void function_free(struct counted_function *f)
{
	if (!f)
		return;
	table_release(&f->all);
	table_release(&f->own);
	free(f);
}

void counters_release(struct counters *c)
{
	for (size_t id = 0; c->functions && id < c->meta->functions.n; id++)
		function_free(c->functions[id]);
	free(c->functions);
	vec_for_each (&c->groups, struct counted_function *, g)
		function_free(*g);
	vec_release(&c->groups);
	vec_for_each (&c->threads, struct counted_thread *, t) {
		if (*t)
			vec_release(&(*t)->frames);
		free(*t);
	}
	vec_release(&c->threads);
	*c = (struct counters){ 0 };
}

/* ---- sums ---- */

static size_t row_size(const struct counters *c)
{
	return sizeof(struct row) + 2 * c->n * sizeof(uint64_t);
}

static struct row *row_at(const struct counters *c, const struct table *t, uint32_t bucket)
{
	char *page = (char *)t->pages[bucket / HIST_PAGE];

	return page ? (struct row *)(page + bucket % HIST_PAGE * row_size(c)) : NULL;
}

static void line_add(struct line *l, double x, double y)
{
	l->n++;
	l->x += x;
	l->y += y;
	l->xx += x * x;
	l->xy += x * y;
	l->yy += y * y;
}

static struct row *add_call(const struct counters *c, struct table *t, const struct ended *e,
			    uint64_t running_ns)
{
	uint32_t bucket = hist_bucket(e->ns);
	struct row *row;

	if (!t->pages[bucket / HIST_PAGE])
		t->pages[bucket / HIST_PAGE] = xcalloc(HIST_PAGE, row_size(c));
	if (!t->lines)
		t->lines = xcalloc(c->n, sizeof(*t->lines));
	row = row_at(c, t, bucket);
	row->calls++;
	row->ns += e->ns;
	row->running_ns += running_ns;
	return row;
}

static void add_still(const struct counters *c, struct table *t, const struct ended *e,
		      uint64_t running_ns)
{
	add_call(c, t, e, running_ns)->still++;
	line_add(&t->still, 0, (double)running_ns);
}

static void add(const struct counters *c, struct table *t, const struct ended *e,
		uint64_t running_ns, const struct delta *d)
{
	struct row *row = add_call(c, t, e, running_ns);

	for (unsigned i = 0; i < c->n; i++) {
		if (!(d->mask & 1u << i))
			continue;
		row->of[2 * i]++;
		row->of[2 * i + 1] += d->of[i];
		line_add(&t->lines[i], (double)d->of[i], (double)running_ns);
	}
}

/* ---- calls ---- */

static struct counted_thread *thread_of(struct counters *c, uint32_t index)
{
	while (c->threads.n <= index)
		*vec_add(&c->threads) = NULL;
	if (!c->threads.data[index])
		c->threads.data[index] = xcalloc(1, sizeof(struct counted_thread));
	return c->threads.data[index];
}

static struct counted_function *function_of(struct counters *c, uint32_t id)
{
	if (!c->functions[id])
		c->functions[id] = xcalloc(1, sizeof(struct counted_function));
	return c->functions[id];
}

/* NULL: the call is in none, or in one too many. */
static struct counted_function *group_of(struct counters *c, const struct call_group *group)
{
	if (group->number >= COUNTED_GROUPS_MAX)
		return NULL;
	while (c->groups.n <= group->number)
		*vec_add(&c->groups) = NULL;
	if (!c->groups.data[group->number])
		c->groups.data[group->number] = xcalloc(1, sizeof(struct counted_function));
	return c->groups.data[group->number];
}

static struct frame *frame_at(const struct counted_thread *t, uint32_t depth)
{
	struct frame *f = depth < t->frames.n ? &t->frames.data[depth] : NULL;

	return f && f->entry_ns ? f : NULL;
}

static void child_missing(const struct counted_thread *t, uint32_t depth)
{
	struct frame *parent = depth ? frame_at(t, depth - 1) : NULL;

	if (parent)
		parent->children_missing = true;
}

static void delta_read(const struct counters *c, const struct record *r, struct delta *d)
{
	uint32_t next = 1;

	d->mask = 0;
	for (unsigned i = 0; i < COUNTERS_MAX && next < r->n_values; i++) {
		if (!(r->values[0] & 1u << i))
			continue;
		if (c->mask & 1u << i) {
			d->mask |= 1u << i;
			d->of[i] = r->values[next];
		}
		next++;
	}
}

/* d becomes d - less; what only one of the two has is not known. */
static void subtract(const struct counters *c, struct delta *d, const struct delta *less)
{
	d->mask &= less->mask;
	for (unsigned i = 0; i < c->n; i++) {
		if (!(d->mask & 1u << i))
			continue;
		if (d->of[i] < less->of[i])
			d->mask &= ~(1u << i);
		else
			d->of[i] -= less->of[i];
	}
}

static void give_to_parent(const struct counters *c, const struct counted_thread *t,
			   const struct delta *d)
{
	struct frame *parent = t->ended.depth ? frame_at(t, t->ended.depth - 1) : NULL;

	if (!parent)
		return;
	if (!parent->children_counted) {
		parent->children.mask = UINT32_MAX;
		memset(parent->children.of, 0, c->n * sizeof(*parent->children.of));
		parent->children_counted = true;
	}
	parent->children.mask &= d->mask;
	for (unsigned i = 0; i < c->n; i++)
		if (d->mask & 1u << i)
			parent->children.of[i] += d->of[i];
}

static void count_call(struct counters *c, struct counted_thread *t, struct delta *d)
{
	struct counted_function *f = function_of(c, t->ended.id);
	struct counted_function *g = group_of(c, &t->ended.group);
	struct frame *frame = &t->frames.data[t->ended.depth];

	t->ended.waits = false;
	frame->entry_ns = 0;
	subtract(c, d, &frame->entry);
	give_to_parent(c, t, d);
	if (t->ended.outer)
		add(c, &f->all, &t->ended, t->ended.running_ns, d);
	if (g && !t->ended.group.inner)
		add(c, &g->all, &t->ended, t->ended.running_ns, d);
	if (!t->ended.own_known)
		return;
	if (frame->children_counted)
		subtract(c, d, &frame->children);
	add(c, &f->own, &t->ended, t->ended.own_running_ns, d);
	if (g)
		add(c, &g->own, &t->ended, t->ended.own_running_ns, d);
}

/* Nothing changed from its entry to its exit, and nothing else is counted. */
static void count_still(struct counters *c, struct counted_thread *t)
{
	struct counted_function *f = function_of(c, t->ended.id);
	struct counted_function *g = group_of(c, &t->ended.group);

	t->ended.waits = false;
	t->frames.data[t->ended.depth].entry_ns = 0;
	if (t->ended.outer)
		add_still(c, &f->all, &t->ended, t->ended.running_ns);
	if (g && !t->ended.group.inner)
		add_still(c, &g->all, &t->ended, t->ended.running_ns);
	if (!t->ended.own_known)
		return;
	add_still(c, &f->own, &t->ended, t->ended.own_running_ns);
	if (g)
		add_still(c, &g->own, &t->ended, t->ended.own_running_ns);
}

/* A counted call has no values of its own at its exit. */
static void settle(struct counters *c, struct counted_thread *t)
{
	struct frame *f = t->ended.waits ? &t->frames.data[t->ended.depth] : NULL;
	struct delta d;

	if (!f)
		return;
	if (f->changes == t->changes && c->on_change == c->mask && t->latest.mask == c->on_change) {
		count_still(c, t);
	} else if (t->latest.mask) {
		d = t->latest;
		count_call(c, t, &d);
	} else {
		t->ended.waits = false;
		f->entry_ns = 0;
		child_missing(t, t->ended.depth);
	}
}

static void on_call(void *self, const struct thread *thread, const struct call *call)
{
	struct counters *c = self;
	struct counted_thread *t = thread_of(c, thread->index);
	uint32_t depth = (uint32_t)(call - thread->open);
	struct frame *f;

	settle(c, t);
	f = frame_at(t, depth);
	if (!f || f->entry_ns != call->entry_ns || call->end != CALL_TIMED) {
		if (f)
			f->entry_ns = 0;
		child_missing(t, depth);
		return;
	}
	t->ended = (struct ended){
		.waits = true,
		.outer = !call->recursive,
		.own_known = !call->own_unknown && !f->children_missing,
		.id = call->id,
		.depth = depth,
		.group = c->group ? *c->group : (struct call_group){ MAP_NONE, false },
		.exit_ns = call->exit_ns,
		.ns = call->duration_ns,
		.running_ns = offcpu_running_ns(call->duration_ns, &call->off),
		.own_running_ns = offcpu_running_ns(call->own_ns, &call->own_off),
	};
}

static void delta_copy(const struct counters *c, struct delta *to, const struct delta *from)
{
	to->mask = from->mask;
	memcpy(to->of, from->of, c->n * sizeof(*to->of));
}

static void count_entry(const struct counters *c, struct counted_thread *t, uint32_t depth,
			uint64_t time_ns, const struct delta *d)
{
	struct frame *f;

	while (t->frames.n <= depth)
		(void)vec_add(&t->frames);
	f = &t->frames.data[depth];
	f->entry_ns = time_ns;
	f->changes = t->changes;
	f->children_missing = f->children_counted = false;
	delta_copy(c, &f->entry, d);
}

/* Its own values, if it has any, come with the next record. */
static void on_enter(void *self, const struct thread *thread, const struct call *call)
{
	struct counters *c = self;
	struct counted_thread *t;

	if (!c->on_change)
		return;
	t = thread_of(c, thread->index);
	settle(c, t);
	if (t->latest.mask)
		count_entry(c, t, (uint32_t)(call - thread->open), call->entry_ns, &t->latest);
}

/* d becomes complete by what is kept, which becomes what d has of it. */
static void keep(const struct counters *c, struct counted_thread *t, struct delta *d)
{
	for (unsigned i = 0; i < c->n; i++) {
		if (!(c->on_change & 1u << i))
			continue;
		if (d->mask & 1u << i)
			t->latest.of[i] = d->of[i];
		else
			d->of[i] = t->latest.of[i];
	}
	t->changes += (d->mask & c->on_change) != 0;
	t->latest.mask |= d->mask & c->on_change;
	d->mask |= t->latest.mask;
}

static void on_counters(struct counters *c, const struct thread *thread, const struct record *r)
{
	struct counted_thread *t = thread_of(c, thread->index);
	struct delta d;

	delta_read(c, r, &d);
	if (!t->ended.waits || t->ended.exit_ns != r->time_ns || t->ended.depth != thread->n_open)
		settle(c, t);
	keep(c, t, &d);
	if (t->ended.waits)
		count_call(c, t, &d);
	else if (thread->n_open && thread->open[thread->n_open - 1].entry_ns == r->time_ns)
		count_entry(c, t, thread->n_open - 1, r->time_ns, &d);
}

static void on_record(void *self, const struct thread *thread, const struct record *r)
{
	if (r->kind == REC_COUNTERS && thread && r->n_values)
		on_counters(self, thread, r);
}

static void on_end(void *self)
{
	struct counters *c = self;

	vec_for_each (&c->threads, struct counted_thread *, t)
		if (*t)
			settle(c, *t);
}

struct call_visitor counters_visitor(struct counters *c)
{
	return (struct call_visitor){
		.self = c, .call = on_call, .enter = on_enter, .record = on_record, .end = on_end
	};
}

/* ---- means ---- */

struct sums {
	double all, fast, slow;
};

static void take(struct sums *s, struct counter_mean *m, uint64_t calls, uint64_t sum, bool fast,
		 bool slow)
{
	m->calls += calls;
	s->all += (double)sum;
	if (fast) {
		m->fast_calls += calls;
		s->fast += (double)sum;
	}
	if (slow) {
		m->slow_calls += calls;
		s->slow += (double)sum;
	}
}

static void divide(const struct sums *s, struct counter_mean *m)
{
	m->mean = m->calls ? s->all / (double)m->calls : NAN;
	m->mean_fast = m->fast_calls ? s->fast / (double)m->fast_calls : NAN;
	m->mean_slow = m->slow_calls ? s->slow / (double)m->slow_calls : NAN;
}

static struct line line_sum(const struct line *a, const struct line *b)
{
	return (struct line){ a->n + b->n,   a->x + b->x,   a->y + b->y,
			      a->xx + b->xx, a->xy + b->xy, a->yy + b->yy };
}

static void fit_line(const struct line *l, struct counter_summary *s, unsigned i)
{
	double xx = l->xx - l->x * l->x / l->n, yy = l->yy - l->y * l->y / l->n;
	double xy = l->xy - l->x * l->y / l->n;

	s->r2[i] = s->slope_ns[i] = s->slope_error_ns[i] = NAN;
	/* what rounding leaves of equal values is no variance */
	if (l->n < 3 || !(xx > 1e-9 * l->xx) || !(yy > 1e-9 * l->yy))
		return;
	s->r2[i] = xy * xy / (xx * yy);
	s->slope_ns[i] = xy / xx;
	s->slope_error_ns[i] = sqrt((1 - s->r2[i]) * yy / xx / (l->n - 2));
}

static uint64_t counted_calls(const struct counters *c, const struct row *row, unsigned i)
{
	return row->of[2 * i] + (c->on_change & 1u << i ? row->still : 0);
}

/* From the rows of the shortest calls on, until each counter has some. */
static void take_least(const struct counters *c, const struct row *row, struct counter_summary *s)
{
	if (isnan(s->running_least_ns))
		s->running_least_ns = (double)row->running_ns / (double)row->calls;
	for (unsigned i = 0; i < c->n; i++)
		if (isnan(s->least[i]) && counted_calls(c, row, i))
			s->least[i] = (double)row->of[2 * i + 1] / (double)counted_calls(c, row, i);
}

/* How a table's rows divide: a bucket that holds the limit counts as a duration of the limit. */
struct split {
	uint32_t fast_last, slow_first;
};

static struct counter_summary *summarise(const struct counters *c, const struct table *t,
					 const struct split *split)
{
	struct counter_summary *s;
	struct sums ns = { 0 }, running_ns = { 0 }, value[COUNTERS_MAX] = { 0 };

	if (!t->lines)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->running_least_ns = NAN;
	for (unsigned i = 0; i < COUNTERS_MAX; i++)
		s->least[i] = NAN;
	for (uint32_t b = 0; b < HIST_PAGES * HIST_PAGE; b++) {
		const struct row *row = row_at(c, t, b);
		bool fast = b <= split->fast_last, slow = b >= split->slow_first;

		if (!row || !row->calls)
			continue;
		take(&ns, &s->ns, row->calls, row->ns, fast, slow);
		take(&running_ns, &s->running_ns, row->calls, row->running_ns, fast, slow);
		for (unsigned i = 0; i < c->n; i++)
			take(&value[i], &s->value[i], counted_calls(c, row, i), row->of[2 * i + 1],
			     fast, slow);
		take_least(c, row, s);
	}
	divide(&ns, &s->ns);
	divide(&running_ns, &s->running_ns);
	for (unsigned i = 0; i < COUNTERS_MAX; i++) {
		struct line line = { 0 };

		divide(&value[i], &s->value[i]);
		if (i < c->n && c->on_change & 1u << i)
			line = line_sum(&t->lines[i], &t->still);
		else if (i < c->n)
			line = t->lines[i];
		fit_line(&line, s, i);
	}
	return s;
}

static struct block_counters summaries(const struct counters *c, const struct counted_function *f,
				       uint64_t fast_max_ns, uint64_t slow_min_ns)
{
	struct split split = { hist_bucket(fast_max_ns), hist_bucket(slow_min_ns) };

	if (!f)
		return (struct block_counters){ 0 };
	if (split.slow_first <= split.fast_last)
		split.slow_first = split.fast_last + 1;
	return (struct block_counters){ .all = summarise(c, &f->all, &split),
					.own = summarise(c, &f->own, &split) };
}

struct block_counters counters_of(const struct counters *c, uint32_t id, uint64_t fast_max_ns,
				  uint64_t slow_min_ns)
{
	return summaries(c, c && c->functions ? c->functions[id] : NULL, fast_max_ns, slow_min_ns);
}

struct block_counters counters_of_group(const struct counters *c, uint32_t number,
					uint64_t fast_max_ns, uint64_t slow_min_ns)
{
	return summaries(c, c && number < c->groups.n ? c->groups.data[number] : NULL, fast_max_ns,
			 slow_min_ns);
}

void block_counters_release(struct block_counters *bc)
{
	free(bc->all);
	free(bc->own);
	*bc = (struct block_counters){ 0 };
}

const struct counter_mean *counter_role(const struct counter_summary *s, const struct meta *meta,
					const char *role)
{
	if (!s)
		return NULL;
	vec_for_each (&meta->counters, const struct meta_counter, m)
		if (!*m->why && !strcmp(m->role, role) && s->value[m->id].calls)
			return &s->value[m->id];
	return NULL;
}
