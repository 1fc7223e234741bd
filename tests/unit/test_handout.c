/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waits for work that others hand out, and who is held up. Times in us. */
#include "unit.h"
#include "wait_scene.h"

#include "analysis/threads/handout.h"

enum { LOOP = 0x10, LOOP_TWIN = 0x14, DONE = 0x20, MUTEX = 0x30, OWN = 0x40 };

/* Stacks from the wait outwards; all end in the thread's outermost function. */
enum { NEAR = 1, FAR, OUTER, CUT };
static const uint32_t near_frames[] = { 1, 2, 3, 9 };
static const uint32_t far_frames[] = { 1, 2, 3, 4, 5, 6, 7, 8, 3, 9 };
static const uint32_t outer_frames[] = { 3, 9 };
static const uint32_t cut_frames[] = { 1 };

static const char *const names[10] = {
	"", "wait", "take", "work", "a", "b", "c", "d", "e", "begin"
};

static void add_stack(struct scene *s, uint32_t id, const uint32_t *frames, uint32_t n)
{
	while (s->meta.stacks.n <= id)
		*vec_add(&s->meta.stacks) = (struct meta_stack){ 0 };
	s->meta.stacks.data[id] = (struct meta_stack){ .id = id, .n_frames = n, .frames = frames };
}

static void begin_stacks(struct scene *s)
{
	begin(s);
	add_stack(s, NEAR, near_frames, 4);
	add_stack(s, FAR, far_frames, 10);
	add_stack(s, OUTER, outer_frames, 2);
	add_stack(s, CUT, cut_frames, 1);
	for (uint32_t i = 0; i < 10; i++)
		*vec_add(&s->meta.frames) = (struct meta_frame){
			.object = "/bin/app", .symbol = names[i], .file = "", .calls = ""
		};
}

static void end_stacks(struct scene *s)
{
	vec_release(&s->meta.stacks);
	vec_release(&s->meta.frames);
	scene_release(s);
}

static void sleep_at(struct scene *s, uint64_t us, uint32_t i, uint64_t word, uint32_t stack)
{
	uint64_t value = word == MUTEX ? 2 : us; /* a lock's state, a condition's count */

	sleep_in(s, us, i, WAIT_FUTEX, word == MUTEX ? FUTEX_PLAIN : FUTEX_BITSET, word, value);
	other(s, REC_BLOCK_STACK, us * 1000, TID(i), TID(i), stack, 0);
}

static enum futex_work work_at(const struct scene *s, uint64_t address)
{
	vec_for_each (&s->calls.threads.futexes.all, const struct futex, word)
		if (word->address == address)
			return word->work;
	return WORK_NONE;
}

static void finish(struct scene *s, uint64_t us)
{
	scene_finish(s, us * 1000);
}

/* Workers 2 and 3 wait for what thread 1 hands out; stack: where they wait. */
static uint64_t pool(struct scene *s, uint32_t stack)
{
	uint64_t us = 100;

	for (unsigned round = 0; round < 20; round++, us += 200) {
		sleep_at(s, us, 2, round % 2 ? LOOP : LOOP_TWIN, stack);
		sleep_at(s, us, 3, round % 2 ? LOOP : LOOP_TWIN, stack);
		wake_up(s, us + 100, 2, 1, 0);
		wake_up(s, us + 110, 3, 1, 0);
	}
	return us;
}

static void work_is_handed_out(void **state)
{
	const struct thread *giver;
	struct scene s;
	uint64_t us, waited_ns;

	begin_stacks(&s);
	us = pool(&s, NEAR);
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_HANDED_OUT);
	assert_int_equal(work_at(&s, LOOP_TWIN), WORK_HANDED_OUT);
	giver = handouts_giver(&s.calls.threads, &waited_ns);
	assert_non_null(giver);
	assert_int_equal(giver->tid, TID(1));
	about(waited_ns, 20 * 210);
	end_stacks(&s);
}

/* One that collects what two make waits for neither of them more than for the other. */
static void what_several_make_is_given_by_none(void **state)
{
	const struct thread *giver;
	uint64_t us = 100, waited_ns;
	struct scene s;

	begin_stacks(&s);
	for (unsigned round = 0; round < 20; round++, us += 200) {
		sleep_at(&s, us, 1, LOOP, NEAR);
		wake_up(&s, us + 100 + round % 5, 1, round % 2 ? 2 : 3, 0);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_HANDED_OUT);
	giver = handouts_giver(&s.calls.threads, &waited_ns);
	assert_null(giver);
	assert_int_equal(waited_ns, 0);
	end_stacks(&s);
}

/* One that collects in order what two make at the same time: it waits for that of thread 2, and
 * then hardly for that of 3. A thread that hardly works itself is no second one. */
static bool is_given_by_one(bool second_sleeps)
{
	const struct thread *giver;
	uint64_t us = 100, waited_ns;
	struct scene s;

	begin_stacks(&s);
	sleep_in(&s, 2, 4, WAIT_POLL, 0, 0, 0);
	for (unsigned round = 0; round < 20; round++, us += 200) {
		sleep_at(&s, us, 1, LOOP, NEAR);
		wake_up(&s, us + 100, 1, 2, 0);
		sleep_at(&s, us + 105, 1, LOOP, NEAR);
		if (second_sleeps && round)
			wake_up(&s, us + 105, 3, 0, WAKING_BY_TIMER);
		wake_up(&s, us + 106, 1, 3, 0);
		if (second_sleeps)
			sleep_in(&s, us + 110, 3, WAIT_SLEEP, 0, 0, 0);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_HANDED_OUT);
	giver = handouts_giver(&s.calls.threads, &waited_ns);
	end_stacks(&s);
	return giver;
}

static void what_two_make_at_the_same_time(void **state)
{
	assert_false(is_given_by_one(false));
	assert_true(is_given_by_one(true));
}

/* A first thread that waits until thread 2 says that the work is done, which 3 and 4 do, too. */
static bool first_waits_for_one(bool others_work)
{
	const struct thread *giver;
	uint64_t us = 100, waited_ns;
	struct scene s;

	begin_stacks(&s);
	for (uint32_t i = 3; i <= 4 && !others_work; i++)
		sleep_in(&s, 2, i, WAIT_POLL, 0, 0, 0);
	for (unsigned round = 0; round < 20; round++, us += 200) {
		sleep_at(&s, us, 1, LOOP, NEAR);
		wake_up(&s, us + 190, 1, 2, 0);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_HANDED_OUT);
	giver = handouts_giver(&s.calls.threads, &waited_ns);
	assert_int_equal(!giver, !waited_ns);
	end_stacks(&s);
	return giver;
}

static void the_work_of_several_that_one_ends(void **state)
{
	assert_false(first_waits_for_one(true));
	assert_true(first_waits_for_one(false));
}

/* One that collects what two make, and tells thread 4 of it whenever a time is over. */
static void one_that_also_waits_for_a_time(void **state)
{
	const struct thread *giver;
	uint64_t us = 100, waited_ns;
	struct wait_sums sums = { 0 };
	struct scene s;

	begin_stacks(&s);
	for (unsigned round = 0; round < 20; round++, us += 300) {
		sleep_at(&s, us, 4, DONE, NEAR);
		sleep_at(&s, us, 1, LOOP, NEAR);
		wake_up(&s, us + 100, 1, round % 2 ? 2 : 3, 0);
		wait_add(&sums, thread(&s, 1), (us + 100) * 1000);
		sleep_at(&s, us + 110, 1, LOOP, NEAR);
		wake_up(&s, us + 210, 1, 0, WAKING_BY_TIMER);
		wake_up(&s, us + 220, 4, 1, 0);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_OR_TIME);
	assert_true(wait_reconsider(&s.calls.threads, &sums) < 0);
	about(sums.data[0].idle_ns, 20 * 100);
	giver = handouts_giver(&s.calls.threads, &waited_ns);
	assert_true(!giver || giver->tid == TID(1));
	vec_release(&sums);
	end_stacks(&s);
}

/* Of such waits nothing is lost, until then all of it was. */
static void such_waits_are_idle(void **state)
{
	struct wait_sums sums = { 0 };
	struct scene s;
	uint64_t us;

	begin_stacks(&s);
	sleep_at(&s, 10, 2, LOOP, NEAR);
	wake_up(&s, 60, 2, 1, 0);
	wait_add(&sums, thread(&s, 2), 60000);
	assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
	us = pool(&s, NEAR);
	finish(&s, us);
	assert_int_equal(wait_reconsider(&s.calls.threads, &sums), -50000);
	assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
	vec_release(&sums);
	end_stacks(&s);
}

/* Threads 2 and 1 release each other: 2 waits at LOOP, and 1 at that futex, with that stack. */
static uint64_t by_turns(struct scene *s, uint64_t word, uint32_t stack)
{
	uint64_t us = 100;

	for (unsigned round = 0; round < 20; round++, us += 200) {
		sleep_at(s, us, 2, LOOP, NEAR);
		wake_up(s, us + 100, 2, 1, 0);
		sleep_at(s, us + 110, 1, word, stack);
		wake_up(s, us + 190, 1, 2, 0);
	}
	return us;
}

/* One that also waits for the workers works in turn with them: that is lost time. */
static void one_that_waits_back(void **state)
{
	struct scene s;

	begin_stacks(&s);
	finish(&s, by_turns(&s, DONE, OUTER));
	assert_int_equal(work_at(&s, LOOP), WORK_IN_TURN);
	end_stacks(&s);
}

/* The futexes of the conditions at which threads say that there is work, and that it is done. */
enum conditions { TWO, ONE, ONE_EACH };

static uint64_t loop_of(enum conditions conditions, uint32_t worker)
{
	return conditions == ONE_EACH ? OWN + 0x10 * worker : LOOP;
}

static uint64_t done_of(enum conditions conditions, uint32_t worker)
{
	return conditions == TWO ? DONE : loop_of(conditions, worker);
}

/* Thread 1 hands out work to 2 and 3, and waits until the last of them is done. */
static uint64_t rounds(struct scene *s, uint64_t between_us, unsigned workers,
		       enum conditions conditions)
{
	uint64_t us = 100;

	for (unsigned round = 0; round < 20; round++, us += 100 + between_us) {
		uint32_t last = workers == 1 ? 2 : round % 2 + 2, first = 5 - last;
		uint32_t next = workers == 1 ? 2 : first;

		if (workers > 1)
			sleep_at(s, us, first, loop_of(conditions, first), NEAR);
		if (round)
			wake_up(s, us + 3, 1, last, 0);
		sleep_at(s, us + 5, last, loop_of(conditions, last), NEAR);
		for (uint32_t i = 2; i < workers + 2; i++)
			wake_up(s, us + between_us + i, i, 1, 0);
		sleep_at(s, us + between_us + 10, 1, done_of(conditions, next), OUTER);
	}
	return us;
}

/* They work instead of it, so that it is idle; the workers wait for the last of them. */
static void one_that_waits_for_results_of_several(void **state)
{
	struct wait_sums sums = { 0 };
	struct scene s;
	uint64_t us;

	begin_stacks(&s);
	us = rounds(&s, 10, 2, TWO);
	wake_up(&s, us, 1, 2, 0);
	wait_add(&sums, thread(&s, 1), us * 1000);
	finish(&s, us);
	assert_int_equal(work_at(&s, DONE), WORK_RESULTS);
	assert_int_equal(work_at(&s, LOOP), WORK_ROUNDS);
	assert_int_equal(wait_reconsider(&s.calls.threads, &sums), -(int64_t)sums.data[0].ns);
	vec_release(&sums);
	end_stacks(&s);
}

/* Returns how much of the latest waits of threads 1 and 2 is idle. */
static void in_rounds(enum conditions conditions, uint64_t *leader_ns, uint64_t *worker_ns)
{
	struct wait_sums sums[2] = { 0 };
	struct scene s;
	uint64_t us;

	begin_stacks(&s);
	us = rounds(&s, 10, 2, conditions);
	wake_up(&s, us, 1, 2, 0);
	wait_add(&sums[0], thread(&s, 1), us * 1000);
	sleep_at(&s, us + 1, 2, loop_of(conditions, 2), NEAR);
	wake_up(&s, us + 3, 2, 1, 0);
	wait_add(&sums[1], thread(&s, 2), (us + 3) * 1000);
	/* as the names of the functions in their stacks say */
	vec_for_each (&s.calls.threads.futexes.all, struct futex, word)
		word->standard[STANDARD_CONDITION] = word->waits;
	finish(&s, us + 10);
	for (unsigned i = 0; i < 2; i++)
		wait_reconsider(&s.calls.threads, &sums[i]);
	assert_int_equal(
		handouts_work(&s.calls.threads, sums[1].data[0].word, sums[1].data[0].place),
		WORK_ROUNDS);
	*leader_ns = sums[0].data[0].idle_ns;
	*worker_ns = sums[1].data[0].idle_ns;
	vec_release(&sums[0]);
	vec_release(&sums[1]);
	end_stacks(&s);
}

/* The same at one condition variable for all, or at one for each worker, in both directions. */
static void one_condition_for_both_sides(void **state)
{
	for (enum conditions c = TWO; c <= ONE_EACH; c++) {
		uint64_t leader_ns, worker_ns;

		in_rounds(c, &leader_ns, &worker_ns);
		assert_int_equal(leader_ns, 90000);
		assert_int_equal(worker_ns, 0);
	}
}

/* Two threads release each other at one condition variable. stack: where one of them waits */
static struct futex_judgement passing_on(uint32_t stack, bool to_all)
{
	struct futex_judgement judgement;
	struct scene s;
	uint64_t us;

	begin_stacks(&s);
	us = by_turns(&s, LOOP, stack);
	vec_for_each (&s.calls.threads.futexes.all, struct futex, word) {
		word->standard[STANDARD_CONDITION] = word->waits;
		word->by_all = to_all ? word->releases : 0;
	}
	finish(&s, us);
	judgement = futex_judge(&s.calls.threads.futexes.all.data[0]);
	end_stacks(&s);
	return judgement;
}

/* A mailbox's two sides wait in functions of their own, a lock's or a barrier's in the same. */
static void a_mailbox_is_no_lock(void **state)
{
	assert_int_equal(passing_on(NEAR, false).class, FUTEX_LOCK);
	assert_int_equal(passing_on(NEAR, true).class, FUTEX_BARRIER);
	for (unsigned to_all = 0; to_all < 2; to_all++) {
		assert_int_equal(passing_on(OUTER, to_all).class, FUTEX_CONDITION);
		assert_false(passing_on(OUTER, to_all).either);
	}
}

/* Threads 2 to 4 work for thread 1 at one condition variable. The last of them broadcasts that all
 * is done: that wakes the others as well, which sleep until then for longer than for work. */
static void a_broadcast_wakes_the_own_side_too(void **state)
{
	uint64_t us = 100;
	struct scene s;

	begin_stacks(&s);
	for (unsigned round = 0; round < 20; round++, us += 100) {
		for (uint32_t i = 2; i <= 4; i++) {
			sleep_at(&s, us + i, i, LOOP, NEAR);
			wake_up(&s, us + 10 + i, i, 1, 0);
		}
		sleep_at(&s, us + 20, 1, LOOP, OUTER);
		for (uint32_t i = 2; i <= 3; i++) {
			sleep_at(&s, us + 20 + i, i, LOOP, NEAR);
			wake_up(&s, us + 80 + i, i, 4, 0);
		}
		wake_up(&s, us + 90, 1, 4, 0);
	}
	vec_for_each (&s.calls.threads.futexes.all, struct futex, word) {
		word->standard[STANDARD_CONDITION] = word->waits;
		word->by_all = word->releases;
	}
	finish(&s, us);
	assert_int_equal(futex_judge(&s.calls.threads.futexes.all.data[0]).class, FUTEX_CONDITION);
	assert_true(s.calls.threads.futexes.all.data[0].has_sides);
	end_stacks(&s);
}

/* One that waits for the results of all at no futex: until the last of them writes to its pipe. */
static void one_that_waits_for_results_at_a_pipe(void **state)
{
	struct wait_sums sums = { 0 };
	uint64_t us = 100;
	struct scene s;

	begin_stacks(&s);
	for (unsigned round = 0; round < 20; round++, us += 110) {
		uint32_t last = round % 2 + 2;

		sleep_at(&s, us, last == 2 ? 3 : 2, LOOP, NEAR);
		if (round)
			wake_up(&s, us + 3, 1, last, 0);
		sleep_at(&s, us + 5, last, LOOP, NEAR);
		wake_up(&s, us + 12, 2, 1, 0);
		wake_up(&s, us + 13, 3, 1, 0);
		sleep_in(&s, us + 20, 1, WAIT_PIPE, 0, 5, 0);
		other(&s, REC_BLOCK_STACK, us * 1000 + 20000, TID(1), TID(1), FAR, 0);
		sleep_in(&s, us + 30, 4, WAIT_PIPE, 0, 5, 0);
		other(&s, REC_BLOCK_STACK, us * 1000 + 30000, TID(4), TID(4), OUTER, 0);
		wake_up(&s, us + 80, 4, 5, 0);
		wait_add(&sums, thread(&s, 4), (us + 80) * 1000);
	}
	wake_up(&s, us, 1, 2, 0);
	wait_add(&sums, thread(&s, 1), us * 1000);
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_ROUNDS);
	/* of all waits at pipes, only those in its place */
	assert_int_equal(sums.n, 2);
	assert_int_equal(wait_reconsider(&s.calls.threads, &sums), -(int64_t)sums.data[1].ns);
	assert_int_equal(sums.data[0].idle_ns, 0);
	vec_release(&sums);
	end_stacks(&s);
}

/* Not of a single one: these two work in turn. Nor does it wait most where it works itself. */
static void one_that_does_not_await_several(void **state)
{
	struct scene s;

	begin_stacks(&s);
	finish(&s, rounds(&s, 30, 1, TWO));
	assert_int_equal(work_at(&s, DONE), WORK_IN_TURN);
	assert_int_equal(work_at(&s, LOOP), WORK_IN_TURN);
	end_stacks(&s);
	begin_stacks(&s);
	finish(&s, rounds(&s, 300, 2, TWO));
	assert_int_equal(work_at(&s, DONE), WORK_IN_TURN);
	assert_int_equal(work_at(&s, LOOP), WORK_IN_TURN);
	end_stacks(&s);
}

/* A pool with little to do, whose giver waits for one of it now and then, as where its queue is
 * full: it hands out work, whatever the pool's many threads wait in all. */
static void a_pool_that_its_giver_seldom_waits_for(void **state)
{
	struct scene s;
	uint64_t us = 100;

	begin_stacks(&s);
	for (uint32_t tid = 2; tid < 10; tid++)
		sleep_at(&s, 50 + tid, tid, LOOP, NEAR);
	for (uint32_t round = 0; round < 80; round++, us += 100) {
		uint32_t tid = 2 + round % 8;

		wake_up(&s, us + 4, tid, 1, 0);
		sleep_at(&s, us + 6, 1, DONE, OUTER);
		wake_up(&s, us + 18, 1, tid, 0);
		sleep_at(&s, us + 20, tid, LOOP, NEAR);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_HANDED_OUT);
	end_stacks(&s);
}

/* It waits for both, one after the other, though they are done together: for the first one most. */
static void one_that_waits_for_the_first_most(void **state)
{
	struct scene s;
	uint64_t us = 100;

	begin_stacks(&s);
	for (unsigned round = 0; round < 20; round++, us += 100) {
		sleep_at(&s, us, 2, LOOP, NEAR);
		sleep_at(&s, us + 1, 3, LOOP_TWIN, NEAR);
		wake_up(&s, us + 4, 2, 1, 0);
		wake_up(&s, us + 5, 3, 1, 0);
		sleep_at(&s, us + 6, 1, DONE, OUTER);
		wake_up(&s, us + 98, 1, 2, 0);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, DONE), WORK_RESULTS);
	end_stacks(&s);
}

/* Nor where it asks one of two after the other: only one of the three works at a time. */
static void one_that_asks_one_after_the_other(void **state)
{
	struct scene s;
	uint64_t us = 100;

	begin_stacks(&s);
	sleep_at(&s, 50, 2, LOOP, NEAR);
	sleep_at(&s, 51, 3, LOOP, NEAR);
	for (unsigned round = 0; round < 40; round++, us += 100) {
		uint32_t asked = round % 2 + 2;

		wake_up(&s, us, asked, 1, 0);
		sleep_at(&s, us + 1, 1, DONE, OUTER);
		wake_up(&s, us + 90, 1, asked, 0);
		sleep_at(&s, us + 91, asked, LOOP, NEAR);
	}
	finish(&s, us);
	assert_int_not_equal(work_at(&s, DONE), WORK_RESULTS);
	assert_int_not_equal(work_at(&s, LOOP), WORK_ROUNDS);
	end_stacks(&s);
}

/* A queue's mutex that a worker holds for a moment is another matter. */
static void one_that_waits_for_their_lock(void **state)
{
	struct scene s;
	uint64_t us = 100;

	begin_stacks(&s);
	for (unsigned round = 0; round < 20; round++, us += 200) {
		sleep_at(&s, us, 2, LOOP, NEAR);
		wake_up(&s, us + 100, 2, 1, 0);
		sleep_at(&s, us + 110, 1, MUTEX, OUTER);
		wake_up(&s, us + 150, 1, 2, 0);
		sleep_at(&s, us + 151, 2, MUTEX, NEAR);
		wake_up(&s, us + 152, 2, 1, 0);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_HANDED_OUT);
	end_stacks(&s);
}

/* Further inside of what a thread does, it is in the middle of something: a row is locked. */
static void deep_inside(void **state)
{
	struct scene s;
	uint64_t us;

	begin_stacks(&s);
	for (uint32_t i = 2; i <= 3; i++) { /* waits for a request, in its loop */
		sleep_in(&s, 10, i, WAIT_SOCKET, 0, 5, 0);
		other(&s, REC_BLOCK_STACK, 10000, TID(i), TID(i), OUTER, 0);
		wake_up(&s, 20, i, 0, WAKING_BY_INTERRUPT);
	}
	us = pool(&s, FAR);
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_NONE);
	end_stacks(&s);
}

/* Nor is anything said of waits whose stacks do not reach the thread's begin. */
static void without_whole_stacks(void **state)
{
	struct scene s;
	uint64_t us, waited_ns;

	begin_stacks(&s);
	for (uint32_t i = 2; i <= 3; i++) {
		sleep_at(&s, 10, i, DONE, FAR);
		wake_up(&s, 20, i, 4, 0);
	}
	us = pool(&s, CUT);
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_NONE);
	handouts_giver(&s.calls.threads, &waited_ns);
	assert_true(waited_ns < 100000);
	end_stacks(&s);
}

/* Two that release each other share something, whoever else is there. */
static void those_who_wait_release_each_other(void **state)
{
	struct scene s;
	uint64_t us = 100;

	begin_stacks(&s);
	for (unsigned round = 0; round < 20; round++, us += 200) {
		uint32_t one = round % 2 ? 2 : 3;

		sleep_at(&s, us, one, LOOP, NEAR);
		wake_up(&s, us + 100, one, one == 2 ? 3 : 2, 0);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_NONE);
	end_stacks(&s);
}

/* Each at a futex of its own, of whom the last to arrive lets the others go on. */
static void those_who_gather(void **state)
{
	static const uint64_t words[] = { 0, LOOP, DONE, OWN };
	struct scene s;
	uint64_t us = 100;

	begin_stacks(&s);
	for (unsigned round = 0; round < 21; round++, us += 200) {
		uint32_t last = round % 3 + 1, first = (round + 1) % 3 + 1,
			 second = (round + 2) % 3 + 1;

		sleep_at(&s, us, first, words[first], NEAR);
		sleep_at(&s, us + 20, second, words[second], NEAR);
		wake_up(&s, us + 90, first, last, 0);
		wake_up(&s, us + 95, second, last, 0);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_GATHER);
	assert_int_equal(work_at(&s, OWN), WORK_GATHER);
	end_stacks(&s);
}

/* A leader that lets go on only those whose work it has done, as of a log: no barrier. */
static void those_who_are_led(void **state)
{
	static const uint64_t words[] = { 0, LOOP, DONE, OWN, OWN + 0x10, OWN + 0x20 };
	struct scene s;
	uint64_t us = 100;

	begin_stacks(&s);
	for (unsigned round = 0; round < 40; round++, us += 200) {
		uint32_t leader = round % 5 + 1;

		for (uint32_t i = 1; i < 3; i++)
			sleep_at(&s, us + i, (leader - 1 + i) % 5 + 1,
				 words[(leader - 1 + i) % 5 + 1], NEAR);
		for (uint32_t i = 1; i < 3; i++)
			wake_up(&s, us + 90 + i, (leader - 1 + i) % 5 + 1, leader, 0);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_QUEUE);
	end_stacks(&s);
}

/* What is waited for is told by what is lost, not by what is idle beside it. */
static void the_largest_is_of_what_is_lost(void **state)
{
	struct wait_cell cells[] = {
		{ .kind = WAIT_CHILD, .word = SLEEP_NOBODY, .sleeps = 1, .ns = 90, .idle_ns = 90 },
		{ .kind = WAIT_POLL,
		  .end = SLEEP_BY_THREAD,
		  .word = SLEEP_NOBODY,
		  .sleeps = 1,
		  .ns = 20 },
	};
	struct wait_sums sums = { .data = cells, .n = 2, .room = 2 };
	struct scene s;

	begin_stacks(&s);
	finish(&s, 100);
	assert_ptr_equal(wait_part(&s.calls.threads, &sums, "condition-wait").largest, &cells[1]);
	end_stacks(&s);
}

/* Writers that queue up, each at a condition of its own, in the same place of the program. */
static void those_who_queue_up(void **state)
{
	struct scene s;
	uint64_t us = 100;

	begin_stacks(&s);
	for (unsigned round = 0; round < 20; round++, us += 200) {
		sleep_at(&s, us, 2, LOOP, NEAR);
		wake_up(&s, us + 90, 2, 3, 0);
		sleep_at(&s, us + 100, 3, DONE, NEAR);
		wake_up(&s, us + 190, 3, 2, 0);
	}
	finish(&s, us);
	assert_int_equal(work_at(&s, LOOP), WORK_QUEUE);
	assert_int_equal(work_at(&s, DONE), WORK_QUEUE);
	end_stacks(&s);
}

static void add_sleep(struct scene *s, struct wait_sums *sums, uint64_t us, uint32_t i)
{
	wait_add(sums, thread(s, i), us * 1000);
}

/* Whoever has taken a byte from the pipe sleeps for a time before it is written back: that holds
 * the others up. Of a pipe that one end only writes to nothing is known that would be lost. */
static uint64_t lost_at_pipe(unsigned writers)
{
	struct wait_sums sums = { 0 };
	struct scene s;
	uint64_t us = 100, idle_ns;

	begin_stacks(&s);
	for (unsigned round = 0; round < 20; round++, us += 100) {
		uint32_t holder = writers ? 4 : round % 2 + 2, next = holder == 2 ? 3 : 2;

		sleep_in(&s, us, next, WAIT_PIPE, 0, 5, 0);
		other(&s, REC_BLOCK_STACK, us * 1000, TID(next), TID(next), NEAR, 0);
		sleep_in(&s, us + 1, holder, WAIT_SLEEP, 0, 0, 0);
		wake_up(&s, us + 81, holder, 0, WAKING_BY_TIMER);
		wake_up(&s, us + 90, next, holder, 0);
		add_sleep(&s, &sums, us + 90, next);
	}
	finish(&s, us);
	idle_ns = sums.data[0].idle_ns;
	about(idle_ns, 20 * 80);
	idle_ns = (uint64_t)wait_reconsider(&s.calls.threads, &sums);
	assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
	assert_string_equal(wait_cause_of(&s.calls.threads, &sums.data[0]).kind,
			    writers ? "pipe" : "condition-wait");
	assert_int_equal(wait_is_queue(&s.calls.threads, &sums.data[0]), !writers);
	vec_release(&sums);
	end_stacks(&s);
	return idle_ns;
}

static void a_token_in_a_pipe_is_queued_for(void **state)
{
	about(lost_at_pipe(0), 20 * 80);
	assert_int_equal(lost_at_pipe(1), 0);
}

/* A thread whose loop polls what others write to, as one that they wake by an eventfd. */
static uint64_t idle_in_poll(bool answers)
{
	struct wait_sums sums = { 0 };
	struct scene s;
	uint64_t us = 100, idle_ns;

	begin_stacks(&s);
	for (unsigned round = 0; round < 20; round++, us += 200) {
		sleep_in(&s, us, 2, WAIT_POLL, 0, 0, 0);
		other(&s, REC_BLOCK_STACK, us * 1000, TID(2), TID(2), NEAR, 0);
		wake_up(&s, us + 100, 2, 1, 0);
		add_sleep(&s, &sums, us + 100, 2);
		if (!answers)
			continue;
		sleep_in(&s, us + 101, 1, WAIT_POLL, 0, 0, 0);
		other(&s, REC_BLOCK_STACK, (us + 101) * 1000, TID(1), TID(1), FAR, 0);
		wake_up(&s, us + 190, 1, 2, 0);
	}
	finish(&s, us);
	assert_string_equal(wait_cause_of(&s.calls.threads, &sums.data[0]).kind, "condition-wait");
	wait_reconsider(&s.calls.threads, &sums);
	idle_ns = sums.data[0].idle_ns;
	vec_release(&sums);
	end_stacks(&s);
	return idle_ns;
}

static void a_loop_that_polls_for_work_is_idle(void **state)
{
	about(idle_in_poll(false), 20 * 100);
	assert_int_equal(idle_in_poll(true), 0);
}

/* Threads that have ended and are summed up are one: it is no worker. */
static void summed_up(void **state)
{
	struct handouts h = { 0 };
	struct threads all = { 0 };
	struct thread t = { .all = &all,
			    .index = 5,
			    .sleep = { .word = SLEEP_NOBODY, .waker = 2, .woken_ns = 9 } };
	bool is_one[8] = { [5] = true };

	handouts_add(&h, &t);
	handouts_rename(&h, is_one, 7);
	handouts_add(&h, &t); /* another one has the place now */
	assert_int_equal(h.rows.n, 2);
	assert_int_equal(h.rows.data[0].waiter, 7);
	assert_int_equal(h.rows.data[1].waiter, 5);
	t.index = 7;
	handouts_add(&h, &t);
	assert_int_equal(h.rows.n, 2);
	assert_int_equal(h.rows.data[0].ns, 18);
	handouts_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_handed_out),
		cmocka_unit_test(what_several_make_is_given_by_none),
		cmocka_unit_test(what_two_make_at_the_same_time),
		cmocka_unit_test(the_work_of_several_that_one_ends),
		cmocka_unit_test(one_that_also_waits_for_a_time),
		cmocka_unit_test(such_waits_are_idle),
		cmocka_unit_test(one_that_waits_back),
		cmocka_unit_test(one_that_waits_for_results_of_several),
		cmocka_unit_test(one_condition_for_both_sides),
		cmocka_unit_test(a_mailbox_is_no_lock),
		cmocka_unit_test(a_broadcast_wakes_the_own_side_too),
		cmocka_unit_test(one_that_waits_for_results_at_a_pipe),
		cmocka_unit_test(one_that_does_not_await_several),
		cmocka_unit_test(a_pool_that_its_giver_seldom_waits_for),
		cmocka_unit_test(one_that_waits_for_the_first_most),
		cmocka_unit_test(one_that_asks_one_after_the_other),
		cmocka_unit_test(one_that_waits_for_their_lock),
		cmocka_unit_test(deep_inside),
		cmocka_unit_test(without_whole_stacks),
		cmocka_unit_test(those_who_wait_release_each_other),
		cmocka_unit_test(those_who_queue_up),
		cmocka_unit_test(those_who_gather),
		cmocka_unit_test(those_who_are_led),
		cmocka_unit_test(the_largest_is_of_what_is_lost),
		cmocka_unit_test(a_token_in_a_pipe_is_queued_for),
		cmocka_unit_test(a_loop_that_polls_for_work_is_idle),
		cmocka_unit_test(summed_up),
	};

	return unit_run(tests);
}
