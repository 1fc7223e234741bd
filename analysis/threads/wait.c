// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/threads/wait.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/threads/threads.h"
#include "base/mem.h"
#include "trace/format.h"
#include "trace/meta/meta.h"

#define TRIED_PART 10

static bool same_cell(const struct wait_cell *a, const struct wait_cell *b)
{
	return a->kind == b->kind && a->word == b->word && a->call == b->call && a->end == b->end &&
	       a->uninterruptible == b->uninterruptible && a->iowait == b->iowait &&
	       a->standard == b->standard && a->by_call == b->by_call && a->tries == b->tries &&
	       a->place == b->place;
}

static struct wait_cell *cell_of(struct wait_sums *sums, const struct wait_cell *like)
{
	bool room = sums->n < WAIT_CELLS_MAX;
	struct wait_cell key = {
		.kind = like->kind,
		.word = room ? like->word : SLEEP_NOBODY,
		.call = like->call,
		.end = like->end,
		.uninterruptible = like->uninterruptible,
		.iowait = like->iowait,
		.standard = like->standard,
		.by_call = like->by_call,
		.tries = room ? like->tries : 0,
		.place = room ? like->place : 0,
	};

	vec_for_each (sums, struct wait_cell, old)
		if (same_cell(old, like))
			return old;
	vec_for_each (sums, struct wait_cell, old)
		if (same_cell(old, &key))
			return old;
	*vec_add(sums) = key;
	return vec_last(sums);
}

static bool same_waker(const struct wait_waker *w, uint32_t thread, uint32_t function)
{
	return w->sleeps && w->thread == thread && w->function == function;
}

/* Adds time to a waker. If there is no room, the new waker replaces the one with the least time and
 * inherits that time (space saving). */
static void add_waker(struct wait_waker *wakers, uint32_t thread, uint32_t function, uint64_t n,
		      uint64_t ns)
{
	struct wait_waker *w = &wakers[0];

	for (unsigned i = 0; i < WAIT_WAKERS_MAX; i++) {
		if (same_waker(&wakers[i], thread, function)) {
			w = &wakers[i];
			break;
		}
		if (wakers[i].ns < w->ns)
			w = &wakers[i];
	}
	w->thread = thread;
	w->function = function;
	w->sleeps += n;
	w->ns += ns;
}

static void add_early(struct wait_cell *c, uint64_t ns, uint64_t from_ns, uint64_t to_ns)
{
	if (!ns)
		return;
	if (!c->early_ns || from_ns < c->early_from_ns)
		c->early_from_ns = from_ns;
	if (!c->early_ns || to_ns > c->early_to_ns)
		c->early_to_ns = to_ns;
	c->early_ns += ns;
}

/* Adds time to the futex's last tail. A wait of an earlier tail was followed by another wait, so it
 * does not count. */
static void add_tail(struct wait_cell *c, uint32_t tail, uint64_t ns)
{
	if (tail < c->tail || c->word == SLEEP_NOBODY)
		return;
	c->tail_ns = tail == c->tail ? c->tail_ns + ns : ns;
	c->tail = tail;
}

static struct wait_cell *cell_of_sleep(struct wait_sums *sums, const struct thread *t)
{
	const struct sleep *s = &t->sleep;
	const struct wait_cell like = {
		.kind = s->kind,
		.word = s->word,
		.call = s->call,
		.end = s->end,
		.uninterruptible = s->uninterruptible,
		.iowait = s->iowait,
		.standard = s->kind == WAIT_OTHER ? s->standard : STANDARD_NONE,
		.by_call = s->by_call,
		.tries = sleep_place(t),
		.place = s->word != SLEEP_NOBODY     ? s->side
			 : s->end == SLEEP_BY_THREAD ? handouts_place(&t->all->handouts, s->stack)
						     : 0,
	};

	return cell_of(sums, &like);
}

void wait_add(struct wait_sums *sums, const struct thread *t, uint64_t time_ns)
{
	const struct sleep *s = &t->sleep;
	uint64_t end = s->woken_ns ? s->woken_ns : time_ns, idle_ns;
	struct wait_cell *c;

	if (end <= s->since_ns)
		return;
	c = cell_of_sleep(sums, t);
	c->sleeps++;
	if (s->stack)
		c->stack = (uint32_t)s->stack;
	c->ns += end - s->since_ns;
	idle_ns = sleep_idle_ns(t, s->since_ns, end);
	c->idle_ns += idle_ns;
	if (s->woken_ns)
		c->pause_ns += s->pause_ns;
	if (s->too_early)
		add_early(c, idle_ns, s->since_ns, end);
	add_tail(c, s->tail, end - s->since_ns - idle_ns);
	if (s->end == SLEEP_BY_THREAD)
		add_waker(c->wakers, s->waker, s->waker_function, 1, end - s->since_ns);
}

static struct wait_sums *sums_on_heap(struct wait_sums **sums)
{
	if (!*sums)
		*sums = xcalloc(1, sizeof(**sums));
	return *sums;
}

void wait_add_wake(struct wait_sums **sums, const struct thread *woken)
{
	cell_of_sleep(sums_on_heap(sums), woken)->wakes++;
}

void wait_add_new(struct wait_sums **sums, const struct thread *t, uint64_t time_ns)
{
	wait_add(sums_on_heap(sums), t, time_ns);
}

static void merge_wakers(struct wait_waker *wakers, const struct wait_cell *c)
{
	for (unsigned i = 0; i < WAIT_WAKERS_MAX; i++)
		if (c->wakers[i].sleeps)
			add_waker(wakers, c->wakers[i].thread, c->wakers[i].function,
				  c->wakers[i].sleeps, c->wakers[i].ns);
}

void wait_merge(struct wait_sums *sums, const struct wait_sums *more)
{
	vec_for_each (more, const struct wait_cell, from) {
		struct wait_cell *c = cell_of(sums, from);

		c->sleeps += from->sleeps;
		if (!c->stack)
			c->stack = from->stack;
		c->ns += from->ns;
		c->idle_ns += from->idle_ns;
		c->pause_ns += from->pause_ns;
		c->wakes += from->wakes;
		add_early(c, from->early_ns, from->early_from_ns, from->early_to_ns);
		add_tail(c, from->tail, from->tail_ns);
		merge_wakers(c->wakers, from);
	}
}

static int64_t lost_early(const struct threads *th, struct wait_cell *c)
{
	uint32_t thread = futexes_first_releaser(&th->futexes, c->word);
	uint64_t span = c->early_to_ns - c->early_from_ns, idle, lost;

	if (thread == SLEEP_NOBODY)
		return 0;
	idle = sleep_idle_behind(th, thread, c->word, c->early_from_ns, c->early_to_ns);
	lost = (uint64_t)((double)c->early_ns * (double)(span - idle) / (double)span);
	c->early_ns = 0;
	c->idle_ns -= lost;
	return (int64_t)lost;
}

static int64_t all_idle(struct wait_cell *c)
{
	int64_t idle = (int64_t)(c->ns - c->idle_ns);

	c->early_ns = c->tail_ns = c->pause_ns = 0;
	c->idle_ns = c->ns;
	return -idle;
}

/* Part of the cell's time is a wait for a lock whose holder waited for work. */
static int64_t behind_work(struct wait_cell *c, double part)
{
	uint64_t idle = (uint64_t)(part * (double)c->ns), before = c->idle_ns;

	if (idle <= before)
		return 0;
	c->idle_ns = idle;
	return -(int64_t)(idle - before);
}

static int64_t held_up(struct wait_cell *c)
{
	uint64_t lost = c->pause_ns < c->idle_ns ? c->pause_ns : c->idle_ns;

	c->pause_ns = 0;
	c->idle_ns -= lost;
	return (int64_t)lost;
}

/* Returns whether the thread waits behind threads that at other times wait in the same place or at
 * the same lock. */
static bool is_behind_others(const struct threads *th, const struct wait_cell *c)
{
	return wait_is_queue(th, c) ||
	       (c->word != SLEEP_NOBODY &&
		futex_judge(&th->futexes.all.data[c->word]).class == FUTEX_LOCK);
}

static int64_t told_to_stop(struct wait_cell *c)
{
	int64_t idle = (int64_t)c->tail_ns;

	c->idle_ns += c->tail_ns;
	c->tail_ns = 0;
	return -idle;
}

static int64_t none_idle(struct wait_cell *c)
{
	int64_t lost = (int64_t)c->idle_ns;

	c->early_ns = c->pause_ns = c->idle_ns = 0;
	return lost;
}

/* Returns whether the threads that wait there have nothing else to do. */
static bool waits_for_work(enum futex_work work)
{
	return work == WORK_HANDED_OUT || work == WORK_OR_TIME || work == WORK_RESULTS;
}

/* Returns what the waits are for, WORK_NONE if they are not at a futex. */
static enum futex_work work_of(const struct threads *th, const struct wait_cell *c)
{
	return c->word == SLEEP_NOBODY ? WORK_NONE : handouts_work(th, c->word, c->place);
}

int64_t wait_reconsider(const struct threads *th, struct wait_sums *sums)
{
	int64_t lost = 0;

	vec_for_each (sums, struct wait_cell, c) {
		const struct futex *word;

		if (wait_is_tried(th, c))
			lost += none_idle(c);
		if (c->pause_ns && is_behind_others(th, c))
			lost += held_up(c);
		if (c->word == SLEEP_NOBODY) {
			if (handouts_awaits_results(&th->handouts, c->place) ||
			    handouts_polls_for_work(&th->handouts, c->place))
				lost += all_idle(c);
			continue;
		}
		word = &th->futexes.all.data[c->word];
		if (futex_is_end(word) || futex_is_work(word) || waits_for_work(work_of(th, c)))
			lost += all_idle(c);
		else if (c->early_ns)
			lost += lost_early(th, c);
		else if (c->tail_ns && futex_is_stop(word, c->tail))
			lost += told_to_stop(c);
		if (word->behind_work > 0)
			lost += behind_work(c, word->behind_work);
	}
	return lost;
}

void wait_sums_free(struct wait_sums **sums)
{
	if (!*sums)
		return;
	vec_release(*sums);
	free(*sums);
	*sums = NULL;
}

#define ANY UINT32_MAX
enum tri { NO, YES, EITHER };

/* The first row that fits decides. */
static const struct wait_row {
	uint32_t kind, end;
	enum tri uninterruptible, iowait;
	struct wait_cause cause;
} rows[] = {
	{ WAIT_DISK,
	  SLEEP_BY_THREAD,
	  YES,
	  NO,
	  { "kernel", 0.7, "held up in the kernel by another thread at the same file" } },
	{ WAIT_DISK, ANY, EITHER, YES, { "disk-io", 1, "waited for I/O" } },
	{ WAIT_DISK, ANY, EITHER, EITHER, { "disk-io", 0.9, "waited for the file system" } },
	{ WAIT_SOCKET,
	  SLEEP_BY_THREAD,
	  EITHER,
	  EITHER,
	  { "condition-wait", 0.8, "waited at a socket for what another thread sends" } },
	{ WAIT_SOCKET, ANY, EITHER, EITHER, { "network", 1, "waited at a socket" } },
	{ WAIT_PIPE, ANY, EITHER, EITHER, { "pipe", 1, "waited at a pipe" } },
	{ WAIT_SLEEP, ANY, EITHER, EITHER, { "sleep", 1, "slept for a time" } },
	{ WAIT_PAGE_FAULT,
	  SLEEP_BY_THREAD,
	  EITHER,
	  NO,
	  { "kernel", 0.7, "held up in a page fault by another thread" } },
	{ WAIT_PAGE_FAULT,
	  ANY,
	  EITHER,
	  YES,
	  { "page-fault", 1, "waited for the disk in page faults" } },
	{ WAIT_PAGE_FAULT, ANY, YES, EITHER, { "page-fault", 0.8, "waited in page faults" } },
	{ WAIT_CHILD, ANY, EITHER, EITHER, { "condition-wait", 1, "waited for a process to end" } },
	{ WAIT_FUTEX,
	  SLEEP_BY_TIMER,
	  EITHER,
	  EITHER,
	  { "sleep", 0.9, "waited at a futex until the time given was over" } },
	{ WAIT_FUTEX,
	  ANY,
	  EITHER,
	  EITHER,
	  { "condition-wait", 0.5, "waited at one of many futexes" } },
	{ WAIT_POLL,
	  SLEEP_BY_TIMER,
	  EITHER,
	  EITHER,
	  { "sleep", 0.9, "polled until the time given was over" } },
	{ WAIT_POLL,
	  SLEEP_BY_THREAD,
	  EITHER,
	  EITHER,
	  { "condition-wait", 0.8, "polled files that another thread wrote to" } },
	{ WAIT_POLL,
	  ANY,
	  EITHER,
	  EITHER,
	  { "network", 0.7, "polled files for what came from outside" } },
	{ WAIT_OTHER,
	  SLEEP_BY_THREAD,
	  YES,
	  EITHER,
	  { "kernel", 0.7, "held up in the kernel by another thread" } },
	{ WAIT_OTHER,
	  SLEEP_BY_THREAD,
	  NO,
	  EITHER,
	  { "condition-wait", 0.7, "waited in the kernel for another thread" } },
	{ WAIT_OTHER,
	  SLEEP_BY_TIMER,
	  NO,
	  EITHER,
	  { "sleep", 0.8, "waited for a time in the kernel" } },
	{ WAIT_OTHER, ANY, YES, EITHER, { "kernel", 0.5, "blocked in the kernel" } },
};

static bool fits(enum tri wanted, bool is)
{
	return wanted == EITHER || (wanted == YES) == is;
}

static struct wait_cause of_word(const struct futex *word, enum futex_work work)
{
	static const struct {
		const char *kind, *fact;
	} classes[FUTEX_CLASSES] = {
		[FUTEX_CONDITION] = { "condition-wait", "waited for another thread's signal" },
		[FUTEX_LOCK] = { "lock", "queued for a lock" },
		[FUTEX_BARRIER] = { "barrier", "waited for the last to arrive" },
	};
	struct futex_judgement j = futex_judge(word);

	if (futex_is_end(word))
		return (struct wait_cause){ "condition-wait", 1, "waited for a thread to end" };
	if (work == WORK_GATHER)
		return (struct wait_cause){ "barrier", 0.7, "waited for the last to arrive" };
	if (work == WORK_HANDED_OUT)
		return (struct wait_cause){ "condition-wait", j.confidence,
					    "waited for work that another thread hands out" };
	if (work == WORK_OR_TIME)
		return (struct wait_cause){ "condition-wait", j.confidence,
					    "waited for work, or until it was time for something" };
	if (work == WORK_ROUNDS)
		return (struct wait_cause){ "condition-wait", j.confidence,
					    "waited for the next round of work" };
	if (work == WORK_RESULTS)
		return (struct wait_cause){
			"condition-wait", j.confidence,
			"waited for the results of work that it had handed out"
		};
	return (struct wait_cause){ classes[j.class].kind, j.confidence, classes[j.class].fact };
}

/* Returns whether the system call takes a semaphore, judged by the function that made it: flock,
 * semop, ... */
static bool is_semaphore_call(const struct wait_cell *c)
{
	return c->standard == STANDARD_SEMAPHORE && c->end == SLEEP_BY_THREAD;
}

bool wait_is_queue(const struct threads *th, const struct wait_cell *c)
{
	if (c->kind == WAIT_FUTEX && c->word != SLEEP_NOBODY)
		return work_of(th, c) == WORK_QUEUE;
	return c->end == SLEEP_BY_THREAD && handouts_is_queue(&th->handouts, c->stack);
}

bool wait_is_tried(const struct threads *th, const struct wait_cell *c)
{
	enum tries_verdict verdict = tries_verdict_of(&th->tries, c->tries);

	return verdict == TRIES_LOCK || verdict == TRIES_KNOWN;
}

bool wait_is_tried_surely(const struct threads *th, const struct wait_cell *c)
{
	return tries_verdict_of(&th->tries, c->tries) == TRIES_KNOWN;
}

bool wait_is_at_semaphore(const struct threads *th, const struct wait_cell *c)
{
	return c->word != SLEEP_NOBODY && futex_is_semaphore(&th->futexes.all.data[c->word]);
}

static bool is_maybe_tried(const struct threads *th, const struct wait_cell *c)
{
	return tries_verdict_of(&th->tries, c->tries) == TRIES_UNKNOWN;
}

/* Returns the largest of those cells that are so, or NULL: they are little. */
static const struct wait_cell *
tried(const struct threads *th, const struct wait_sums *sums,
      bool (*is_so)(const struct threads *th, const struct wait_cell *c), uint64_t part)
{
	const struct wait_cell *most = NULL;
	uint64_t all = 0, tried = 0;

	vec_for_each (sums, const struct wait_cell, c) {
		all += c->ns;
		if (!c->tries || !is_so(th, c))
			continue;
		tried += c->ns;
		if (!most || c->ns > most->ns)
			most = c;
	}
	return tried > all / part ? most : NULL;
}

const char *wait_tried(const struct threads *th, const struct wait_sums *sums)
{
	const struct wait_cell *c = tried(th, sums, wait_is_tried, TRIED_PART);

	return c ? tries_function(&th->tries, c->tries) : NULL;
}

const char *wait_maybe_tried(const struct threads *th, const struct wait_sums *sums)
{
	const struct wait_cell *c = tried(th, sums, is_maybe_tried, 2);

	return c ? tries_function(&th->tries, c->tries) : NULL;
}

enum standard_language wait_is_at_interpreter(const struct threads *th, const struct wait_cell *c)
{
	return c->stack ? standard_interpreter_in(th->meta, &th->meta->stacks.data[c->stack - 1])
			: LANGUAGE_NONE;
}

enum inside_lock wait_is_inside(const struct threads *th, const struct wait_cell *c)
{
	return c->kind == WAIT_FUTEX && c->stack
		       ? inside_lock_of(th->meta, &th->meta->stacks.data[c->stack - 1])
		       : INSIDE_NONE;
}

bool wait_is_after_signal(const struct threads *th, const struct wait_cell *c)
{
	return c->kind == WAIT_FUTEX && c->stack &&
	       standard_condition_in(th->meta, &th->meta->stacks.data[c->stack - 1]);
}

bool wait_is_either(const struct threads *th, const struct wait_cell *c)
{
	const struct futex *word = c->kind == WAIT_FUTEX && c->word != SLEEP_NOBODY
					   ? &th->futexes.all.data[c->word]
					   : NULL;

	return word ? !futex_is_end(word) && !work_of(th, c) && futex_judge(word).either
		    : is_semaphore_call(c);
}

bool wait_is_signaled(const struct threads *th, const struct wait_cell *c)
{
	return c->kind == WAIT_FUTEX &&
	       (c->word == SLEEP_NOBODY || (!futex_is_end(&th->futexes.all.data[c->word]) &&
					    !futex_is_semaphore(&th->futexes.all.data[c->word])));
}

bool wait_is_in_turn(const struct threads *th, const struct wait_cell *c)
{
	return c->kind == WAIT_FUTEX && work_of(th, c) == WORK_IN_TURN;
}

bool wait_is_for_round(const struct threads *th, const struct wait_cell *c)
{
	return c->kind == WAIT_FUTEX && work_of(th, c) == WORK_ROUNDS;
}

/* Returns the cause that follows from the function in which the thread slept. */
static struct wait_cause of_function(const struct wait_cell *c)
{
	static const struct wait_cause causes[STANDARD_WAITS] = {
		[STANDARD_LOCK] = { "lock", 0.8, "asleep in a function that takes a lock" },
		[STANDARD_CONDITION] = { "condition-wait", 0.8,
					 "asleep in a function that waits for a signal" },
		[STANDARD_BARRIER] = { "barrier", 0.8,
				       "asleep in a function that waits for others" },
		[STANDARD_SEMAPHORE] = { "condition-wait", 0.6, "asleep at a semaphore" },
		[STANDARD_END] = { "condition-wait", 0.8,
				   "asleep in a function that waits for an end" },
		[STANDARD_RESULT] = { "condition-wait", 0.8,
				      "asleep in a function that waits for a result" },
		[STANDARD_INTERPRETER] = { "lock", 0.8,
					   "asleep in an interpreter's function that takes its "
					   "lock" },
		[STANDARD_WORK] = { "condition-wait", 0.8,
				    "asleep until there is something to run" },
	};

	return causes[c->standard];
}

/*
 * Returns whether threads pass a token through a pipe or a socket: whoever has read it continues,
 * as if it held a lock, and writes to give it back.
 */
static bool is_token(const struct threads *th, const struct wait_cell *c)
{
	return (c->kind == WAIT_PIPE || c->kind == WAIT_SOCKET) && wait_is_queue(th, c);
}

/* A new thread inherits the events that ispot has on its creator, which takes locks of the kernel
 * that are held while probes come and go. Whoever waits there for the new process itself, as in
 * posix_spawn(), is released by it. */
static bool is_for_recorder(const struct threads *th, const struct wait_cell *c)
{
	if (meta_has_option(th->meta, "--no-inherit"))
		return false;
	return c->kind == WAIT_OTHER && c->uninterruptible && c->end != SLEEP_BY_THREAD &&
	       c->stack && standard_is_in_clone(th->meta, &th->meta->stacks.data[c->stack - 1]);
}

struct wait_cause wait_cause_of(const struct threads *th, const struct wait_cell *c)
{
	const struct futex *word = c->kind == WAIT_FUTEX && c->word != SLEEP_NOBODY
					   ? &th->futexes.all.data[c->word]
					   : NULL;

	/* A futex that no thread releases, except at the end to stop the sleeper, serves as a
	 * clock. */
	if (word && (c->end != SLEEP_BY_TIMER || word->releases > 1))
		return of_word(word, work_of(th, c));
	if (is_for_recorder(th, c))
		return (struct wait_cause){ "ispot", 0.7,
					    "held up in the kernel while it made a thread, which "
					    "inherits ispot's events" };
	if (c->by_call && c->standard)
		return of_function(c);
	if (c->standard == STANDARD_LOCK)
		return (struct wait_cause){ "lock", 1, "queued for a lock of a file" };
	if (is_semaphore_call(c))
		return (struct wait_cause){ "lock", 0.6, "waited at a semaphore" };
	if (is_token(th, c))
		return (struct wait_cause){ "condition-wait", 0.8,
					    "waited for what another thread writes that waits in "
					    "the same place at other times" };
	if (wait_is_tried_surely(th, c))
		return (struct wait_cause){ "lock", 1,
					    "slept between tries for the lock of a database" };
	if (wait_is_tried(th, c))
		return (struct wait_cause){ "lock", 0.6,
					    "slept again and again, while a thread was awake that "
					    "sleeps there at other times: probably for a lock" };
	if (is_maybe_tried(th, c))
		return (struct wait_cause){ "sleep", 0.5,
					    "slept again and again for a time, for what is not "
					    "known" };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct wait_row *r = &rows[i];

		if (r->kind == c->kind && (r->end == ANY || r->end == c->end) &&
		    fits(r->uninterruptible, c->uninterruptible) && fits(r->iowait, c->iowait))
			return r->cause;
	}
	return (struct wait_cause){ "unknown", 0, "asleep" };
}

static double part_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Returns a cell's weight in the choice of the kind: its time, plus its number of wakeups, which
 * decides if there is no time. */
static double weight_of(const struct wait_cell *c)
{
	return (double)c->ns + (double)c->wakes;
}

/* Returns whether more time was lost in the waits of a than in those of b. */
static bool is_larger(const struct wait_cell *a, const struct wait_cell *b)
{
	uint64_t lost_a = a->ns - a->idle_ns, lost_b = b->ns - b->idle_ns;

	return lost_a != lost_b ? lost_a > lost_b : a->ns > b->ns;
}

static void add_cell(struct wait_part *part, struct wait_waker *wakers, const struct wait_cell *c,
		     double confidence)
{
	part->sleeps += c->sleeps;
	part->ns += c->ns;
	part->confidence += confidence * weight_of(c);
	if (c->sleeps && (!part->largest || is_larger(c, part->largest)))
		part->largest = c;
	merge_wakers(wakers, c);
}

struct wait_part wait_part(const struct threads *th, const struct wait_sums *sums, const char *kind)
{
	struct wait_part part = { 0 };
	struct wait_waker wakers[WAIT_WAKERS_MAX] = { 0 };
	uint64_t lost = 0, idle = 0, all_lost = 0, all_idle = 0;
	uint64_t wakes = 0, all_wakes = 0, all_sleeps = 0;

	vec_for_each (sums, const struct wait_cell, c) {
		struct wait_cause cause = wait_cause_of(th, c);

		all_lost += c->ns - c->idle_ns;
		all_idle += c->idle_ns;
		all_sleeps += c->sleeps;
		all_wakes += c->wakes;
		if (strcmp(cause.kind, kind) != 0)
			continue;
		lost += c->ns - c->idle_ns;
		idle += c->idle_ns;
		wakes += c->wakes;
		add_cell(&part, wakers, c, cause.confidence);
	}
	part.lost_share = part_of(lost, all_lost);
	part.idle_share = part_of(idle, all_idle);
	part.sleeps_share = part_of(part.sleeps, all_sleeps);
	part.wakes_share = part_of(wakes, all_wakes);
	part.confidence = part.ns + wakes ? part.confidence / (double)(part.ns + wakes) : 0;
	for (unsigned i = 0; i < WAIT_WAKERS_MAX; i++)
		if (wakers[i].ns > part.waker.ns)
			part.waker = wakers[i];
	return part;
}
