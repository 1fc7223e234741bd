// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/threads/futex.h"

#include <inttypes.h>

#include "base/text.h"

#define OP_MASK		127 /* without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */
#define OP_WAIT		0
#define OP_LOCK_PI	6
#define OP_WAIT_REQUEUE 11
#define OP_LOCK_PI2	13
#define TURNS_LEAST	10	/* releases; fewer say little about who waits for whom */
#define ROUND_NS	1000000 /* releases of a waker further apart belong to different rounds */
#define STATE_AGAIN	10	/* least waits of threads that waited before */
/* least number of waits that timed out and led to a release elsewhere, */
#define TIMED_ACTS  2
#define TIMED_SHARE 0.1 /* and their least share of the waits that timed out */

void futexes_release(struct futexes *w)
{
	vec_release(&w->all);
	vec_release(&w->pairs);
	map_release(&w->by_address);
	map_release(&w->pair_of);
}

static uint64_t key_of(uint32_t tgid, uint64_t address)
{
	return hash_u64(address) ^ tgid;
}

static uint32_t futex_of(struct futexes *w, uint32_t tgid, uint64_t address)
{
	uint64_t key = key_of(tgid, address);
	uint32_t i = map_get(&w->by_address, key);

	if (i != MAP_NONE && w->all.data[i].address == address && w->all.data[i].tgid == tgid)
		return i;
	i = (uint32_t)w->all.n;
	map_put(&w->by_address, key, i);
	*vec_add(&w->all) = (struct futex){ .address = address, .tgid = tgid };
	return i;
}

static struct futex_pair *pair_of(struct futexes *w, uint32_t word, uint32_t thread)
{
	uint64_t key = (uint64_t)word << 32 | thread;
	uint32_t i = map_get(&w->pair_of, key);

	if (i == MAP_NONE) {
		i = (uint32_t)w->pairs.n;
		map_put(&w->pair_of, key, i);
		(void)vec_add(&w->pairs);
	}
	return &w->pairs.data[i];
}

/* Returns the neighboring word of a condition variable, or NULL if nobody waited there. */
static const struct futex *twin_of(const struct futexes *w, const struct futex *word)
{
	uint32_t i = map_get(&w->by_address, key_of(word->tgid, word->address ^ 4));

	return i == MAP_NONE ? NULL : &w->all.data[i];
}

/*
 * Notes that the thread takes part by waiting. A thread that waits at one word of a condition
 * counts at both.
 */
static void note_turn(struct futexes *w, uint32_t i, uint32_t thread)
{
	const struct futex *twin = twin_of(w, &w->all.data[i]);

	pair_of(w, i, thread)->released = false;
	if (twin)
		pair_of(w, (uint32_t)(twin - w->all.data), thread)->released = false;
}

static void end_round(struct futex *word)
{
	if (!word->round_size)
		return;
	word->rounds++;
	word->full_rounds += !word->waiting;
	word->shared_rounds += word->round_size > 1;
	word->round_size = 0;
}

static void note_value(struct futex *word, const struct futex_wait *wait)
{
	uint32_t operation = wait->operation & OP_MASK;

	if (!word->waits)
		word->first_value = word->last_value = wait->value;
	word->waits++;
	word->same_value += wait->value == word->first_value;
	word->zero_value += !wait->value;
	word->changes += wait->value != word->last_value;
	word->last_value = wait->value;
	word->plain += operation == OP_WAIT;
	word->inherits += operation == OP_LOCK_PI || operation == OP_LOCK_PI2;
	word->requeues += operation == OP_WAIT_REQUEUE;
	word->owned += wait->names_owner;
	word->ends += wait->names_thread;
}

uint32_t futexes_wait(struct futexes *w, uint32_t tgid, uint64_t address,
		      const struct futex_wait *wait)
{
	uint32_t i = futex_of(w, tgid, address);
	struct futex *word = &w->all.data[i];
	struct futex_pair *pair = pair_of(w, i, wait->thread);

	end_round(word);
	note_value(word, wait);
	word->waiting++;
	word->tail_releases = 0;
	if (!pair->waits++) {
		word->waiters++;
		word->own_releases += pair->releases;
	} else {
		word->again++;
		word->moved += wait->value != pair->last_value;
	}
	pair->last_value = wait->value;
	note_turn(w, i, wait->thread);
	return i;
}

void futexes_wake(struct futexes *w, uint32_t i, uint32_t waker, uint64_t time_ns)
{
	struct futex *word = &w->all.data[i];
	struct futex_pair *pair;

	if (word->waiting)
		word->waiting--;
	if (waker == UINT32_MAX)
		return;
	pair = pair_of(w, i, waker);
	pair->releases++;
	word->in_turn += !pair->released;
	pair->released = true;
	if (!word->releases++)
		word->first_waker = waker;
	word->own_releases += pair->waits > 0;
	if (!word->tail_releases++) {
		word->tail++;
		word->tail_ends = 0;
	}
	if (word->round_size &&
	    (word->round_waker != waker || time_ns - word->round_ns > ROUND_NS)) {
		word->waiting++; /* as the count was before this release */
		end_round(word);
		word->waiting--;
	}
	word->round_size++;
	word->round_waker = waker;
	word->round_ns = time_ns;
}

void futexes_forget_present(struct futexes *w)
{
	vec_for_each (&w->pairs, struct futex_pair, pair)
		pair->released = false;
	vec_for_each (&w->all, struct futex, word)
		word->waiting = word->round_size = word->tail_releases = 0;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Whether each thread waits for the end of a state of its own, as readers and writers do. */
static bool is_state_of_each(const struct futex *word)
{
	return !word->zero_value && word->again >= STATE_AGAIN &&
	       share(word->moved, word->again) <= 0.1;
}

/* Whether threads wait for the end of a state, not for the change of a count. */
static bool is_state(const struct futex *word)
{
	return (word->first_value && share(word->same_value, word->waits) >= 0.9) ||
	       is_state_of_each(word);
}

static bool is_barrier(const struct futex *word)
{
	bool plain = share(word->plain, word->waits) > 0.5;
	bool own = share(word->own_releases, word->releases) > 0.5;
	uint64_t rounds = word->rounds + (word->round_size > 0);

	return word->changes >= 2 && rounds >= 3 && share(word->moved, word->again) >= 0.8 &&
	       share(word->full_rounds + (word->round_size > 0), rounds) >= 0.9 &&
	       (plain || (own && word->waiters > 1));
}

static struct futex_judgement judged(enum futex_class class, double confidence)
{
	return (struct futex_judgement){ .class = class, .confidence = confidence };
}

static struct futex_judgement either(enum futex_class class, double confidence)
{
	return (struct futex_judgement){ .class = class, .confidence = confidence, .either = true };
}

static struct futex_judgement judge_state(const struct futex *word)
{
	bool own = share(word->own_releases, word->releases) > 0.5;
	bool plain = share(word->plain, word->waits) > 0.5;

	if (own)
		return judged(FUTEX_LOCK, 0.95);
	/* the value with which the futex locks of several libraries wait */
	if (plain || word->first_value == 2)
		return judged(FUTEX_LOCK, 0.8);
	if (word->waiters > 1)
		return judged(FUTEX_LOCK, 0.6);
	return judged(FUTEX_CONDITION, 0.6);
}

/*
 * Whether the waiters release each other. Often several releases come in a row, because a released
 * thread has not yet taken what was given when the next release comes.
 */
static bool is_taken_and_given(const struct futex *word)
{
	return word->waiters > 1 && word->releases >= TURNS_LEAST &&
	       word->zero_value == word->waits && share(word->own_releases, word->releases) > 0.8 &&
	       share(word->shared_rounds, word->rounds) < 0.5;
}

/* Whether the waiters release each other, one at a time. */
static bool takes_turns(const struct futex *word)
{
	return word->waiters > 1 && share(word->own_releases, word->releases) > 0.8 &&
	       word->releases >= TURNS_LEAST && share(word->shared_rounds, word->rounds) < 0.1;
}

/*
 * Returns the word, or else its twin, if it was released at least that often, or NULL if neither
 * was.
 */
static const struct futex *released(const struct futexes *w, uint32_t i, uint64_t times)
{
	const struct futex *word = &w->all.data[i];

	if (!word->releases)
		word = twin_of(w, word);
	return word && word->releases >= times ? word : NULL;
}

uint32_t futexes_releaser(const struct futexes *w, uint32_t i)
{
	const struct futex *word = released(w, i, 1);

	return word ? word->round_waker : UINT32_MAX;
}

uint32_t futexes_first_releaser(const struct futexes *w, uint32_t i)
{
	const struct futex *word = released(w, i, 2);

	return word ? word->first_waker : UINT32_MAX;
}

void futexes_released_by(struct futexes *w, uint32_t i, enum standard_release release)
{
	w->all.data[i].by_one += release == RELEASE_ONE;
	w->all.data[i].by_all += release == RELEASE_ALL;
}

void futexes_last_act(struct futexes *w, uint32_t i)
{
	w->all.data[i].last_acts++;
}

void futexes_ended_after(struct futexes *w, uint32_t i, uint32_t tail)
{
	struct futex *word = &w->all.data[i];

	word->tail_ends += word->tail == tail;
}

void futexes_timeout(struct futexes *w, uint32_t i)
{
	w->all.data[i].timeouts++;
}

void futexes_timed_act(struct futexes *w, uint32_t i)
{
	w->all.data[i].timed_acts++;
}

bool futexes_twins(const struct futexes *w, uint32_t a, uint32_t b)
{
	return a == b || &w->all.data[b] == twin_of(w, &w->all.data[a]);
}

uint32_t futexes_first_twin(const struct futexes *w, uint32_t i)
{
	const struct futex *twin = twin_of(w, &w->all.data[i]);
	uint32_t other = twin ? (uint32_t)(twin - w->all.data) : i;

	return other < i ? other : i;
}

uint32_t futexes_side(struct futexes *w, uint32_t word, uint32_t thread, uint32_t *place)
{
	const uint32_t first = futexes_first_twin(w, word);
	struct futex_pair *pair = pair_of(w, first, thread);

	if (*place)
		pair->place = *place;
	if (!w->all.data[first].place)
		w->all.data[first].place = *place;
	*place = pair->place;
	return *place == w->all.data[first].place ? 0 : *place;
}

void futexes_set_sides(struct futexes *w, uint32_t i)
{
	const struct futex *twin = twin_of(w, &w->all.data[i]);

	w->all.data[i].has_sides = true;
	if (twin)
		w->all.data[twin - w->all.data].has_sides = true;
}

void futexes_set_work(struct futexes *w, uint32_t i, enum futex_work work)
{
	const struct futex *twin = twin_of(w, &w->all.data[i]);

	w->all.data[i].work = work;
	if (twin)
		w->all.data[twin - w->all.data].work = work;
}

bool futexes_keeps_time(const struct futexes *w, uint32_t i)
{
	const struct futex *word = &w->all.data[i], *twin = twin_of(w, word);
	uint64_t acts = word->timed_acts + (twin ? twin->timed_acts : 0);
	uint64_t timeouts = word->timeouts + (twin ? twin->timeouts : 0);

	return acts >= TIMED_ACTS && share(acts, timeouts) >= TIMED_SHARE &&
	       futex_judge(word).class == FUTEX_CONDITION;
}

bool futex_is_stop(const struct futex *word, uint32_t tail)
{
	return word->tail == tail && share(word->tail_ends, word->tail_releases) > 0.5 &&
	       futex_judge(word).class == FUTEX_CONDITION;
}

/*
 * Returns the kind of most waits that came from a standard function, or STANDARD_NONE if none did.
 */
static enum standard_wait standard_of(const struct futex *word)
{
	enum standard_wait most = STANDARD_NONE;

	for (unsigned i = STANDARD_NONE + 1; i < STANDARD_WAITS; i++)
		if (word->standard[i] > (most ? word->standard[most] : 0))
			most = (enum standard_wait)i;
	/* Ruby has a condition for each thread, at which it also waits for what the program does */
	if (most == STANDARD_INTERPRETER && word->of_program)
		return STANDARD_CONDITION;
	/* a wait whose stack is unknown is at a condition, too, if one is at an interpreter's lock
	 */
	if (most == STANDARD_CONDITION && word->standard[STANDARD_INTERPRETER] && !word->of_program)
		return STANDARD_INTERPRETER;
	return most;
}

bool futex_is_semaphore(const struct futex *word)
{
	return standard_of(word) == STANDARD_SEMAPHORE;
}

bool futex_is_work(const struct futex *word)
{
	return standard_of(word) == STANDARD_WORK;
}

bool futex_is_end(const struct futex *word)
{
	enum standard_wait wait = standard_of(word);

	if (wait == STANDARD_LOCK || wait == STANDARD_BARRIER || wait == STANDARD_INTERPRETER ||
	    wait == STANDARD_WORK)
		return false;
	return wait == STANDARD_END || share(word->ends, word->waits) > 0.5 ||
	       (!is_state(word) && share(word->last_acts, word->releases) > 0.5);
}

/* Whether rounds release as many as all the threads that ever wait except one. */
static bool releases_as_many(const struct futex *word)
{
	uint64_t rounds = word->rounds + (word->round_size > 0);

	return share(word->releases, rounds) >= 0.8 * (word->waiters - 1);
}

/*
 * Whether rounds release more than one thread, or use a function that releases all. The second kind
 * of round also counts for two threads, if each round holds all the threads that ever wait except
 * the one that comes last.
 */
static bool releases_all(const struct futex *word)
{
	if (share(word->shared_rounds, word->rounds) >= 0.5)
		return true;
	return word->by_all >= 3 && share(word->by_one, word->by_all) <= 0.1 &&
	       releases_as_many(word);
}

/* Whether all waiters are released at once by a thread that waits there in other rounds. */
static bool gathers(const struct futex *word)
{
	uint64_t rounds = word->rounds + (word->round_size > 0);

	return rounds >= 3 && word->waiters > 1 &&
	       share(word->own_releases, word->releases) > 0.8 && releases_all(word) &&
	       share(word->full_rounds + (word->round_size > 0), rounds) >= 0.9;
}

/*
 * Whether each thread that releases the word has waited for it before: it is handed from thread to
 * thread.
 */
static bool is_handed_on(const struct futex *word)
{
	return takes_turns(word) && share(word->in_turn, word->releases) >= 0.8;
}

/* Whether nearly nobody releases the word but threads that wait there, too, also if a release often
 * lets several go on: each of them tries to take what was given. */
static bool is_among_waiters(const struct futex *word)
{
	return word->waiters > 2 && word->releases >= 10 * TURNS_LEAST &&
	       share(word->own_releases, word->releases) > 0.95;
}

static struct futex_judgement judge_condition(const struct futex *word)
{
	/*
	 * A condition's waiters take its mutex again. A word that one thread sleeps at, for others
	 * to let it go on, is none: TBB has one for each thread.
	 */
	if (is_state(word) && judge_state(word).class == FUTEX_LOCK &&
	    (word->waiters > 1 || word->own_releases))
		return judge_state(word);
	if (word->has_sides)
		return judged(FUTEX_CONDITION, 1);
	if (gathers(word))
		return judged(FUTEX_BARRIER, 0.8);
	if (is_handed_on(word))
		return either(FUTEX_LOCK, 0.6);
	if (takes_turns(word) || is_taken_and_given(word) || is_among_waiters(word))
		return either(FUTEX_CONDITION, 0.7);
	return judged(FUTEX_CONDITION, 1);
}

static struct futex_judgement judge_standard(const struct futex *word, enum standard_wait wait)
{
	switch (wait) {
	case STANDARD_LOCK:
	case STANDARD_INTERPRETER:
		return judged(FUTEX_LOCK, 1);
	case STANDARD_BARRIER:
		return judged(FUTEX_BARRIER, 1);
	case STANDARD_CONDITION:
		return judge_condition(word);
	case STANDARD_SEMAPHORE:
		/* one of the C++ library lets all its waiters try at each release */
		return is_taken_and_given(word) ||
				       (is_among_waiters(word) && !releases_as_many(word))
			       ? judged(FUTEX_LOCK, 0.9)
			       : judged(FUTEX_CONDITION, 0.9);
	default:
		return judged(FUTEX_CONDITION, 1);
	}
}

struct futex_judgement futex_judge(const struct futex *word)
{
	enum standard_wait wait = standard_of(word);
	bool own = share(word->own_releases, word->releases) > 0.5;

	if (word->requeues)
		return judged(FUTEX_CONDITION, 1);
	if (word->inherits || share(word->owned, word->waits) > 0.5)
		return judged(FUTEX_LOCK, 1);
	if (futex_is_end(word))
		return judged(FUTEX_CONDITION, 1);
	if (wait)
		return judge_standard(word, wait);
	if (is_state(word))
		return judge_state(word);
	if (is_barrier(word))
		return judged(FUTEX_BARRIER, word->shared_rounds ? 0.9 : 0.75);
	if (takes_turns(word) || is_taken_and_given(word))
		return either(FUTEX_LOCK, 0.6);
	return judged(FUTEX_CONDITION, own ? 0.7 : 0.9);
}

static void releases_text(const struct futex *word, struct text *out)
{
	if (word->releases)
		text_printf(out, "; %.0f%% of %" PRIu64 " release%s by threads that wait there too",
			    100 * share(word->own_releases, word->releases), word->releases,
			    word->releases == 1 ? "" : "s");
}

static const char *standard_fact(const struct futex *word)
{
	static const char *const facts[STANDARD_WAITS] = {
		[STANDARD_NONE] = "",
		[STANDARD_LOCK] = "a lock",
		[STANDARD_CONDITION] = "a condition",
		[STANDARD_BARRIER] = "a barrier",
		[STANDARD_SEMAPHORE] = "a semaphore",
		[STANDARD_END] = "a thread's end",
		[STANDARD_RESULT] = "a result",
		[STANDARD_INTERPRETER] = "an interpreter's lock",
		[STANDARD_WORK] = "something to run",
	};

	return facts[standard_of(word)];
}

void futex_facts(const struct futex *word, struct text *out)
{
	const char *standard = standard_fact(word);
	uint64_t rounds = word->rounds + (word->round_size > 0);

	text_printf(out, "futex 0x%" PRIx64 ", %" PRIu64 " wait%s of %u thread%s: ", word->address,
		    word->waits, word->waits == 1 ? "" : "s", word->waiters,
		    word->waiters == 1 ? "" : "s");
	if (word->requeues)
		text_add(out, "waited on to be moved to a mutex");
	else if (*standard)
		text_printf(out, "waited on in a standard function, for %s", standard);
	else if (word->inherits)
		text_add(out, "locked with priority inheritance");
	else if (share(word->owned, word->waits) > 0.5)
		text_add(out, "it holds its owner's thread number");
	else if (futex_is_end(word))
		text_add(out, word->ends ? "it holds the number of a thread whose end is waited for"
					 : "released by threads as the last that they do");
	else if (is_state(word) && share(word->same_value, word->waits) < 0.9)
		text_add(out, "each thread waits with a value of its own");
	else if (is_state(word))
		text_printf(out, "the same value %u in %.0f%%", word->first_value,
			    100 * share(word->same_value, word->waits));
	else if (is_barrier(word))
		text_printf(
			out,
			"its value moves on, and %.0f%% of %" PRIu64 " rounds release all who wait",
			100 * share(word->full_rounds + (word->round_size > 0), rounds), rounds);
	else if (word->zero_value == word->waits)
		text_add(out, "always waited on with 0");
	else
		text_add(out, "its value moves on");
	releases_text(word, out);
}
