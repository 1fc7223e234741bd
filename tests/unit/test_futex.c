/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a futex word is, by how it is waited on, and by standard functions that say it: never by
 * another name. */
#include "unit.h"

#include <string.h>

#include "analysis/threads/futex.h"
#include "analysis/threads/inside.h"
#include "analysis/threads/standard.h"
#include "base/text.h"
#include "trace/meta/meta.h"

enum { PLAIN = 0x80, BITSET = 0x89, LOCK_PI = 0x86, REQUEUE = 0x8b };

static uint64_t now_ns;

static void wait_on(struct futexes *f, uint32_t thread, uint32_t operation, uint32_t value)
{
	const struct futex_wait w = { .thread = thread, .operation = operation, .value = value };

	assert_int_equal(futexes_wait(f, 1, 0x1000, &w), 0);
}

static void wake(struct futexes *f, uint32_t waker)
{
	futexes_wake(f, 0, waker, now_ns += 100000);
}

static void is_word(struct futexes *f, enum futex_class class, double least)
{
	struct futex_judgement j = futex_judge(&f->all.data[0]);
	struct text facts = { 0 };

	futex_facts(&f->all.data[0], &facts);
	assert_true(facts.n > 20);
	assert_int_equal(j.class, class);
	assert_true(j.confidence >= least);
	text_release(&facts);
	futexes_release(f);
}

/* glibc, Rust, Go: the word is 2 while it is taken and somebody waits. */
static void a_mutex(void **state)
{
	struct futexes f = { 0 };

	for (unsigned i = 0; i < 30; i++) {
		wait_on(&f, i % 3, PLAIN, 2);
		wake(&f, (i + 1) % 3);
	}
	is_word(&f, FUTEX_LOCK, 0.9);
}

static void a_mutex_that_only_one_thread_waits_for(void **state)
{
	struct futexes f = { 0 };

	for (unsigned i = 0; i < 30; i++) {
		wait_on(&f, 0, PLAIN, 2);
		wake(&f, 1);
	}
	is_word(&f, FUTEX_LOCK, 0.7);
}

static void locks_that_say_so(void **state)
{
	const struct futex_wait owned = { .value = 0x80000007, .names_owner = true };
	struct futexes f = { 0 }, g = { 0 };

	wait_on(&f, 0, LOCK_PI, 7);
	is_word(&f, FUTEX_LOCK, 1);
	futexes_wait(&g, 1, 0x1000, &owned);
	is_word(&g, FUTEX_LOCK, 1);
}

/* A condition variable of glibc: always 0, released by who makes the items. */
static void a_condition(void **state)
{
	struct futexes f = { 0 };

	for (unsigned i = 0; i < 30; i++) {
		wait_on(&f, 1 + i % 3, BITSET, 0);
		wake(&f, 0);
	}
	is_word(&f, FUTEX_CONDITION, 0.9);
}

/* Newer ones count: released one by one while others still wait, so it is no barrier. */
static void a_condition_that_counts(void **state)
{
	struct futexes f = { 0 };

	wait_on(&f, 1, BITSET, 0);
	wait_on(&f, 2, BITSET, 0);
	for (unsigned i = 0; i < 30; i++) {
		wake(&f, 0);
		wait_on(&f, 1 + i % 2, BITSET, 2 * i);
	}
	is_word(&f, FUTEX_CONDITION, 0.7);
}

/* Python's: a condition whose waiters hand a thing on to each other. Not sure, so said so. */
static void a_lock_made_of_a_condition(void **state)
{
	struct futexes f = { 0 };

	for (unsigned i = 0; i < 60; i++) {
		wait_on(&f, i % 3, BITSET, 0);
		wake(&f, (i + 1) % 3);
	}
	assert_true(futex_judge(&f.all.data[0]).confidence < 0.7);
	is_word(&f, FUTEX_LOCK, 0.5);
}

static void a_thread_s_end(void **state)
{
	const struct futex_wait end = { .operation = 0x109, .value = 77, .names_thread = true };
	struct futexes f = { 0 };

	futexes_wait(&f, 1, 0x1000, &end);
	futexes_wake(&f, 0, 3, 1000);
	is_word(&f, FUTEX_CONDITION, 1);
}

/* The last to arrive of three, by turns or always the same one, releases the others at once. */
static void barriers(void **state)
{
	for (unsigned turns = 0; turns < 2; turns++) {
		struct futexes f = { 0 };

		for (unsigned round = 0; round < 20; round++) {
			unsigned last = turns ? round % 3 : 2;

			for (unsigned i = 0; i < 3; i++)
				if (i != last)
					wait_on(&f, i, PLAIN, 3 * round);
			wake(&f, last);
			wake(&f, last);
		}
		is_word(&f, FUTEX_BARRIER, 0.9);
	}
}

static void a_barrier_of_two(void **state)
{
	struct futexes f = { 0 };

	for (unsigned round = 0; round < 20; round++) {
		wait_on(&f, round % 2, PLAIN, 2 * round);
		wake(&f, (round + 1) % 2);
	}
	is_word(&f, FUTEX_BARRIER, 0.7);
}

/* glibc's reader-writer lock: readers wait with 3, the writer with 2, and all go on at once. */
static void a_reader_writer_lock(void **state)
{
	struct futexes f = { 0 };

	for (unsigned round = 0; round < 20; round++) {
		for (unsigned reader = 0; reader < 3; reader++)
			wait_on(&f, reader, PLAIN, 3);
		for (unsigned reader = 0; reader < 3; reader++)
			wake(&f, 3);
		wait_on(&f, 3, PLAIN, 2);
		wake(&f, round % 3);
	}
	is_word(&f, FUTEX_LOCK, 0.9);
}

/* As if each wait so far had come from a standard function. */
static void told(struct futexes *f, enum standard_wait wait)
{
	f->all.data[0].standard[wait] = f->all.data[0].waits;
}

/* Two threads meet, as often one first as the other: a barrier made of a mutex and a condition. */
static void two_meet(struct futexes *f)
{
	for (unsigned i = 0; i < 40; i++) {
		wait_on(f, i / 2 % 2, PLAIN, 0);
		wake(f, 1 - i / 2 % 2);
	}
}

static void what_standard_functions_say_goes_first(void **state)
{
	struct futexes f = { 0 };

	two_meet(&f);
	is_word(&f, FUTEX_LOCK, 0.5); /* nobody knows better */
	f = (struct futexes){ 0 };
	two_meet(&f);
	told(&f, STANDARD_BARRIER);
	is_word(&f, FUTEX_BARRIER, 1);
	f = (struct futexes){ 0 };
	two_meet(&f);
	told(&f, STANDARD_CONDITION);
	is_word(&f, FUTEX_CONDITION, 0.5);
}

/* Whoever lets go of it waits for it next: a lock that is made of a condition, as Python's. */
static void a_condition_that_is_handed_to_and_fro(void **state)
{
	struct futexes f = { 0 };

	for (unsigned i = 0; i < 40; i++) {
		wait_on(&f, i % 2, PLAIN, 0);
		wake(&f, 1 - i % 2);
	}
	told(&f, STANDARD_CONDITION);
	is_word(&f, FUTEX_LOCK, 0.6);
}

/* Of three threads one has it, and the others ask for it again when a time is over. */
static void a_condition_that_three_take_in_turn(void **state)
{
	struct futexes f = { 0 };

	wait_on(&f, 1, PLAIN, 0);
	wait_on(&f, 2, PLAIN, 0);
	for (unsigned i = 0; i < 40; i++) {
		for (unsigned again = 1; again < 3; again++) {
			futexes_wake(&f, 0, UINT32_MAX, now_ns += 5000000);
			wait_on(&f, (i + again) % 3, PLAIN, 0);
		}
		wake(&f, i % 3);
		wait_on(&f, i % 3, PLAIN, 0);
	}
	told(&f, STANDARD_CONDITION);
	is_word(&f, FUTEX_LOCK, 0.6);
}

/* Four threads wait for what each of them gives back, and a release often lets two of them try. The
 * values move on. */
static void a_condition_that_waiters_give_back(void **state)
{
	struct futexes f = { 0 };

	for (unsigned i = 0; i < 90; i++) {
		wait_on(&f, i % 4, PLAIN, i + 1);
		if (i % 3 == 2)
			wait_on(&f, (i + 1) % 4, PLAIN, i + 2);
		futexes_wake(&f, 0, (i + 2) % 4, now_ns += 100000);
		if (i % 3 == 2)
			futexes_wake(&f, 0, (i + 2) % 4, now_ns += 1000);
	}
	told(&f, STANDARD_CONDITION);
	assert_true(futex_judge(&f.all.data[0]).either);
	is_word(&f, FUTEX_CONDITION, 0.7);
}

/* The last of four to arrive releases the others through a condition. */
static void a_condition_that_gathers(void **state)
{
	struct futexes f = { 0 };

	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 1; i < 4; i++)
			wait_on(&f, (round + i) % 4, PLAIN, 0);
		for (unsigned i = 1; i < 4; i++)
			futexes_wake(&f, 0, round % 4, now_ns += 1000);
		now_ns += 10000000;
	}
	told(&f, STANDARD_CONDITION);
	is_word(&f, FUTEX_BARRIER, 0.8);
}

/* Those who give it back wait for it, too, at times; others have not come yet to take what they
 * were given. */
static void take_and_give(struct futexes *f, enum standard_wait wait)
{
	wait_on(f, 0, PLAIN, 0);
	for (unsigned i = 0; i < 60; i++) {
		wait_on(f, 1 + i % 2, PLAIN, 0);
		if (wait)
			told(f, wait);
		if (i % 3 == 2)
			continue;
		futexes_wake(f, 0, (i + 1) % 3, now_ns += 100000);
		if (i % 6 == 1)
			futexes_wake(f, 0, (i + 1) % 3, now_ns += 100000);
	}
}

static void a_semaphore_that_is_a_lock(void **state)
{
	struct futexes f = { 0 };

	take_and_give(&f, STANDARD_SEMAPHORE);
	assert_false(futex_judge(&f.all.data[0]).either);
	assert_true(futex_is_semaphore(&f.all.data[0]));
	is_word(&f, FUTEX_LOCK, 0.9);
}

/* Each time it is released, all threads that sleep at it are woken, and one of them takes it, as
 * with some locks. always_all: all of them go on each time, as at a barrier. */
static enum futex_class released_to_all(bool always_all)
{
	struct futexes f = { 0 };
	enum futex_class class;

	for (unsigned round = 0; round < 150; round++) {
		for (unsigned i = 1; i < 4; i++) {
			if (!always_all && i == 1 + round % 3)
				continue;
			wait_on(&f, (round + i) % 4, PLAIN, 0);
			told(&f, STANDARD_SEMAPHORE);
		}
		for (unsigned i = 1; i < (always_all ? 4 : 3); i++)
			futexes_wake(&f, 0, round % 4, now_ns += 1000);
		now_ns += 10000000;
	}
	class = futex_judge(&f.all.data[0]).class;
	futexes_release(&f);
	return class;
}

static void a_semaphore_that_lets_all_try(void **state)
{
	assert_int_equal(released_to_all(false), FUTEX_LOCK);
	assert_int_equal(released_to_all(true), FUTEX_CONDITION);
}

/* One thread hands out, others take. */
static void a_semaphore_that_counts_work(void **state)
{
	struct futexes f = { 0 };

	for (unsigned i = 0; i < 40; i++) {
		wait_on(&f, 1 + i % 3, PLAIN, 0);
		told(&f, STANDARD_SEMAPHORE);
		wake(&f, 0);
	}
	is_word(&f, FUTEX_CONDITION, 0.9);
}

/* A future's futex has a state as a lock's has, and several may wait for it. */
static void a_result_is_no_lock(void **state)
{
	struct futexes f = { 0 };

	for (unsigned i = 0; i < 40; i++) {
		wait_on(&f, 1 + i % 3, PLAIN, 0x80000000);
		told(&f, STANDARD_RESULT);
		wake(&f, 0);
	}
	is_word(&f, FUTEX_CONDITION, 1);
}

/* Without a name, or as a condition, that may be work that workers hand to each other as well. */
static void what_is_taken_and_given_may_be_either(void **state)
{
	struct futexes f = { 0 };

	take_and_give(&f, STANDARD_NONE);
	assert_true(futex_judge(&f.all.data[0]).either);
	is_word(&f, FUTEX_LOCK, 0.6);
	f = (struct futexes){ 0 };
	take_and_give(&f, STANDARD_CONDITION);
	assert_true(futex_judge(&f.all.data[0]).either);
	is_word(&f, FUTEX_CONDITION, 0.7);
}

/* Condition's waiters queue for its mutex too, with the stack of the condition's function. */
/* Two that meet, in any order: all are released, as the last to arrive does; not one. */
static void a_condition_that_two_meet_at(void **state)
{
	static const struct {
		enum standard_release release;
		enum futex_class class;
	} cases[] = { { RELEASE_ALL, FUTEX_BARRIER },
		      { RELEASE_ONE, FUTEX_CONDITION },
		      { RELEASE_UNKNOWN, FUTEX_CONDITION } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct futexes f = { 0 };

		for (unsigned round = 0; round < 20; round++) {
			uint32_t first = round / 2 % 2; /* twice the one, twice the other */

			wait_on(&f, first, BITSET, 0);
			told(&f, STANDARD_CONDITION);
			wake(&f, !first);
			futexes_released_by(&f, 0, cases[i].release);
		}
		is_word(&f, cases[i].class, 0.5);
	}
}

/* A condition whose waiters are all told, but never all wait: workers that tell of new work. */
static void a_condition_that_all_are_told_of(void **state)
{
	struct futexes f = { 0 };

	for (unsigned round = 0; round < 40; round++) {
		wait_on(&f, round % 8, BITSET, 0);
		told(&f, STANDARD_CONDITION);
		wake(&f, (round + 3) % 8);
		futexes_released_by(&f, 0, RELEASE_ALL);
	}
	is_word(&f, FUTEX_LOCK, 0.5);
}

static void a_mutex_of_a_condition(void **state)
{
	struct futexes f = { 0 };

	for (unsigned i = 0; i < 30; i++) {
		wait_on(&f, i % 3, PLAIN, 2);
		wake(&f, (i + 1) % 3);
	}
	told(&f, STANDARD_CONDITION);
	is_word(&f, FUTEX_LOCK, 0.9);
}

/* A thread sleeps at a word of its own, with what locks are waited for with, until it is let go on
 * from elsewhere, as in TBB's bounded queue. */
static void a_condition_of_one_thread_s_own(void **state)
{
	struct futexes f = { 0 };

	for (unsigned i = 0; i < 20; i++) {
		wait_on(&f, 1, PLAIN, 2);
		told(&f, STANDARD_CONDITION);
		wake(&f, 2);
	}
	is_word(&f, FUTEX_CONDITION, 0.9);
}

/* seen: another place of the library is in a loop around a pause. */
static bool spins_among(bool seen, const char *machine, bool pauses, const char *object,
			const char *symbol)
{
	static const uint32_t frames[] = { 0 };
	const struct meta_stack stack = { .n_frames = 1, .frames = frames };
	struct meta meta = { .session = { .machine = machine } };
	bool is;

	*vec_add(&meta.frames) = (struct meta_frame){
		.symbol = symbol, .object = object, .file = "", .calls = "", .spins = pauses
	};
	*vec_add(&meta.frames) = (struct meta_frame){
		.symbol = "", .object = object, .file = "", .calls = "", .spins = seen
	};
	is = standard_spins(&meta, &stack);
	vec_release(&meta.frames);
	return is;
}

static bool spins_on(const char *machine, bool pauses, const char *object, const char *symbol)
{
	return spins_among(true, machine, pauses, object, symbol);
}

static bool spins(const char *object, const char *symbol)
{
	return spins_on(NULL, false, object, symbol);
}

/* Where GNU's library pauses when it waits, what does not pause works. */
static void code_tells_where_openmp_waits(void **state)
{
	assert_true(spins_on("x86_64", true, "/lib/libgomp.so.1", ""));
	assert_false(spins_on("x86_64", false, "/lib/libgomp.so.1", ""));
	assert_true(spins_on("x86_64", true, "/lib/libgomp.so.1", "GOMP_taskwait"));
	assert_false(spins_on("x86_64", false, "/lib/libgomp.so.1", "GOMP_taskwait"));
	assert_true(spins_on("x86_64", false, "/lib/libgomp.so.1", "GOMP_barrier"));
	/* no loop of it was found, or none was looked for */
	assert_true(spins_among(false, "x86_64", false, "/lib/libgomp.so.1", ""));
	assert_true(spins_among(false, "x86_64", false, "/lib/libgomp.so.1", "GOMP_taskwait"));
	assert_true(spins_on("x86_64", false, "/lib/libomp.so.5", ""));
	assert_true(spins_on("aarch64", false, "/lib/libgomp.so.1", ""));
}

/* Who gives up the CPU tries again; OpenMP's library runs in order to wait; a mutex does not. */
static void functions_that_wait_without_sleeping(void **state)
{
	const struct meta_frame gomp = { .symbol = "", .object = "/lib/libgomp.so.1" };
	const struct meta_frame critical = { .symbol = "GOMP_critical_start",
					     .object = "/lib/libgomp.so.1" };
	const struct meta_frame waits = { .symbol = "do_wait", .object = "/lib/libgomp.so.1" };
	const struct meta_frame loop = { .symbol = "GOMP_loop_dynamic_next",
					 .object = "/lib/libgomp.so.1" };

	assert_true(spins("/lib/libc.so.6", "__sched_yield"));
	assert_true(spins("/lib/libc.so.6", "pthread_spin_lock"));
	assert_true(spins("/lib/libgomp.so.1", ""));
	assert_false(spins("/lib/libc.so.6", "pthread_mutex_lock"));
	assert_false(spins("/usr/bin/app", "sched_yield"));
	assert_true(spins("/lib/libgomp.so.1", "do_wait"));
	assert_true(spins("/lib/libgomp.so.1", "gomp_mutex_lock_slow"));
	assert_true(spins("/lib/libomp.so.5", "__kmp_acquire_queuing_lock"));
	assert_true(spins("/lib/libomp.so.5", "kmp_flag_64<false, true>::wait(kmp_info*, int)"));
	assert_false(spins("/lib/libgomp.so.1", "GOMP_loop_dynamic_next"));
	assert_false(spins("/lib/libgomp.so.1", "gomp_malloc"));
	assert_false(spins("/lib/libomp.so.5", "__kmpc_dispatch_next_4"));
	assert_true(standard_spins_somewhere(&gomp));
	assert_true(standard_spins_somewhere(&waits));
	assert_false(standard_spins_somewhere(&loop));
	assert_false(standard_spins_somewhere(&critical));
}

/* A thread whose innermost function waits for a condition may wait there for the condition's mutex.
 */
static void a_mutex_is_known_as_a_conditions(void **state)
{
	static const struct {
		const char *callee, *calls;
		bool expected;
	} rows[] = {
		{ "__pthread_cond_wait", "", true },
		{ "", "pthread_cond_wait", true },
		{ "pthread_mutex_lock", "", false },
		{ "", "pthread_mutex_lock", false },
	};
	static const uint32_t frames[] = { 0, 1, 2 };
	const struct meta_stack stack = { .n_frames = 3, .frames = frames };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct meta_frame all[] = {
			{ .symbol = "__lll_lock_wait", .object = "/lib/libc.so.6", .calls = "" },
			{ .symbol = rows[i].callee, .object = "/lib/libc.so.6", .calls = "" },
			{ .symbol = "work", .object = "/usr/bin/app", .calls = rows[i].calls },
		};
		struct meta meta = { 0 };

		for (size_t k = 0; k < 3; k++)
			*vec_add(&meta.frames) = all[k];
		assert_int_equal(standard_condition_in(&meta, &stack), rows[i].expected);
		vec_release(&meta.frames);
	}
}

/* Of a library without names, what the program calls there is known. */
static void openmp_without_names_is_told_by_the_call(void **state)
{
	static const char *const calls[] = { "GOMP_critical_start", "GOMP_loop_dynamic_next", "" };
	static const bool expected[] = { true, false, true };
	static const uint32_t frames[] = { 0, 0, 1 };
	const struct meta_stack stack = { .n_frames = 3, .frames = frames };
	struct meta meta = { 0 };

	for (unsigned i = 0; i < 2; i++)
		*vec_add(&meta.frames) =
			(struct meta_frame){ .symbol = i ? "work" : "",
					     .object = i ? "/usr/bin/app" : "/lib/libgomp.so.1",
					     .file = "",
					     .calls = "" };
	for (unsigned i = 0; i < 3; i++) {
		meta.frames.data[1].calls = calls[i];
		assert_int_equal(standard_spins(&meta, &stack), expected[i]);
	}
	vec_release(&meta.frames);
}

/* A program's frame above one of the C library that waits: whether it takes an interpreter's lock.
 */
static void interpreters_are_known_by_their_files(void **state)
{
	static const struct {
		const char *waits, *object, *symbol, *calls;
		enum standard_language language;
	} rows[] = {
		{ "pthread_cond_timedwait", "/usr/bin/python3.11", "take_gil", "",
		  LANGUAGE_PYTHON },
		{ "pthread_cond_timedwait", "/usr/lib/libpython3.11.so.1.0", "", "",
		  LANGUAGE_PYTHON },
		{ "", "/usr/bin/python3.11", "", "pthread_cond_timedwait", LANGUAGE_PYTHON },
		{ "sem_clockwait", "/usr/bin/python3.11", "PyThread_acquire_lock_timed", "",
		  LANGUAGE_NONE },
		{ "pthread_cond_wait", "/usr/lib/python3/numpy/core.so", "take_gil", "",
		  LANGUAGE_NONE },
		{ "pthread_cond_wait", "/usr/bin/app", "take_gil", "", LANGUAGE_NONE },
		{ "pthread_cond_wait", "/opt/pythonic-server", "run", "", LANGUAGE_NONE },
		{ "pthread_cond_wait", "/usr/lib/libruby-3.1.so.3.1", "rb_native_cond_wait", "",
		  LANGUAGE_NONE },
		{ "pthread_cond_wait", "/usr/lib/libruby-3.1.so.3.1", "gvl_acquire_common", "",
		  LANGUAGE_RUBY },
		{ "pthread_cond_timedwait", "/usr/lib/libruby-3.1.so.3.1",
		  "rb_threadptr_execute_interrupts", "", LANGUAGE_RUBY },
		{ "nanosleep", "/usr/lib/libruby-3.1.so.3.1", "rb_nogvl", "", LANGUAGE_NONE },
		{ "pthread_cond_wait", "/home/me/a.out", "st_masterlock_acquire", "",
		  LANGUAGE_OCAML },
		{ "pthread_cond_wait", "/home/me/a.out", "caml_thread_yield", "", LANGUAGE_OCAML },
		{ "pthread_cond_wait", "/home/me/a.out", "caml_condition_wait", "", LANGUAGE_NONE },
	};
	static const uint32_t frames[] = { 0, 1 };
	const struct meta_stack stack = { .n_frames = 2, .frames = frames };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct meta meta = { 0 };

		*vec_add(&meta.frames) = (struct meta_frame){
			.symbol = rows[i].waits, .object = "/lib/libc.so.6", .file = "", .calls = ""
		};
		*vec_add(&meta.frames) = (struct meta_frame){ .symbol = rows[i].symbol,
							      .object = rows[i].object,
							      .file = "",
							      .calls = rows[i].calls };
		assert_int_equal(standard_interpreter_in(&meta, &stack), rows[i].language);
		assert_int_equal(standard_wait_in(&meta, &stack) == STANDARD_INTERPRETER,
				 rows[i].language != LANGUAGE_NONE);
		vec_release(&meta.frames);
	}
}

/* The C library's frames, and the program's above them: whose lock it is that a thread sleeps at.
 */
static void locks_of_the_library(void **state)
{
	static const struct {
		const char *inner, *outer, *calls;
		enum inside_lock lock;
	} rows[] = {
		{ "__lll_lock_wait_private", "malloc", "malloc", INSIDE_MALLOC },
		{ "__lll_lock_wait_private", "_int_free", "free", INSIDE_MALLOC },
		{ "__lll_lock_wait_private", "malloc_trim", "", INSIDE_MALLOC },
		{ "__lll_lock_wait_private", "random", "", INSIDE_RANDOM },
		{ "__lll_lock_wait_private", "__vfprintf_internal", "fprintf", INSIDE_STDIO },
		{ "pthread_mutex_lock", "dlopen", "dlopen", INSIDE_LOADER },
		{ "__lll_lock_wait_private", "getenv", "getenv", INSIDE_OTHER },
		{ "__lll_lock_wait_private", "getpwnam", "getpwnam", INSIDE_OTHER },
		{ "__lll_lock_wait_private", "getchar", "getchar", INSIDE_STDIO },
		{ "__lll_lock_wait_private", "tzset", "localtime_r", INSIDE_OTHER },
		{ "futex_wait", "__pthread_once_slow", "pthread_once", INSIDE_ONCE },
		{ "futex_wait", "___pthread_cond_wait", "std::condition_variable::wait",
		  INSIDE_NONE },
		{ "futex_wait", "", "std::mutex::lock()", INSIDE_NONE },
		{ "__lll_lock_wait", "pthread_mutex_lock", "pthread_mutex_lock", INSIDE_NONE },
		{ "__lll_lock_wait", "___pthread_mutex_lock", "", INSIDE_NONE },
		{ "syscall", "syscall", "syscall", INSIDE_NONE },
		{ "", "", "", INSIDE_NONE },
	};
	static const uint32_t frames[] = { 0, 1, 2 };
	const struct meta_stack stack = { .n_frames = 3, .frames = frames };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct meta meta = { 0 };

		*vec_add(&meta.frames) = (struct meta_frame){ .symbol = rows[i].inner,
							      .object = "/lib/libc.so.6",
							      .calls = "" };
		*vec_add(&meta.frames) =
			(struct meta_frame){ .symbol = rows[i].outer,
					     .object = i == 5 ? "/lib64/ld-linux-x86-64.so.2"
							      : "/lib/libc.so.6",
					     .calls = "" };
		*vec_add(&meta.frames) = (struct meta_frame){ .symbol = "f",
							      .object = "/bin/app",
							      .calls = rows[i].calls };
		assert_int_equal(inside_lock_of(&meta, &stack), rows[i].lock);
		vec_release(&meta.frames);
	}
}

static void functions_count_in_their_own_library(void **state)
{
	static const char libc[] = "/lib/x86_64-linux-gnu/libc.so.6";

	assert_int_equal(standard_wait_of(libc, "pthread_barrier_wait"), STANDARD_BARRIER);
	assert_int_equal(standard_wait_of(libc, "__GI___pthread_mutex_lock"), STANDARD_LOCK);
	assert_int_equal(standard_wait_of(libc, "pthread_cond_wait@@GLIBC_2.3.2"),
			 STANDARD_CONDITION);
	assert_int_equal(standard_wait_of(libc, "pthread_mutex_lock_all"), STANDARD_NONE);
	assert_int_equal(standard_wait_of("/usr/bin/app",
					  "<std::sys::sync::mutex::futex::Mutex>::lock_contended"),
			 STANDARD_LOCK);
	assert_int_equal(
		standard_wait_of("/usr/bin/app", "std::sys::unix::locks::futex::Condvar::wait"),
		STANDARD_CONDITION);
	assert_int_equal(standard_wait_of("/usr/bin/app", "app::Mutex::lock"), STANDARD_NONE);
	/* The library of C++ is in part compiled into programs. A task's waits are its own. */
	assert_int_equal(
		standard_wait_of("/usr/bin/app", "std::__future_base::_State_baseV2::wait()"),
		STANDARD_RESULT);
	assert_int_equal(
		standard_wait_of("/usr/bin/app", "std::__future_base::_State_baseV2::_M_do_set"),
		STANDARD_NONE);
	assert_int_equal(
		standard_wait_of("/lib/libstdc++.so.6",
				 "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjj"),
		STANDARD_RESULT);
	assert_int_equal(standard_wait_of("/usr/bin/app", "std::latch::wait() const"),
			 STANDARD_RESULT);
	assert_int_equal(standard_wait_of("/usr/bin/app", "std::barrier<>::arrive_and_wait()"),
			 STANDARD_BARRIER);
	assert_int_equal(standard_wait_of("/usr/bin/app", "std::counting_semaphore<8l>::acquire()"),
			 STANDARD_SEMAPHORE);
	/* A function of which these classes are made may remain where they are inlined. */
	assert_int_equal(
		standard_wait_of("/usr/bin/app",
				 "void std::__atomic_wait_address<std::__barrier_phase_t, X>(X)"),
		STANDARD_BARRIER);
	assert_int_equal(
		standard_wait_of("/usr/bin/app",
				 "void std::__atomic_wait_address_bare<std::__atomic_semaphore::"
				 "_M_acquire()::{lambda()#1}>(int const*)"),
		STANDARD_SEMAPHORE);
	assert_int_equal(standard_wait_of("/usr/bin/app",
					  "void std::__atomic_wait_address<int, X>(int const*)"),
			 STANDARD_NONE);
	assert_int_equal(standard_wait_of("/usr/bin/app", "barrier<>::arrive_and_wait()"),
			 STANDARD_NONE);
	assert_int_equal(standard_wait_of("/lib/libpthread-2.31.so", "pthread_join"), STANDARD_END);
	assert_int_equal(standard_wait_of("/usr/lib/libgomp.so.1.0.0", "GOMP_barrier"),
			 STANDARD_BARRIER);
	assert_int_equal(standard_wait_of("/usr/bin/app", "pthread_barrier_wait"), STANDARD_NONE);
	assert_int_equal(standard_wait_of("/usr/bin/app", "runtime.findRunnable"), STANDARD_WORK);
	assert_int_equal(standard_wait_of("/usr/lib/libgomp.so.1", "pthread_join"), STANDARD_NONE);
	assert_int_equal(standard_wait_of("/usr/lib/libtbb.so.12",
					  "tbb::detail::r1::wait_bounded_queue_monitor(tbb::x*)"),
			 STANDARD_CONDITION);
	assert_int_equal(
		standard_wait_of("/usr/lib/libtbb.so.12",
				 "_ZN3tbb6detail2r115wait_on_addressEPvRNS0_2d113delegate_baseEm"),
		STANDARD_LOCK);
}

/* In a stripped library the function is known by what its caller calls. What a function of the
 * program does for a library's function, as for the one that begins a parallel region, is no wait
 * of that. */
static void a_stack_s_innermost_one_counts(void **state)
{
	struct meta meta = { 0 };
	const uint32_t frames[] = { 0, 1, 2 };
	const struct meta_stack stack = { .n_frames = 3, .frames = frames };

	*vec_add(&meta.frames) = (struct meta_frame){
		.symbol = "", .object = "/lib/libc.so.6", .file = "", .calls = ""
	};
	*vec_add(&meta.frames) = (struct meta_frame){ .symbol = "pop",
						      .object = "/usr/lib/libqueue.so",
						      .file = "",
						      .calls = "pthread_cond_wait" };
	*vec_add(&meta.frames) = (struct meta_frame){
		.symbol = "GOMP_parallel", .object = "/lib/libgomp.so.1", .file = "", .calls = ""
	};
	assert_int_equal(standard_wait_in(&meta, &stack), STANDARD_CONDITION);
	meta.frames.data[0].object = "/usr/lib/libown.so";
	assert_int_equal(standard_wait_in(&meta, &stack), STANDARD_NONE);
	meta.frames.data[1] = (struct meta_frame){
		.symbol = "", .object = "/lib/libgomp.so.1", .file = "", .calls = ""
	};
	meta.frames.data[0] = meta.frames.data[1];
	assert_int_equal(standard_wait_in(&meta, &stack), STANDARD_BARRIER);
	vec_release(&meta.frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mutex),
		cmocka_unit_test(a_mutex_that_only_one_thread_waits_for),
		cmocka_unit_test(locks_that_say_so),
		cmocka_unit_test(a_condition),
		cmocka_unit_test(a_condition_that_counts),
		cmocka_unit_test(a_lock_made_of_a_condition),
		cmocka_unit_test(a_thread_s_end),
		cmocka_unit_test(barriers),
		cmocka_unit_test(a_barrier_of_two),
		cmocka_unit_test(a_reader_writer_lock),
		cmocka_unit_test(what_standard_functions_say_goes_first),
		cmocka_unit_test(a_condition_that_is_handed_to_and_fro),
		cmocka_unit_test(a_condition_that_three_take_in_turn),
		cmocka_unit_test(a_semaphore_that_is_a_lock),
		cmocka_unit_test(a_semaphore_that_lets_all_try),
		cmocka_unit_test(a_semaphore_that_counts_work),
		cmocka_unit_test(a_result_is_no_lock),
		cmocka_unit_test(what_is_taken_and_given_may_be_either),
		cmocka_unit_test(a_condition_that_waiters_give_back),
		cmocka_unit_test(a_condition_that_gathers),
		cmocka_unit_test(a_condition_that_two_meet_at),
		cmocka_unit_test(a_condition_that_all_are_told_of),
		cmocka_unit_test(a_mutex_of_a_condition),
		cmocka_unit_test(a_condition_of_one_thread_s_own),
		cmocka_unit_test(interpreters_are_known_by_their_files),
		cmocka_unit_test(locks_of_the_library),
		cmocka_unit_test(functions_count_in_their_own_library),
		cmocka_unit_test(functions_that_wait_without_sleeping),
		cmocka_unit_test(code_tells_where_openmp_waits),
		cmocka_unit_test(a_mutex_is_known_as_a_conditions),
		cmocka_unit_test(openmp_without_names_is_told_by_the_call),
		cmocka_unit_test(a_stack_s_innermost_one_counts),
	};

	return unit_run(tests);
}
