/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lock/section.h"
#include "analysis/lock/table.h"
#include "analysis/threads/standard.h"
#include "analysis/threads/threads.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"
#include "trace/record.h"

struct hold {
	uint32_t thread, function, site, depth;
	bool shared;
	uint64_t since_ns, calls, cost_ns;
	uint64_t stuck_ns; /* end of the latest wait for the lock that never got it; 0: no such
			    * wait */
	uint32_t cpu;
	struct offcpu off;
	struct holding holding;
};

struct waiter {
	uint32_t thread, group;
	uint64_t since_ns;
	bool contended;
};

#define HELD_MAX 16 /* latest locks of a thread for which its calls are counted */
/* The unit of the holds that Java's agent records, rounded down (probes/inproc/inproc.h). */
#define HELD_ROUNDED_NS 256
#define TOLD_MAX	64 /* holds kept in lock.told; further ones are counted at once */

/* A hold that a REC_HELD record reported: how long the lock was held, when it was released. */
struct told {
	struct hold hold;
	struct call as_call;
};

struct lock {
	uint64_t address;
	uint32_t tgid;
	uint32_t function; /* the latest function that took the lock, or tried to */
	uint32_t first;	   /* first lock with the same name, in any process; such locks are one
			    * block */
	bool released;	   /* only of first: a release of one of these locks was recorded */
	uint32_t taker;	   /* only of first: function of its block + 1; 0: none so far */
	/* Only of first: how often these locks were taken, and how often another thread still held
	 * the lock according to the records, because its release was not recorded. */
	uint64_t taken, unclear;
	struct {
		VEC(struct hold)
	} holds;
	struct {
		VEC(struct waiter)
	} waiters;
	struct {
		VEC(struct told)
	} told; /* holds inside another critical section, which may have held the lock before and
		 * after */
};

/* Sums over the thread's calls so far. The difference between two moments is what happened in a
 * critical section. */
struct section_thread {
	uint64_t calls, cost_ns;
	/* The locks that it took last and holds, oldest first. Every call is counted in each of
	 * them, so there are few. */
	uint32_t held[HELD_MAX], n_held;
};

static bool has_argument(const struct meta_function *f, uint32_t bit)
{
	for (uint32_t i = 0; i < f->n_arguments; i++)
		if (f->arguments[i].bit == bit)
			return true;
	return false;
}

/* Returns the name of the function that waits for a semaphore, or NULL if none was recorded. */
static const char *semaphore(const struct meta *meta)
{
	vec_for_each (&meta->functions, const struct meta_function, f)
		if (f->symbol && strstr(f->symbol, "sem_wait"))
			return f->name;
	return NULL;
}

static void note_releases(struct sections *s, enum lock_kind kind, uint64_t until_ns)
{
	if (until_ns > s->released_until_ns[kind])
		s->released_until_ns[kind] = until_ns;
}

/*
 * Whether the releases of such locks are recorded at that time. Those in a wait for a condition do
 * not suffice: without the function that releases the lock otherwise, they end holds that another
 * release has ended, or that began after one.
 */
static bool records_releases(const struct sections *s, enum lock_kind kind, uint64_t time_ns)
{
	return time_ns < s->released_until_ns[kind];
}

static int find_functions(struct sections *s, struct err *err)
{
	const struct meta_function *without = NULL;
	unsigned found = 0;

	for (uint32_t id = 0; id < s->meta->functions.n; id++) {
		const struct meta_function *f = &s->meta->functions.data[id];
		const struct lock_function *row = lock_function_of(f);

		if (!row)
			continue;
		if (!has_argument(f, row->bit)) {
			without = without ? without : f;
			continue;
		}
		s->functions[id] = row;
		if (row->action == LOCK_RELEASE)
			note_releases(s, row->kind, meta_gone_ns(s->meta, f));
		found++;
	}
	if (found)
		return 0;
	if (without)
		return err_set(
			err, -ENODATA,
			"%s was recorded without its arguments; record it with -F '%s@arg%u'",
			without->name, without->symbol, lock_function_of(without)->bit + 1);
	if (s->meta->session.producer && !strcmp(s->meta->session.producer, "java"))
		return err_set(
			err, -ENODATA,
			"the recording names no monitor that a thread had to wait for; record while threads wait for each other");
	if (meta_has_notice(s->meta, "too-short"))
		return err_set(
			err, -ENODATA,
			"the recording ended before ispot had chosen functions, so that it has no lock; let it last longer, or record with " SECTION_PATTERNS);
	if (semaphore(s->meta))
		return err_set(err, -ENODATA,
			       "the recording has no function that takes a lock, and a semaphore "
			       "has no owner; `ispot report` has the waits in %s, or record locks "
			       "with " SECTION_PATTERNS,
			       semaphore(s->meta));
	return err_set(
		err, -ENODATA,
		"the recording has no function that takes a lock; record them with " SECTION_PATTERNS);
}

int sections_init(struct sections *s, const struct meta *meta, const struct calls *calls,
		  struct keyed *waits, struct err *err)
{
	struct keyed_rule rule;
	int rc;

	*s = (struct sections){ .meta = meta, .calls = calls, .waits = waits };
	s->partial = meta_period(meta) > 1 || meta_has_notice(meta, "keep-slower");
	s->functions = xcalloc(meta->functions.n + 1, sizeof(struct lock_function *));
	callsites_init(&s->sites, meta);
	rc = argkeys_init(&s->places, meta, NULL, 0, NULL, 0, err);
	rule = sections_rule(s);
	keyed_init(&s->holds, &rule, (struct calls *)(uintptr_t)calls, meta);
	s->holds.sci.of_holds = true;
	return rc ? rc : find_functions(s, err);
}

void sections_release(struct sections *s)
{
	vec_for_each (&s->locks, struct lock, l) {
		vec_release(&l->holds);
		vec_release(&l->waiters);
		vec_release(&l->told);
	}
	vec_release(&s->locks);
	map_release(&s->lock_of);
	map_release(&s->first_of);
	map_release(&s->joined);
	map_release(&s->place_of);
	vec_release(&s->all);
	vec_release(&s->doing);
	map_release(&s->doing_of);
	vec_release(&s->threads);
	strtab_release(&s->names);
	blocks_release(&s->hold_blocks);
	if (s->holds.rule.name)
		keyed_release(&s->holds);
	argkeys_release(&s->places);
	callsites_release(&s->sites);
	free(s->functions);
	*s = (struct sections){ 0 };
}

static struct section_thread *thread_of(struct sections *s, const struct thread *t)
{
	while (s->threads.n <= t->index)
		(void)vec_add(&s->threads);
	return &s->threads.data[t->index];
}

/* Returns the index of the lock, or MAP_NONE. *key: its key in the map, or the free key for it. */
static uint32_t find_lock(const struct sections *s, uint32_t tgid, uint64_t address, uint64_t *key)
{
	uint32_t i;

	*key = hash_u64(address ^ hash_u64(tgid));
	while ((i = map_get(&s->lock_of, *key)) != MAP_NONE &&
	       (s->locks.data[i].address != address || s->locks.data[i].tgid != tgid))
		++*key;
	return i;
}

/* Returns the index of the lock that a call is about, which is added if it is new, or MAP_NONE. */
static uint32_t lock_of(struct sections *s, const struct thread *t, const struct call *c,
			const struct lock_function *row)
{
	uint64_t address = c->args[row->bit], key, place;
	uint32_t i, first;

	if (!(c->arg_mask & 1u << row->bit))
		return MAP_NONE;
	i = find_lock(s, t->tgid, address, &key);
	if (i != MAP_NONE || s->locks.n >= SECTION_LOCKS)
		return i;
	i = (uint32_t)s->locks.n;
	map_put(&s->lock_of, key, i);
	place = argkeys_place_id(&s->places, address);
	first = map_get(&s->first_of, place);
	if (first == MAP_NONE)
		map_put(&s->first_of, place, first = i);
	*vec_add(&s->locks) = (struct lock){ .address = address, .tgid = t->tgid, .first = first };
	return i;
}

#define ALL_SITES UINT32_MAX /* in the key of holds of a lock, wherever it was taken */

static uint64_t key_of(const struct sections *s, uint32_t lock, uint32_t site)
{
	return (uint64_t)s->locks.data[lock].first << 32 | site;
}

/* Returns the group of holds that begin at a call site. */
static uint32_t hold_group(struct sections *s, uint32_t function, uint32_t lock, uint32_t site)
{
	return keyed_group(&s->holds, function, KEYED_KEY, key_of(s, lock, site + 1));
}

/* Returns the one function by which the lock has a group, whichever functions take it. */
static uint32_t taker_of(struct sections *s, uint32_t lock, uint32_t function)
{
	struct lock *first = &s->locks.data[s->locks.data[lock].first];

	if (!first->taker)
		first->taker = function + 1;
	return first->taker - 1;
}

/* Returns the group of waits for the lock; what holders do is kept for each function apart. */
static uint32_t wait_group(struct sections *s, uint32_t function, uint32_t lock)
{
	uint32_t of = s->only_holding ? function : taker_of(s, lock, function);
	uint32_t group = keyed_group(s->waits, of, KEYED_KEY, key_of(s, lock, 0));

	while (s->all.n <= group)
		(void)vec_add(&s->all);
	return group;
}

/* Counts a wait at a call site. Sites beyond SECTION_PLACES share the last one, whose site becomes
 * unknown. */
static void count_place(struct section_places *places, uint32_t site, uint64_t wait_ns)
{
	uint32_t i = 0;

	while (i < places->n && places->data[i].site != site)
		i++;
	if (i == SECTION_PLACES)
		places->data[--i].site = MAP_NONE;
	else if (i == places->n)
		places->data[places->n++].site = site;
	places->data[i].waits++;
	places->data[i].wait_ns += wait_ns;
}

/* Counts the wait of w while h held the lock, up to end_ns, and was off the CPU as off says.
 * Returns whether there was any. */
static bool count_wait(struct sections *s, struct waiter *w, const struct hold *h,
		       const struct offcpu *off, uint64_t end_ns)
{
	uint64_t from = w->since_ns > h->since_ns ? w->since_ns : h->since_ns;

	if (w->thread == h->thread || from >= end_ns)
		return false;
	w->contended = true;
	count_place(&s->all.data[w->group].holders, h->site, end_ns - from);
	holding_sum(&s->all.data[w->group].doing, &h->holding, off, end_ns - h->since_ns,
		    end_ns - from);
	return true;
}

static void count_waiters(struct sections *s, struct lock *l, const struct hold *h,
			  const struct offcpu *off, uint64_t end_ns)
{
	vec_for_each (&l->waiters, struct waiter, w)
		count_wait(s, w, h, off, end_ns);
}

/* Returns the thread's off-CPU time up to time_ns, also where its latest record is before. */
static struct offcpu off_until(const struct thread *t, uint64_t time_ns)
{
	uint64_t since_ns = time_ns > t->since_ns && !t->dead ? time_ns - t->since_ns : 0;
	struct offcpu off = t->off;

	if (t->state == THREAD_PREEMPTED)
		off.preempted_ns += since_ns;
	else if (thread_sleeps(t))
		off.blocked_ns += since_ns;
	return off;
}

/* Counts the calls that are open inside the hold, as if they ended now. */
static void add_open_calls(struct hold *h, const struct thread *t, const struct offcpu *off,
			   uint64_t end_ns)
{
	for (uint32_t i = t->n_open; i-- && t->open[i].entry_ns >= h->since_ns;) {
		struct call c = t->open[i];
		bool inner = i + 1 == t->n_open;
		uint64_t ns = (inner ? end_ns : t->open[i + 1].entry_ns) - c.entry_ns;

		c.own_ns = ns > c.children_raw_ns ? ns - c.children_raw_ns : 0;
		c.own_off =
			offcpu_between(&c.off_at_entry, inner ? off : &t->open[i + 1].off_at_entry);
		if (c.children_off_any)
			c.own_off = offcpu_between(&c.children_off, &c.own_off);
		holding_add(&h->holding, &c);
	}
}

/* Counts the wait of a thread that still waits at its last record for a hold that goes on. */
static void count_open_wait(struct sections *s, struct waiter *w, struct hold *h, uint64_t end_ns)
{
	const struct thread *holder = s->calls->threads.all.data[h->thread];
	const struct offcpu until = off_until(holder, end_ns);
	const struct offcpu off = offcpu_between(&h->off, &until);
	struct hold so_far = *h;

	add_open_calls(&so_far, holder, &until, end_ns);
	if (count_wait(s, w, &so_far, &off, end_ns))
		h->stuck_ns = end_ns;
}

/* Counts the waits of a thread that still waits at its last record, for the threads that hold the
 * lock at that time. */
static void count_waits_for_holders(struct sections *s, struct lock *l, const struct thread *t,
				    uint64_t end_ns)
{
	vec_for_each (&l->waiters, struct waiter, w)
		if (w->thread == t->index)
			vec_for_each (&l->holds, struct hold, h)
				count_open_wait(s, w, h, end_ns);
}

static struct call as_call(struct sections *s, const struct thread *t, const struct hold *h,
			   uint64_t end_ns, enum call_end end)
{
	const struct section_thread *now = thread_of(s, t);
	struct call c = { .id = h->function, .entry_ns = h->since_ns, .exit_ns = end_ns };

	c.entry_cpu = h->cpu;
	c.exit_cpu = t->cpu;
	c.inside = (uint32_t)(now->calls - h->calls);
	c.inside_cost_ns = now->cost_ns - h->cost_ns;
	c.end = end_ns < h->since_ns ? CALL_NEGATIVE : end;
	c.raw_ns = end_ns - h->since_ns;
	c.duration_ns = c.raw_ns > c.inside_cost_ns ? c.raw_ns - c.inside_cost_ns : 0;
	c.own_ns = c.duration_ns;
	c.off = offcpu_between(&h->off, &t->off);
	c.own_off = c.off;
	return c;
}

/* Whether a function takes locks, and not after it released them to wait for something else. */
static bool is_taken_by(const struct sections *s, uint32_t function)
{
	const struct lock_function *row = s->functions[function];

	return row && row->action != LOCK_WAIT;
}

/* Returns the group of holds of the lock, wherever it was taken. */
static uint32_t whole_group(struct sections *s, uint32_t function, uint32_t lock)
{
	return keyed_group(&s->holds, taker_of(s, lock, function), KEYED_KEY,
			   key_of(s, lock, ALL_SITES));
}

static void count_call(struct sections *s, const struct thread *t, uint32_t lock,
		       const struct hold *h, const struct call *c)
{
	uint32_t group;

	if (s->only_holding)
		return;
	group = hold_group(s, h->function, lock, h->site);
	keyed_add(&s->holds, t, group, false, c);
	if (!s->hook.held && is_taken_by(s, h->function))
		keyed_add(&s->holds, t, whole_group(s, h->function, lock), false, c);
	if (s->hook.held && c->end == CALL_TIMED)
		s->hook.held(s->hook.self, t, lock, group, c);
}

static void count_hold(struct sections *s, const struct thread *t, uint32_t lock,
		       const struct hold *h, uint64_t end_ns, enum call_end end)
{
	const struct call c = as_call(s, t, h, end_ns, end);

	count_call(s, t, lock, h, &c);
}

static void forget_held(struct section_thread *t, uint32_t i)
{
	memmove(&t->held[i], &t->held[i + 1], (--t->n_held - i) * sizeof(*t->held));
}

static void note_held(struct section_thread *t, uint32_t lock)
{
	if (t->n_held == HELD_MAX)
		forget_held(t, 0);
	t->held[t->n_held++] = lock;
}

static void remove_hold(struct sections *s, struct lock *l, size_t i)
{
	struct section_thread *t = &s->threads.data[l->holds.data[i].thread];
	uint32_t lock = (uint32_t)(l - s->locks.data), k = 0;

	while (k < t->n_held && t->held[k] != lock)
		k++;
	if (k < t->n_held)
		forget_held(t, k);
	l->holds.data[i] = l->holds.data[--l->holds.n];
}

/* Ends the thread's hold. known: whether it held the lock since then, so that the hold counts. */
static void release(struct sections *s, const struct thread *t, uint32_t lock, uint64_t time_ns,
		    bool known)
{
	struct lock *l = &s->locks.data[lock];

	s->locks.data[l->first].released |= known;
	for (size_t i = 0; i < l->holds.n; i++) {
		struct hold *h = &l->holds.data[i];
		struct offcpu off;

		if (h->thread != t->index || (known && h->depth-- > 1))
			continue;
		off = offcpu_between(&h->off, &t->off);
		if (known) {
			count_waiters(s, l, h, &off, time_ns);
			count_hold(s, t, lock, h, time_ns, CALL_TIMED);
		}
		remove_hold(s, l, i);
		return;
	}
}

/* Drops holds of other threads when a thread takes the lock: they must have released it, although
 * no release was recorded. Returns whether there were any. */
static bool drop_stale(struct sections *s, struct lock *l, const struct thread *t, bool shared)
{
	bool any = false;

	for (size_t i = l->holds.n; i--;) {
		struct hold *h = &l->holds.data[i];

		if (h->thread == t->index || (shared && h->shared))
			continue;
		any = true;
		remove_hold(s, l, i);
	}
	return any;
}

/* Begins a hold. Returns false if the thread holds the lock already. */
static bool begin_hold(struct sections *s, const struct thread *t, uint32_t lock,
		       const struct call *c, bool shared, uint32_t site)
{
	struct lock *l = &s->locks.data[lock];
	struct section_thread *now = thread_of(s, t);

	vec_for_each (&l->holds, struct hold, h)
		if (h->thread == t->index) {
			h->depth++;
			return false;
		}
	*vec_add(&l->holds) = (struct hold){ .thread = t->index,
					     .function = c->id,
					     .site = site,
					     .depth = 1,
					     .shared = shared,
					     .since_ns = c->exit_ns,
					     .calls = now->calls,
					     .cost_ns = now->cost_ns,
					     .cpu = c->exit_cpu,
					     .off = t->off };
	/* without releases what its holders do is never told */
	if (records_releases(s, s->functions[c->id]->kind, c->exit_ns))
		note_held(now, lock);
	return true;
}

static bool is_held_by_other(const struct lock *l, const struct thread *t, bool shared)
{
	vec_for_each (&l->holds, const struct hold, h)
		if (h->thread != t->index && !(shared && h->shared))
			return true;
	return false;
}

/* Handles the entry of a call that takes or releases a lock, once its arguments are known. */
static void begin(struct sections *s, const struct thread *t, const struct call *c)
{
	const struct lock_function *row = s->functions[c->id];
	uint32_t lock = row ? lock_of(s, t, c, row) : MAP_NONE;
	struct waiter w = { .thread = t->index, .since_ns = c->entry_ns };

	if (lock == MAP_NONE) {
		s->beyond += row && c->arg_mask & 1u << row->bit;
		return;
	}
	if (row->action == LOCK_RELEASE || row->action == LOCK_WAIT) {
		if (!s->partial)
			release(s, t, lock, c->entry_ns,
				records_releases(s, row->kind, c->entry_ns));
		return;
	}
	s->locks.data[lock].function = c->id;
	w.group = wait_group(s, c->id, lock);
	w.contended = is_held_by_other(&s->locks.data[lock], t, row->shared);
	*vec_add(&s->locks.data[lock].waiters) = w;
}

static bool end_wait(struct lock *l, const struct thread *t)
{
	for (size_t i = 0; i < l->waiters.n; i++)
		if (l->waiters.data[i].thread == t->index) {
			bool contended = l->waiters.data[i].contended;

			l->waiters.data[i] = l->waiters.data[--l->waiters.n];
			return contended;
		}
	return false;
}

static bool took(struct sections *s, const struct lock_function *row, const struct call *c)
{
	bool known = c->arg_mask & 1u << ARG_RETURN;

	if (c->end != CALL_TIMED || s->partial || row->action == LOCK_AWAIT)
		return false;
	if (row->action == LOCK_TRY && !known)
		s->no_result++;
	return known ? !(uint32_t)c->args[ARG_RETURN] : row->action != LOCK_TRY;
}

/* ---- holds reported by records ---- */

/* Returns the call site that stands for a function which holds a lock from its entry to its
 * exit. */
static uint32_t place_of(struct sections *s, uint32_t function)
{
	const struct meta_function *f = &s->meta->functions.data[function];
	const char *behind = strrchr(f->name, ')');
	size_t n = behind ? (size_t)(behind + 1 - f->name) : strlen(f->name);
	uint32_t site = map_get(&s->place_of, function);

	if (site != MAP_NONE)
		return site - 1;
	site = callsites_at(&s->sites, f->name, n, f->file, f->line);
	map_put(&s->place_of, function, site + 1);
	return site;
}

/* Returns the innermost open call below depth *n that holds a lock, and sets *n to its depth, or
 * returns NULL. */
static const struct call *section_below(const struct sections *s, const struct thread *t,
					uint32_t *n)
{
	while (*n) {
		const struct call *c = &t->open[--*n];

		if (s->meta->functions.data[c->id].holds_lock)
			return c;
	}
	return NULL;
}

static void count_reported(struct sections *s, uint32_t lock, const struct told *told)
{
	count_waiters(s, &s->locks.data[lock], &told->hold, &told->as_call.off,
		      told->as_call.exit_ns);
	count_call(s, s->calls->threads.all.data[told->hold.thread], lock, &told->hold,
		   &told->as_call);
}

/* Whether the hold lies inside the outer one, whose beginning may be rounded to after its own. */
static bool is_inner(const struct told *t, const struct hold *outer)
{
	return t->hold.thread == outer->thread && t->as_call.exit_ns > outer->since_ns &&
	       t->hold.since_ns + HELD_ROUNDED_NS > outer->since_ns;
}

/* Drops holds inside the outer one: a thread that enters a monitor again releases it only when its
 * outermost call ends, whose record comes last. */
static void drop_inner(struct lock *l, const struct hold *outer)
{
	size_t kept = 0;

	vec_for_each (&l->told, struct told, t)
		if (!is_inner(t, outer))
			l->told.data[kept++] = *t;
	l->told.n = kept;
}

/* Counts the reported holds that ended before until_ns. They were real releases, because another
 * thread has the lock now, or the recording has ended. */
static void count_ended_holds(struct sections *s, uint32_t lock, uint64_t until_ns)
{
	struct lock *l = &s->locks.data[lock];
	size_t kept = 0;

	vec_for_each (&l->told, struct told, t) {
		if (t->as_call.exit_ns <= until_ns)
			count_reported(s, lock, t);
		else
			l->told.data[kept++] = *t;
	}
	l->told.n = kept;
}

static void on_held(struct sections *s, const struct thread *t, const struct record *r)
{
	uint32_t depth = t->n_open;
	const struct section_thread *now = thread_of(s, t);
	const struct call *in = section_below(s, t, &depth);
	uint64_t unused;
	uint32_t lock = find_lock(s, t->tgid, r->values[0], &unused);
	struct lock *l = lock == MAP_NONE ? NULL : &s->locks.data[lock];
	struct told told = { .hold = { .thread = t->index,
				       .site = in ? place_of(s, in->id) : MAP_NONE,
				       .since_ns = r->time_ns - r->values[1],
				       .calls = now->calls - (in ? in->inside : 0),
				       .cost_ns = now->cost_ns,
				       .cpu = in ? in->entry_cpu : t->cpu,
				       .off = in ? in->off_at_entry : t->off } };

	if (!l || r->values[1] > r->time_ns)
		return;
	told.hold.function = l->function;
	told.as_call = as_call(s, t, &told.hold, r->time_ns, CALL_TIMED);
	s->locks.data[l->first].released = true;
	drop_inner(l, &told.hold);
	if (l->told.n >= TOLD_MAX)
		count_ended_holds(s, lock, UINT64_MAX);
	if (section_below(s, t, &depth))
		*vec_add(&l->told) = told;
	else
		count_reported(s, lock, &told);
}

static void note_taken(struct sections *s, uint32_t lock, struct section *section, bool contended,
		       bool unclear)
{
	struct lock *first = &s->locks.data[s->locks.data[lock].first];

	section->acquired++;
	section->contended += contended && !unclear;
	first->taken++;
	first->unclear += unclear;
}

/* Counts the call in the critical sections that it is inside of. */
static void add_to_holds(struct sections *s, const struct section_thread *now,
			 const struct thread *t, const struct call *c)
{
	for (uint32_t i = 0; i < now->n_held; i++)
		vec_for_each (&s->locks.data[now->held[i]].holds, struct hold, h)
			if (h->thread == t->index && c->entry_ns >= h->since_ns)
				holding_add(&h->holding, c);
}

/* Whether a lock that is taken now by that function is released with a record. */
static bool sees_releases(const struct sections *s, const struct lock_function *row,
			  uint64_t time_ns)
{
	return time_ns >= s->unseen_until_ns[row->kind] && records_releases(s, row->kind, time_ns);
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	struct sections *s = self;
	struct section_thread *now = thread_of(s, t);
	const struct lock_function *row = s->functions[c->id];
	uint32_t lock = row && row->action != LOCK_RELEASE ? lock_of(s, t, c, row) : MAP_NONE;
	uint32_t site, group;
	bool contended = false, has, unclear;

	now->calls++;
	now->cost_ns += call_cost_inside_ns(s->calls, c) + call_cost_beside_ns(s->calls, c);
	if (now->n_held && (c->end == CALL_TIMED || c->end == CALL_OPEN))
		add_to_holds(s, now, t, c);
	if (lock == MAP_NONE)
		return;
	site = callsites_of(&s->sites, c);
	has = took(s, row, c);
	unclear = has && drop_stale(s, &s->locks.data[lock], t, row->shared);
	if (row->action != LOCK_WAIT) {
		if (c->end == CALL_OPEN)
			count_waits_for_holders(s, &s->locks.data[lock], t, c->exit_ns);
		if (row->action == LOCK_AWAIT)
			count_ended_holds(s, lock, c->exit_ns);
		contended = end_wait(&s->locks.data[lock], t);
		group = wait_group(s, c->id, lock);
		if (!s->only_holding)
			keyed_add(s->waits, t, group, false, c);
		count_place(&s->all.data[group].takers, site, call_has_times(c) ? c->raw_ns : 0);
		s->all.data[group].contended_only = row->action == LOCK_AWAIT;
		if (sees_releases(s, row, c->exit_ns))
			note_taken(s, lock, &s->all.data[group], contended, unclear);
	}
	/* how long the lock is held is unknown while releases have no records */
	if (has && c->exit_ns >= s->unseen_until_ns[row->kind] &&
	    begin_hold(s, t, lock, c, row->shared, site) && s->hook.taken &&
	    sees_releases(s, row, c->exit_ns))
		s->hook.taken(s->hook.self, t, lock, hold_group(s, c->id, lock, site), c,
			      contended && !unclear);
}

enum {
	SET_IS_ON,
	SET_IS_OFF, /* of all processes: its probes go out to come in again */
};

static bool is_of_locks(const struct sections *s, uint64_t set)
{
	for (uint32_t id = 0; id < s->meta->functions.n; id++)
		if (s->functions[id] && s->meta->functions.data[id].set == set)
			return true;
	return false;
}

/* Returns a bit for each kind of lock that functions of the set release. */
static unsigned kinds_released(const struct sections *s, uint64_t set)
{
	unsigned kinds = 0;

	for (uint32_t id = 0; id < s->meta->functions.n; id++) {
		const struct lock_function *row = s->functions[id];

		if (row && s->meta->functions.data[id].set == set &&
		    (row->action == LOCK_RELEASE || row->action == LOCK_WAIT))
			kinds |= 1u << row->kind;
	}
	return kinds;
}

static void drop_holds(struct sections *s, struct lock *l)
{
	while (l->holds.n)
		remove_hold(s, l, l->holds.n - 1);
}

static uint64_t set_key(uint64_t set, uint64_t tgid)
{
	return hash_u64(set) ^ tgid;
}

/*
 * Notes how long functions that release locks leave no records, each for locks of its kind. Those
 * that were taken out for good do not come back: what they release is unknown to the end, but what
 * others release is not.
 */
static void find_unseen(struct sections *s)
{
	memset(s->unseen_until_ns, 0, sizeof(s->unseen_until_ns));
	for (uint32_t id = 0; id < s->meta->functions.n; id++) {
		const struct lock_function *row = s->functions[id];
		const struct meta_function *f = &s->meta->functions.data[id];
		uint64_t *until_ns = row ? &s->unseen_until_ns[row->kind] : NULL, gone_ns;

		if (!row || (row->action != LOCK_RELEASE && row->action != LOCK_WAIT) ||
		    map_get(&s->joined, set_key(f->set, 0)) != SET_IS_OFF)
			continue;
		gone_ns = meta_gone_ns(s->meta, f);
		*until_ns = gone_ns > *until_ns ? gone_ns : *until_ns;
	}
}

/* Drops all holds and waits when the probes of lock functions are switched off, because locks are
 * then taken and released without records. */
static void set_off(struct sections *s, uint64_t set, uint64_t tgid)
{
	const uint64_t key = set_key(set, tgid);

	if (!is_of_locks(s, set))
		return;
	if (!tgid && map_get(&s->joined, key) == SET_IS_ON) {
		map_put(&s->joined, key, SET_IS_OFF);
		find_unseen(s);
	}
	vec_for_each (&s->locks, struct lock, l)
		if (!tgid || l->tgid == tgid) {
			drop_holds(s, l);
			l->waiters.n = 0;
		}
}

static bool is_of_kinds(const struct sections *s, const struct lock *l, unsigned kinds)
{
	const struct lock_function *row = s->functions[l->function];

	return row && kinds & 1u << row->kind;
}

/* Forgets who took locks when the probes of functions that release such locks are switched on: they
 * may join later than those of functions that take locks, and until then no release has a record.
 */
static void set_on(struct sections *s, uint64_t set, uint64_t tgid)
{
	const uint64_t key = set_key(set, tgid);
	const uint32_t before = map_get(&s->joined, key);
	const unsigned kinds = kinds_released(s, set);

	map_put(&s->joined, key, SET_IS_ON);
	find_unseen(s);
	/* the probes of a set go out and come in again with each burst */
	if (before != MAP_NONE || !kinds)
		return;
	vec_for_each (&s->locks, struct lock, l)
		if ((!tgid || l->tgid == tgid) && is_of_kinds(s, l, kinds)) {
			drop_holds(s, l);
			l->taken = l->unclear = 0;
		}
	for (size_t i = 0; i < s->all.n; i++) {
		const struct keyed_group *g = &s->waits->groups.data[i];
		const struct lock *l = g->rest ? NULL : &s->locks.data[g->key >> 32];

		if (l && (!tgid || l->tgid == tgid) && is_of_kinds(s, l, kinds))
			s->all.data[i].acquired = s->all.data[i].contended = 0;
	}
}

/* Returns the index of the frame of the function that the program's author knows: not one of the
 * standard libraries that it calls. UINT32_MAX: the stack names none. */
static uint32_t own_frame(const struct meta *meta, const struct meta_stack *stack)
{
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(meta, stack, i);

		if (f && *f->symbol && !standard_is_library(f->object) && !meta_frame_is_wrapper(f))
			return i;
	}
	return UINT32_MAX;
}

/* Returns whether a frame from the i-th on is of the function that took the lock. */
static bool is_inside_taker(const struct sections *s, const struct hold *h,
			    const struct meta_stack *stack, uint32_t i)
{
	struct text site = { 0 };
	bool found = h->site == MAP_NONE;

	if (!found)
		callsites_name(&s->sites, h->site, &site);
	for (; !found && i < stack->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(s->meta, stack, i);
		size_t n = f ? strlen(f->symbol) : 0;

		found = n && site.n >= n && !memcmp(site.s, f->symbol, n) &&
			(!site.s[n] || site.s[n] == ' ');
	}
	text_release(&site);
	return found;
}

/*
 * Returns the function in which the holder runs, or NULL if that is unknown: a library's function
 * without a frame pointer hides its caller. If the stack does not have the function that took the
 * lock, that one may be hidden, and the next frame is only who called it.
 */
static const struct meta_frame *runs_in(const struct sections *s, const struct hold *h,
					const struct meta_stack *stack, uint32_t i)
{
	return !i || is_inside_taker(s, h, stack, i) ? meta_frame_at(s->meta, stack, i) : NULL;
}

/* Counts a sample in the critical sections that the thread is inside of. */
static void add_sample_to_holds(struct sections *s, const struct thread *t, const struct record *r)
{
	const struct section_thread *now = thread_of(s, t);
	const struct meta_stack *stack = meta_stack(s->meta, r->values[2]);
	uint32_t at = stack && now->n_held ? own_frame(s->meta, stack) : UINT32_MAX;

	for (uint32_t i = 0; at != UINT32_MAX && i < now->n_held; i++)
		vec_for_each (&s->locks.data[now->held[i]].holds, struct hold, h)
			if (h->thread == t->index)
				holding_add_sample(&h->holding, runs_in(s, h, stack, at),
						   r->values[0]);
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	if (t && r->kind == REC_SAMPLE)
		add_sample_to_holds(self, t, r);
	if (r->kind == REC_SET_OFF)
		set_off(self, r->values[0], r->values[1]);
	if (r->kind == REC_SET_ON)
		set_on(self, r->values[0], r->values[1]);
	if (t && r->kind == REC_HELD)
		on_held(self, t, r);
	if (t && r->kind == REC_ARGS && t->entered && t->n_open &&
	    !(r->values[0] & 1u << ARG_RETURN))
		begin(self, t, &t->open[t->n_open - 1]);
}

/* Drops the thread's holds and waits, because its records may be missing. */
static void forget(struct sections *s, const struct thread *t)
{
	vec_for_each (&s->locks, struct lock, l) {
		for (size_t i = l->holds.n; i--;)
			if (l->holds.data[i].thread == t->index)
				remove_hold(s, l, i);
		end_wait(l, t);
	}
}

static void on_unseen(void *self, const struct thread *t)
{
	forget(self, t);
}

/*
 * A lock that is held at the end is counted if a thread waits for it: then it is held until the end
 * of that wait at least. If no thread waits, it may have been released without a record, for
 * example by a pthread_cond_wait without probes.
 */
static void on_end(void *self)
{
	struct sections *s = self;

	for (uint32_t lock = 0; lock < s->locks.n; lock++) {
		count_ended_holds(s, lock, UINT64_MAX);
		vec_for_each (&s->locks.data[lock].holds, struct hold, h)
			if (h->stuck_ns)
				count_hold(s, s->calls->threads.all.data[h->thread], lock, h,
					   h->stuck_ns, CALL_OPEN);
	}
}

struct call_visitor sections_visitor(struct sections *s)
{
	return (struct call_visitor){
		.self = s, .call = on_call, .record = on_record, .unseen = on_unseen, .end = on_end
	};
}

static void name_of(void *ctx, const struct keyed_group *g, struct text *name)
{
	struct sections *s = ctx;
	uint32_t site = (uint32_t)g->key - 1;

	if (site != MAP_NONE && site != ALL_SITES - 1)
		callsites_name(&s->sites, site, name);
}

struct keyed_rule sections_rule(struct sections *s)
{
	return (struct keyed_rule){ .kind = BLOCK_LOCK, .ctx = s, .name = name_of };
}

/* ---- names of locks and holders, at the end ---- */

static const char *store_name(struct sections *s, const char *name)
{
	return strtab_get(&s->names, strtab_add(&s->names, name));
}

static int longer_wait(const void *a, const void *b)
{
	const struct section_place *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return (x->waits < y->waits) - (x->waits > y->waits);
}

/* Maps the keys of holds to their blocks. */
static void map_holds(const struct sections *s, struct map *holds)
{
	for (size_t i = 0; i < s->hold_blocks.n; i++) {
		const struct keyed_group *g = &s->holds.groups.data[s->hold_blocks.data[i].id];

		if (!g->rest && is_taken_by(s, g->function) && map_get(holds, g->key) == MAP_NONE)
			map_put(holds, g->key, (uint32_t)i);
	}
}

static const struct block *hold_at(const struct sections *s, const struct map *holds, uint64_t key)
{
	uint32_t i = map_get(holds, key);

	return i == MAP_NONE ? NULL : &s->hold_blocks.data[i];
}

/* wait: the group of the waits for the lock. */
static void name_places(struct sections *s, struct section_places *places, const struct map *holds,
			const struct keyed_group *wait)
{
	qsort(places->data, places->n, sizeof(*places->data), longer_wait);
	for (uint32_t i = 0; i < places->n; i++) {
		struct section_place *p = &places->data[i];
		struct text name = { 0 };

		if (p->site != MAP_NONE)
			callsites_name(&s->sites, p->site, &name);
		p->name = store_name(s, name.n ? name.s : "an unrecorded place");
		/* the last one of many has no site of its own, as those that were not recorded */
		p->hold = wait->rest || (p->site == MAP_NONE && places->n == SECTION_PLACES)
				  ? NULL
				  : hold_at(s, holds, wait->key | (uint32_t)(p->site + 1));
		text_release(&name);
	}
}

void sections_name(struct sections *s, uint32_t group, struct text *name)
{
	const struct keyed_group *g = &s->holds.groups.data[group];
	char hex[24];

	text_add(name,
		 g->rest ? "other locks"
			 : argkeys_place(&s->places, s->locks.data[g->key >> 32].address, hex));
	if (!g->rest && (uint32_t)g->key) {
		text_add(name, " taken in ");
		callsites_name(&s->sites, (uint32_t)g->key - 1, name);
		return;
	}
	/* without a place, groups differ only in the function that takes the lock */
	text_printf(name, " taken by %s", s->meta->functions.data[g->function].name);
}

static bool is_clear(const struct lock *first)
{
	return first->released && first->unclear <= first->taken / 100;
}

bool sections_see_waits(const struct sections *s)
{
	for (size_t id = 0; id < s->meta->functions.n; id++)
		if (s->functions[id] && s->functions[id]->action == LOCK_WAIT)
			return true;
	return false;
}

/* Whether it is what holders of the lock of this name did; lock: NULL: of all locks. */
static bool is_doing(const struct sections *s, const struct section_doing *d, uint32_t function,
		     const char *lock)
{
	char hex[24];

	if (d->function != function || !lock || d->lock == MAP_NONE)
		return d->function == function && !lock && d->lock == MAP_NONE;
	return strcmp(argkeys_place(&s->places, s->locks.data[d->lock].address, hex), lock) == 0;
}

static uint32_t find_doing(const struct sections *s, uint32_t function, const char *lock,
			   uint64_t *key)
{
	uint32_t i;

	*key = hash_u64(function ^ (lock ? hash_bytes(lock, strlen(lock)) : 0));
	while ((i = map_get(&s->doing_of, *key)) != MAP_NONE &&
	       !is_doing(s, &s->doing.data[i], function, lock))
		++*key;
	return i;
}

/* lock: MAP_NONE: what holders of all locks that the function takes did. */
static void add_doing(struct sections *s, const struct keyed_group *g, uint32_t lock,
		      const struct holding_sums *sums)
{
	const struct lock *of = &s->locks.data[g->key >> 32];
	char hex[24];
	const char *name = lock == MAP_NONE ? NULL : argkeys_place(&s->places, of->address, hex);
	uint64_t key;
	uint32_t i = find_doing(s, g->function, name, &key);

	if (i == MAP_NONE) {
		map_put(&s->doing_of, key, i = (uint32_t)s->doing.n);
		*vec_add(&s->doing) =
			(struct section_doing){ .function = g->function, .lock = lock };
	}
	s->doing.data[i].unclear |= !is_clear(&s->locks.data[of->first]);
	holding_join(&s->doing.data[i].sums, sums);
}

void sections_sum_holding(struct sections *s)
{
	for (size_t i = 0; i < s->all.n; i++) {
		const struct keyed_group *g = &s->waits->groups.data[i];

		if (g->rest)
			continue;
		add_doing(s, g, (uint32_t)(g->key >> 32), &s->all.data[i].doing);
		add_doing(s, g, MAP_NONE, &s->all.data[i].doing);
	}
}

const struct holding_sums *sections_holding(const struct sections *s, uint32_t function,
					    const char *lock)
{
	uint64_t key;
	uint32_t i = find_doing(s, function, lock, &key);
	const struct section_doing *d = i == MAP_NONE ? NULL : &s->doing.data[i];

	return d && !d->unclear && d->sums.wait_ns > 0 ? &d->sums : NULL;
}

/* Returns the place whose calls wait longest, or NULL if none was recorded. */
static const char *main_place(const struct section_places *takers)
{
	return takers->n && takers->data[0].site != MAP_NONE ? takers->data[0].name : NULL;
}

void sections_finish(struct sections *s, const struct block_options *o, struct blocks *blocks)
{
	struct map holds = { 0 }, none = { 0 };

	keyed_build(&s->holds, NULL, o, &s->hold_blocks);
	map_holds(s, &holds);
	vec_for_each (&s->locks, const struct lock, l)
		s->unclear += l->released && !is_clear(l) ? l->unclear : 0;
	vec_for_each (blocks, struct block, b) {
		const struct keyed_group *g = &s->waits->groups.data[b->id];
		struct section *section = &s->all.data[b->id];
		char hex[24];

		section->is_clear =
			g->rest || is_clear(&s->locks.data[s->locks.data[g->key >> 32].first]);
		section->released =
			!g->rest && s->locks.data[s->locks.data[g->key >> 32].first].released;
		section->hold = g->rest || !section->is_clear
					? NULL
					: hold_at(s, &holds, g->key | ALL_SITES);
		name_places(s, &section->holders, section->is_clear ? &holds : &none, g);
		name_places(s, &section->takers, section->is_clear ? &holds : &none, g);
		b->section = section;
		if (!g->rest)
			b->key = main_place(&section->takers);
		b->holding = section->is_clear ? &section->doing : NULL;
		if (!g->rest)
			b->name = store_name(s, argkeys_place(&s->places,
							      s->locks.data[g->key >> 32].address,
							      hex));
	}
	map_release(&holds);
}
