/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What waiting becomes of a block: its causes, idle or lost. */
#include "analysis/cause/cause.h"
#include "unit.h"
#include "wait_scene.h"

static const struct cause *cause(const struct block *b, const char *kind)
{
	vec_for_each (&b->causes, const struct cause, c)
		if (!strcmp(c->kind, kind))
			return c;
	return NULL;
}

static void sums_add_up(const struct block *b)
{
	double pools = 0, shares = 0;

	for (unsigned p = 0; p < CAUSE_POOLS; p++)
		pools += b->pools[p];
	vec_for_each (&b->causes, const struct cause, c)
		shares += c->share;
	assert_true(fabs(pools - (double)b->excess_ns) <= 0.01 * (double)b->excess_ns);
	assert_true(fabs(shares - 1) <= 0.02);
}

struct spell {
	uint32_t kind;
	uint64_t how, what, value, waking;
	uint32_t waker;
	const char *cause;
};

/* 200 calls of a function: every second sleeps for 100 us. */
static void sleeping_calls(struct scene *s, uint32_t function, const struct spell *spell)
{
	uint64_t us = 100;

	for (unsigned i = 0; i < 200; i++, us += 200) {
		enter(s, us * 1000, TID(1), function, 0x1000);
		if (i % 2) {
			sleep_in(s, us + 1, 1, spell->kind, spell->how, spell->what, spell->value);
			wake_up(s, us + 101, 1, spell->waker, spell->waking);
		}
		leave(s, (us + 1 + i % 2 * 101) * 1000, TID(1), function, 0x1000);
	}
	scene_finish(s, us * 1000);
}

static void every_kind_has_its_cause(void **state)
{
	static const struct spell spells[] = {
		{ WAIT_FUTEX, FUTEX_PLAIN, 0x40, 2, 0, 2, "lock" },
		{ WAIT_FUTEX, FUTEX_BITSET, 0x50, 0, 0, 2, "condition-wait" },
		{ WAIT_FUTEX, FUTEX_BITSET, 0x50, 0, WAKING_BY_TIMER, 0, "sleep" },
		{ WAIT_DISK, WAIT_IOWAIT, 9, 0, WAKING_BY_INTERRUPT, 0, "disk-io" },
		{ WAIT_SOCKET, 0, 9, 0, WAKING_BY_INTERRUPT, 0, "network" },
		{ WAIT_SOCKET, 0, 9, 0, 0, 2, "condition-wait" },
		{ WAIT_PIPE, 0, 9, 0, 0, 2, "pipe" },
		{ WAIT_SLEEP, 0, 0, 0, WAKING_BY_TIMER, 0, "sleep" },
		{ WAIT_PAGE_FAULT, WAIT_IOWAIT, 0, 0, WAKING_BY_INTERRUPT, 0, "page-fault" },
		{ WAIT_PAGE_FAULT, 0, 0, 0, 0, 2, "kernel" },
		{ WAIT_POLL, 0, 0, 0, WAKING_BY_TIMER, 0, "sleep" },
		{ WAIT_POLL, 0, 0, 0, WAKING_BY_INTERRUPT, 0, "network" },
		{ WAIT_POLL, 0, 0, 0, 0, 2, "condition-wait" },
		{ WAIT_CHILD, 0, 0, 0, 0, 2, "condition-wait" },
		{ WAIT_UNKNOWN, 0, 0, 0, 0, 2, "unknown" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(spells) / sizeof(spells[0]); i++) {
		struct scene s;
		const struct block *b;

		begin(&s);
		sleeping_calls(&s, SERVE, &spells[i]);
		b = scene_block(&s, "serve");
		assert_string_equal(b->causes.data[0].kind, spells[i].cause);
		assert_true(b->causes.data[0].share > 0.9);
		assert_true(b->causes.data[0].evidence.n > 0);
		sums_add_up(b);
		scene_release(&s);
	}
}

/* Preempted in pthread_mutex_lock, page faults in read: names mean nothing. */
static void names_are_not_read(void **state)
{
	static const struct spell fault = { WAIT_PAGE_FAULT,	 WAIT_IOWAIT, 0,	   0,
					    WAKING_BY_INTERRUPT, 0,	      "page-fault" };
	struct scene s;
	uint64_t us = 100;

	(void)state;
	begin(&s);
	for (unsigned i = 0; i < 200; i++, us += 200) {
		enter(&s, us * 1000, TID(1), LOCK, 0x1000);
		if (i % 2) {
			other(&s, REC_SWITCH_OUT, (us + 1) * 1000, 1, TID(1), SWITCH_PREEMPTED, 0);
			other(&s, REC_SWITCH_IN, (us + 101) * 1000, 1, TID(1), 0, 0);
		}
		leave(&s, (us + 1 + i % 2 * 101) * 1000, TID(1), LOCK, 0x1000);
	}
	scene_finish(&s, us * 1000);
	assert_string_equal(scene_block(&s, "pthread_mutex_lock")->causes.data[0].kind, "cpu-wait");
	assert_null(cause(scene_block(&s, "pthread_mutex_lock"), "lock"));
	sums_add_up(scene_block(&s, "pthread_mutex_lock"));
	scene_release(&s);
	begin(&s);
	sleeping_calls(&s, READ, &fault);
	assert_string_equal(scene_block(&s, "read")->causes.data[0].kind, "page-fault");
	scene_release(&s);
}

/* They look like idle at first, and their block gets them back. */
static void blocks_have_what_was_found_late(void **state)
{
	const struct block *b;
	struct scene s;
	uint64_t us = 100;

	(void)state;
	begin(&s);
	for (unsigned i = 0; i < 200; i++, us += 200) {
		enter(&s, us * 1000, TID(1), SERVE, 0x1000);
		if (i % 2) {
			sleep_in(&s, us + 1, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
			wake_up(&s, us + 101, 1, i > 150 ? 2 : 0, i > 150 ? 0 : WAKING_BY_TIMER);
		}
		leave(&s, (us + 1 + i % 2 * 101) * 1000, TID(1), SERVE, 0x1000);
	}
	scene_finish(&s, us * 1000);
	b = scene_block(&s, "serve");
	assert_int_equal(b->verdict, VERDICT_INTERFERENCE);
	assert_string_equal(b->causes.data[0].kind, "condition-wait");
	assert_true(b->causes.data[0].share > 0.95);
	assert_true(b->pools[POOL_IDLE] < 1);
	sums_add_up(b);
	scene_release(&s);
}

/* Fewer threads do not help where other programs have the CPUs; where it is both, both are said. */
static void advice_depends_on_who_has_the_cpus(void **state)
{
	static const struct {
		uint64_t oversubscribed_ns;
		const char *first, *second;
	} cases[] = { { 1000, "no more threads", NULL },
		      { 0, "what else uses", NULL },
		      { 500, "no more threads", "what else uses" } };

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sci_function sums = { .own_off = { .preempted_ns = 1000,
							  .oversubscribed_ns =
								  cases[i].oversubscribed_ns } };
		struct meta meta = { .session.cpus = 2 };
		struct threads threads = { .meta = &meta };
		struct block b = { .sums = &sums, .all_threads = &threads };
		const char *second = cause_advice(&b, "cpu-wait", 1);

		assert_non_null(strstr(cause_advice(&b, "cpu-wait", 0), cases[i].first));
		assert_int_equal(second == NULL, cases[i].second == NULL);
		if (second)
			assert_non_null(strstr(second, cases[i].second));
	}
}

/* A lock is shortened or sharded; a semaphore may as well admit more threads. */
static void a_semaphore_has_its_own_advice(void **state)
{
	static const struct spell spell = { WAIT_FUTEX, FUTEX_PLAIN, 0x40, 2, 0, 2, "lock" };
	struct scene s;
	const struct block *b;

	(void)state;
	begin(&s);
	sleeping_calls(&s, SERVE, &spell);
	b = scene_block(&s, "serve");
	assert_null(cause_advice(b, "lock", 1));
	vec_for_each (&s.calls.threads.futexes.all, struct futex, word) {
		word->owned = word->waits;
		word->standard[STANDARD_SEMAPHORE] = word->waits;
	}
	assert_non_null(cause_advice(b, "lock", 1));
	assert_non_null(strstr(cause_advice(b, "lock", 1), "admit more"));
	scene_release(&s);
}

/* Whoever writes to a file is not told to map less, nor whoever faults pages to use more files. */
static void advice_depends_on_what_the_kernel_does(void **state)
{
	static const struct {
		uint32_t kind;
		enum argument_class class;
		const char *symbol;
		bool file, map, threads;
		const char *inside; /* it waits in this function */
	} cases[] = { { WAIT_DISK, ARGUMENT_VALUE, "f", true, false, false, NULL },
		      { WAIT_OTHER, ARGUMENT_FD, "f", true, false, false, NULL },
		      { WAIT_PAGE_FAULT, ARGUMENT_FD, "f", false, true, false, NULL },
		      { WAIT_OTHER, ARGUMENT_VALUE, "__munmap", false, true, false, NULL },
		      { WAIT_OTHER, ARGUMENT_VALUE, "pthread_create", false, false, true, NULL },
		      { WAIT_OTHER, ARGUMENT_VALUE, "f", false, false, true, "pthread_create" },
		      { WAIT_OTHER, ARGUMENT_VALUE, "f", false, true, false, "mprotect" },
		      { WAIT_OTHER, ARGUMENT_VALUE, "f", true, true, false, "g" },
		      { WAIT_OTHER, ARGUMENT_VALUE, "munmap_all", true, true, false, NULL },
		      { WAIT_OTHER, ARGUMENT_VALUE, "f", true, true, false, NULL } };

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct meta_argument argument = { .class = cases[i].class };
		struct meta_function f = { .symbol = cases[i].symbol,
					   .arguments = &argument,
					   .n_arguments = 1 };
		struct wait_cell cell = { .kind = cases[i].kind,
					  .end = SLEEP_BY_THREAD,
					  .uninterruptible = true,
					  .sleeps = 1,
					  .ns = 1000 };
		struct wait_sums waits = { .data = &cell, .n = 1 };
		/* every thread's stack begins in clone3() */
		const uint32_t numbers[] = { 0, 1 };
		struct meta_stack stack = { .n_frames = 2, .frames = numbers };
		struct meta_frame frames[] = { { .symbol = cases[i].inside },
					       { .symbol = "clone3" } };
		struct meta meta = { .frames = { .data = frames, .n = 2 },
				     .stacks = { .data = &stack, .n = 1 } };
		struct threads threads = { .meta = &meta };
		struct block b = { .function = &f, .waits = &waits, .all_threads = &threads };
		const char *advice;

		cell.stack = cases[i].inside ? 1 : 0;
		advice = cause_advice(&b, "kernel", 0);

		assert_int_equal(strstr(advice, "file") != NULL, cases[i].file);
		assert_int_equal(strstr(advice, "map") != NULL, cases[i].map);
		assert_int_equal(strstr(advice, "threads") != NULL, cases[i].threads);
		assert_null(cause_advice(&b, "kernel", 1));
	}
}

/* What is idle is not lost, and the two are the whole. */
static void idle_is_not_lost(void **state)
{
	static const struct spell work = { WAIT_SOCKET, 0, 9, 0, WAKING_BY_INTERRUPT, 0, "" };
	struct scene s;
	const struct block *b;

	(void)state;
	begin(&s);
	sleeping_calls(&s, SERVE, &work);
	b = scene_block(&s, "serve");
	assert_int_equal(b->verdict, VERDICT_IDLE);
	assert_true(b->lost_threads < 0.02 * b->idle_threads);
	assert_true(fabs((b->lost_threads + b->idle_threads) * 40100 * 1000 -
			 (double)b->self_excess_ns) <= 0.01 * (double)b->self_excess_ns);
	scene_release(&s);
}

/* A call that sleeps to the end: its time is asleep, not running. */
static void open_calls_have_their_sleep(void **state)
{
	struct scene s;
	const struct block *b;

	(void)state;
	begin(&s);
	for (uint64_t us = 100; us < 100 + 200 * 10; us += 10) {
		enter(&s, us * 1000, TID(1), SERVE, 0x1000);
		leave(&s, us * 1000 + 1000, TID(1), SERVE, 0x1000);
	}
	other(&s, REC_WAKING, 2500000, 4, TID(4), TID(4), 0);
	enter(&s, 3000000, TID(1), SERVE, 0x1000);
	sleep_in(&s, 3001, 1, WAIT_FUTEX, FUTEX_PLAIN, 0x20, 2);
	scene_finish(&s, 900000000);
	b = scene_block(&s, "serve");
	assert_string_equal(b->causes.data[0].kind, "lock");
	assert_true(b->causes.data[0].share > 0.95);
	sums_add_up(b);
	scene_release(&s);
}

/* What is asked of one call of SERVE, in microseconds. */
struct errand {
	bool sleeps, wakes;
	uint64_t ran_us; /* besides 1 */
};

/* It sleeps where LOCK's holder releases it, and releases thread 3, which waits for the same. */
static uint64_t run_errand(struct scene *s, const struct errand *e, uint64_t us)
{
	if (e->wakes)
		sleep_in(s, us, 3, WAIT_FUTEX, FUTEX_PLAIN, 0x40, 2);
	enter(s, us * 1000 + 1, TID(1), SERVE, 0x1000);
	if (e->sleeps) {
		sleep_in(s, us + 1, 1, WAIT_FUTEX, FUTEX_PLAIN, 0x40, 2);
		wake_up(s, us + 21, 1, 2, 0);
		us += 20;
	}
	if (e->wakes)
		wake_up(s, us + 1, 3, 1, 0);
	us += 1 + e->ran_us;
	leave(s, us * 1000 + 1, TID(1), SERVE, 0x1000);
	return us + 100;
}

static const struct block *errands(struct scene *s, const struct errand *all, size_t n)
{
	uint64_t us = 100;

	begin(s);
	for (unsigned i = 0; i < 400; i++)
		us = run_errand(s, &all[i % n], us);
	scene_finish(s, us * 1000);
	return scene_block(s, "serve");
}

/* What a sleep and a wakeup take on a CPU is of the wait; who only wakes others is held up too. */
static void switching_is_of_the_wait(void **state)
{
	static const struct errand both[] = {
		{ false, false, 0 }, { true, false, 5 }, { false, true, 8 }, { true, true, 13 }
	};
	static const struct errand waker[] = { { false, false, 0 }, { false, true, 8 } };
	struct scene s;
	const struct block *b;
	double slept, woke;

	(void)state;
	b = errands(&s, both, 4);
	slept = switching_cost(&b->sums->switching).sleep_ns;
	woke = switching_cost(&b->sums->switching).wake_ns;
	assert_true(fabs(slept - 5000) < 10 && fabs(woke - 8000) < 10);
	assert_true(b->pools[POOL_RUNNING] > 0.2 * (double)b->excess_ns);
	assert_true(cause(b, "lock")->share > 0.99);
	assert_null(cause(b, "unknown"));
	sums_add_up(b);
	scene_release(&s);
	b = errands(&s, waker, 2);
	assert_true(cause(b, "lock")->share > 0.99);
	assert_true(cause(b, "lock")->confidence > 0.5);
	assert_string_equal(cause(b, "lock")->evidence.data[0],
			    "each wakeup of another thread comes with 8us on a CPU");
	sums_add_up(b);
	scene_release(&s);
}

/* More than a switch ever takes is something else that goes with it; chance is nothing. */
static void switching_is_bounded(void **state)
{
	static const struct errand long_way[] = { { false, false, 0 }, { true, false, 400 } };
	static const struct errand chance[] = {
		{ false, false, 0 }, { true, false, 30 }, { false, false, 40 }, { true, false, 12 }
	};
	struct scene s;
	const struct block *b;

	(void)state;
	b = errands(&s, long_way, 2);
	assert_true(switching_cost(&b->sums->switching).sleep_ns <= SWITCHING_NS_MAX);
	assert_string_equal(b->causes.data[0].kind, "unknown");
	assert_true(b->causes.data[0].share > 0.85);
	sums_add_up(b);
	scene_release(&s);
	b = errands(&s, chance, 4);
	assert_true(switching_cost(&b->sums->switching).sleep_ns == 0);
	assert_string_equal(b->causes.data[0].kind, "unknown");
	sums_add_up(b);
	scene_release(&s);
}

/* Whatever a rule names is a row, with a story to tell of it, a name once. */
static void every_rule_names_a_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < cause_rules_n; i++) {
		const struct cause_kind *row = cause_kind_find(cause_rules[i].kind);

		assert_non_null(row);
		assert_non_null(row->story);
	}
	for (size_t i = 0; i < cause_kinds_n; i++)
		assert_ptr_equal(cause_kind_find(cause_kinds[i].kind), &cause_kinds[i]);
	assert_null(cause_kind_find("no such"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_have_what_was_found_late),
		cmocka_unit_test(every_kind_has_its_cause),
		cmocka_unit_test(names_are_not_read),
		cmocka_unit_test(every_rule_names_a_row),
		cmocka_unit_test(advice_depends_on_who_has_the_cpus),
		cmocka_unit_test(a_semaphore_has_its_own_advice),
		cmocka_unit_test(advice_depends_on_what_the_kernel_does),
		cmocka_unit_test(idle_is_not_lost),
		cmocka_unit_test(open_calls_have_their_sleep),
		cmocka_unit_test(switching_is_of_the_wait),
		cmocka_unit_test(switching_is_bounded),
	};

	return unit_run(tests);
}
