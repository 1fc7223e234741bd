/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting along the chain of wakers, and what the sleeps are a cause of. Times in us. */
#include "unit.h"
#include "scene.h"

#include "analysis/cause_kind.h"
#include "analysis/wait.h"
#include "analysis/waker.h"

enum { SERVE, READ, LOCK };
/* No futex here holds such a number by chance. */
#define TID(i) (100 + (i))

enum { FUTEX_PLAIN = 0x8000, FUTEX_BITSET = 0x8900, FUTEX_END = 0x10900 };

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	/* Names that say the opposite of what is done in them. */
	scene_function(s, "serve", 1);
	scene_function(s, "read", 1);
	scene_function(s, "pthread_mutex_lock", 1);
	scene_calibrate(s, 60, 50, 1.0);
	scene_start(s, 0);
	for (uint32_t tid = TID(1); tid <= TID(4); tid++)
		other(s, REC_SWITCH_IN, 1, tid, tid, 0, 0);
}

static void sleep_in(struct scene *s, uint64_t us, uint32_t i, uint32_t kind, uint64_t how,
		     uint64_t what, uint64_t value)
{
	const uint64_t values[] = { kind, 1, what, how, value };
	const uint32_t tid = TID(i);
	const struct record r = { .time_ns = us * 1000,
				  .kind = REC_WAIT,
				  .cpu = tid,
				  .tid = tid,
				  .tgid = 1,
				  .n_values = 5,
				  .values = values };

	other(s, REC_SWITCH_OUT, us * 1000, tid, tid, SWITCH_SLEEPING, 0);
	calls_record(&s->calls, &r);
}

/* waker 0: by an interrupt or timer, as how says */
static void wake_up(struct scene *s, uint64_t us, uint32_t i, uint32_t waker, uint64_t how)
{
	const uint32_t tid = TID(i);

	other(s, REC_WAKING, us * 1000, 1, waker ? TID(waker) : 0, tid, how);
	other(s, REC_SWITCH_IN, us * 1000, tid, tid, 0, 0);
}

static const struct thread *thread(const struct scene *s, uint32_t i)
{
	return threads_alive(&s->calls.threads, TID(i));
}

static void about(uint64_t got_ns, double us)
{
	assert_true(fabs((double)got_ns - us * 1000) <= 0.01 * us * 1000 + 1);
}

static void released_by_a_thread_that_ran(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 30, 1, 2, 0);
	about(thread(&s, 1)->off.blocked_ns, 20);
	about(thread(&s, 1)->off.idle_ns, 0);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* A server thread waits for a request that another reads from a socket: that is work. */
static void the_chain_ends_at_a_socket(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	sleep_in(&s, 10, 3, WAIT_FUTEX, FUTEX_BITSET, 0x30, 0);
	sleep_in(&s, 20, 2, WAIT_SOCKET, 0, 5, 0);
	wake_up(&s, 80, 2, 0, WAKING_BY_INTERRUPT);
	wake_up(&s, 90, 1, 2, 0);
	wake_up(&s, 95, 3, 1, 0);
	about(thread(&s, 2)->off.idle_ns, 60);
	about(thread(&s, 1)->off.idle_ns, 60);
	about(thread(&s, 1)->off.blocked_ns, 20);
	/* and so on along the chain */
	about(thread(&s, 3)->off.idle_ns, 60);
	about(thread(&s, 3)->off.blocked_ns, 25);
	scene_finish(&s, 100000);
	scene_release(&s);
}

static void the_disk_is_not_the_outside(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	sleep_in(&s, 20, 2, WAIT_DISK, WAIT_IOWAIT, 5, 0);
	wake_up(&s, 80, 2, 0, WAKING_BY_INTERRUPT);
	wake_up(&s, 90, 1, 2, 0);
	about(thread(&s, 2)->off.idle_ns, 0);
	about(thread(&s, 1)->off.idle_ns, 0);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* Thread 2 sleeps for a time: those at its condition are idle, those at its lock are not. */
static void a_pause_holds_up_only_who_queues(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	sleep_in(&s, 10, 3, WAIT_FUTEX, FUTEX_PLAIN, 0x20, 2);
	sleep_in(&s, 20, 2, WAIT_SLEEP, 0, 0, 0);
	wake_up(&s, 80, 2, 0, WAKING_BY_TIMER);
	wake_up(&s, 90, 1, 2, 0);
	wake_up(&s, 90, 3, 2, 0);
	about(thread(&s, 2)->off.idle_ns, 60);
	about(thread(&s, 1)->off.idle_ns, 60);
	about(thread(&s, 3)->off.idle_ns, 0);
	about(thread(&s, 3)->off.blocked_ns, 80);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* Looking again every few us is still waiting for the thread that ends it. */
static void timeouts_of_a_wait_for_a_thread(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 20, 1, 0, WAKING_BY_TIMER);
	about(thread(&s, 1)->off.idle_ns, 10);
	sleep_in(&s, 20, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 30, 1, 2, 0);
	sleep_in(&s, 40, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 80, 1, 0, WAKING_BY_TIMER);
	about(thread(&s, 1)->off.idle_ns, 10);
	about(thread(&s, 1)->off.blocked_ns, 50);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* glibc's condition variable lets its waiters change to the word beside. */
static void timeouts_of_a_condition_with_two_words(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	sleep_in(&s, 20, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 30, 1, 2, 0);
	sleep_in(&s, 40, 1, WAIT_FUTEX, FUTEX_BITSET, 0x14, 0);
	wake_up(&s, 80, 1, 0, WAKING_BY_TIMER);
	about(thread(&s, 1)->off.idle_ns, 0);
	sleep_in(&s, 90, 1, WAIT_FUTEX, FUTEX_BITSET, 0x18, 0);
	wake_up(&s, 95, 1, 0, WAKING_BY_TIMER);
	about(thread(&s, 1)->off.idle_ns, 5);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/*
 * The same before the first release. Who releases again and again is whom they waited for, so what
 * that one waited itself decides: thread 2 runs, 3 is at a socket. One release at the end, as of a
 * thread that is told to stop, leaves the sleeps before it to their clock.
 */
static void timeouts_before_the_first_release(void **state)
{
	static const struct {
		uint32_t waker;
		unsigned releases;
		double blocked, idle;
	} cases[] = { { 2, 2, 42, 0 }, { 3, 2, 2, 40 }, { 2, 1, 1, 40 } };

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wait_sums sums = { 0 };
		struct scene s;
		uint64_t us = 20;
		int64_t lost;

		begin(&s);
		sleep_in(&s, 10, 3, WAIT_SOCKET, 0, 5, 0);
		for (unsigned n = 0; n < 4; n++, us += 10) {
			sleep_in(&s, us, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
			wake_up(&s, us + 10, 1, 0, WAKING_BY_TIMER);
			wait_add(&sums, thread(&s, 1), us * 1000 + 10000);
		}
		about(thread(&s, 1)->off.idle_ns, 40);
		assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
		wake_up(&s, us, 3, 0, WAKING_BY_INTERRUPT);
		for (unsigned n = 0; n < cases[i].releases; n++, us += 10) {
			sleep_in(&s, us, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
			wake_up(&s, us + 1, 1, cases[i].waker, 0);
		}
		lost = wait_reconsider(&s.calls.threads, &sums);
		about(thread(&s, 1)->off.idle_ns - (uint64_t)lost, cases[i].idle);
		about(thread(&s, 1)->off.blocked_ns + (uint64_t)lost, cases[i].blocked);
		assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
		vec_release(&sums);
		scene_finish(&s, us * 1000);
		scene_release(&s);
	}
}

/* The waiter has nothing to do until then, whatever the others do. */
static void waiting_for_an_end_is_idle(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_END, 0x990, TID(2));
	sleep_in(&s, 10, 3, WAIT_CHILD, 0, 0, 0);
	wake_up(&s, 60, 1, 2, 0);
	wake_up(&s, 60, 3, 2, 0);
	about(thread(&s, 1)->off.idle_ns, 50);
	about(thread(&s, 1)->off.blocked_ns, 0);
	about(thread(&s, 3)->off.idle_ns, 50);
	/* who waits for the waiter meanwhile waits for the one that runs, along the chain */
	sleep_in(&s, 100, 4, WAIT_FUTEX, FUTEX_PLAIN, 0x20, 2);
	sleep_in(&s, 110, 1, WAIT_FUTEX, FUTEX_END, 0x990, TID(2));
	wake_up(&s, 160, 1, 2, 0);
	wake_up(&s, 170, 4, 1, 0);
	about(thread(&s, 4)->off.blocked_ns, 70);
	scene_finish(&s, 200000);
	scene_release(&s);
}

/*
 * Python's join, C++'s future: a word that threads release before they end. Whoever goes on to work
 * was no such; nor is a lock given up on the way out, nor a queue that is given something by a
 * thread that is there for nothing else.
 */
static void released_as_the_last_act(void **state)
{
	static const struct {
		uint64_t before_us, after_us; /* of running */
		uint32_t operation, value;
		int64_t moved_us;
	} cases[] = { { 2000, 100, FUTEX_BITSET, 0, -50 },
		      { 2000, 5000, FUTEX_BITSET, 0, 0 },
		      { 2000, 100, FUTEX_PLAIN, 2, 0 },
		      { 60, 100, FUTEX_BITSET, 0, 0 } };

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wait_sums sums = { 0 };
		struct scene s;
		uint64_t at_us = cases[i].before_us, end_us = at_us + cases[i].after_us;

		begin(&s);
		sleep_in(&s, at_us - 50, 1, WAIT_FUTEX, cases[i].operation, 0x990, cases[i].value);
		wake_up(&s, at_us, 1, 2, 0);
		wait_add(&sums, thread(&s, 1), at_us * 1000);
		about(thread(&s, 1)->off.blocked_ns, 50);
		/* without a CPU for long: that is no work */
		other(&s, REC_SWITCH_OUT, at_us * 1000 + 10000, TID(2), TID(2), SWITCH_PREEMPTED,
		      9);
		other(&s, REC_SWITCH_IN, at_us * 1000 + 9010000, TID(2), TID(2), 0, 0);
		other(&s, REC_TASK_EXIT, 9000000 + end_us * 1000, TID(2), TID(2), 0, 0);
		assert_int_equal(wait_reconsider(&s.calls.threads, &sums),
				 cases[i].moved_us * 1000);
		assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
		vec_release(&sums);
		scene_finish(&s, 20000000);
		scene_release(&s);
	}
}

/* Nobody releases them: the one at the condition is parked, the one at the lock is stuck. */
static void parked_and_stuck(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	other(&s, REC_WAKING, 5000, 4, TID(4), TID(4), 0); /* the recording has wakeups */
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	sleep_in(&s, 10, 3, WAIT_FUTEX, FUTEX_PLAIN, 0x20, 2);
	sleep_in(&s, 10, 2, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 50000, 2, 0, WAKING_BY_END);
	scene_finish(&s, 100000000);
	about(s.calls.threads.all.data[0]->off.idle_ns, 99990);
	about(s.calls.threads.all.data[1]->off.idle_ns, 49990);
	about(s.calls.threads.all.data[2]->off.blocked_ns, 99990);
	scene_release(&s);
}

/* More sleeps of the releasing thread than its history keeps. */
static void a_long_history(void **state)
{
	struct scene s;
	uint64_t us = 100;

	(void)state;
	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	for (unsigned i = 0; i < 5000; i++, us += 100) {
		sleep_in(&s, us, 2, WAIT_SOCKET, 0, 5, 0);
		wake_up(&s, us + 30, 2, 0, WAKING_BY_INTERRUPT);
	}
	wake_up(&s, us, 1, 2, 0);
	about(thread(&s, 1)->off.idle_ns, 5000 * 30);
	scene_finish(&s, us * 1000);
	scene_release(&s);
}

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
		uint64_t crowded_ns;
		const char *first, *second;
	} cases[] = { { 1000, "as many threads", NULL },
		      { 0, "what else runs", NULL },
		      { 500, "as many threads", "what else runs" } };

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sci_function sums = { .own_off = { .preempted_ns = 1000,
							  .crowded_ns = cases[i].crowded_ns } };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(released_by_a_thread_that_ran),
		cmocka_unit_test(the_chain_ends_at_a_socket),
		cmocka_unit_test(the_disk_is_not_the_outside),
		cmocka_unit_test(a_pause_holds_up_only_who_queues),
		cmocka_unit_test(timeouts_of_a_wait_for_a_thread),
		cmocka_unit_test(timeouts_of_a_condition_with_two_words),
		cmocka_unit_test(timeouts_before_the_first_release),
		cmocka_unit_test(blocks_have_what_was_found_late),
		cmocka_unit_test(waiting_for_an_end_is_idle),
		cmocka_unit_test(released_as_the_last_act),
		cmocka_unit_test(parked_and_stuck),
		cmocka_unit_test(a_long_history),
		cmocka_unit_test(every_kind_has_its_cause),
		cmocka_unit_test(names_are_not_read),
		cmocka_unit_test(advice_depends_on_who_has_the_cpus),
		cmocka_unit_test(idle_is_not_lost),
		cmocka_unit_test(open_calls_have_their_sleep),
	};

	return unit_run(tests);
}
