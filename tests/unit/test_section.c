/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waits for a lock, who holds it meanwhile, and for how long. */
#include "unit.h"

#include <errno.h>

#include "scene.h"

#include "analysis/lock/section.h"
#include "base/err.h"

enum { LOCK, UNLOCK, TRY, WAIT, READ_LOCK, RW_UNLOCK };

#define MUTEX	      0x1000
#define OTHER_PROCESS 100 /* threads from this number on */

struct story {
	struct meta meta;
	struct calls calls;
	struct keyed waits;
	struct sections sections;
	struct blocks blocks;
};

static const struct meta_argument first = { .bit = 0, .name = "arg1", .class = ARGUMENT_ADDRESS };
static const struct meta_argument second = { .bit = 1, .name = "arg2", .class = ARGUMENT_ADDRESS };

static void add(struct story *s, const char *name, const struct meta_argument *arg)
{
	struct meta_function *f = vec_add(&s->meta.functions);

	f->id = (uint32_t)s->meta.functions.n - 1;
	f->set = 1;
	f->name = f->symbol = name;
	f->block = "function";
	f->object = UINT32_MAX;
	f->n_arguments = arg ? 1 : 0;
	f->arguments = arg;
}

static void begin_sampled(struct story *s, uint64_t period)
{
	struct keyed_rule rule;
	struct call_visitor v;

	*s = (struct story){ 0 };
	s->meta.session.clock = "monotonic";
	s->meta.session.period = period;
	add(s, "pthread_mutex_lock", &first);
	add(s, "__pthread_mutex_unlock", &first);
	add(s, "pthread_mutex_trylock@@GLIBC_2.34", &first);
	add(s, "pthread_cond_wait", &second);
	add(s, "pthread_rwlock_rdlock", &first);
	add(s, "pthread_rwlock_unlock", &first);
	calls_init(&s->calls, &s->meta, 1000);
	assert_int_equal(sections_init(&s->sections, &s->meta, &s->calls, &s->waits, NULL), 0);
	rule = sections_rule(&s->sections);
	keyed_init(&s->waits, &rule, &s->calls, &s->meta);
	v = sections_visitor(&s->sections);
	calls_add_visitor(&s->calls, &v);
}

static void begin(struct story *s)
{
	begin_sampled(s, 1);
}

static void record(struct story *s, uint32_t kind, uint64_t time, uint32_t tid, uint32_t id,
		   const uint64_t *values, uint32_t n)
{
	struct record r = { .time_ns = time, .kind = kind, .cpu = tid, .tid = tid };

	r.tgid = tid < OTHER_PROCESS ? 1 : OTHER_PROCESS;
	r.id = id;
	r.sp = 0x8000;
	r.values = values;
	r.n_values = n;
	calls_record(&s->calls, &r);
}

static void starts(struct story *s, uint64_t time, uint32_t tid, uint32_t id, uint64_t lock)
{
	uint64_t values[RECORD_VALUES_MIN] = { 1, lock };

	if (id == WAIT)
		values[0] = 2;
	record(s, REC_ENTRY, time, tid, id, NULL, 0);
	record(s, REC_ARGS, time, tid, 0, values, 2);
}

static void ends(struct story *s, uint64_t time, uint32_t tid, uint32_t id)
{
	record(s, REC_EXIT, time, tid, id, NULL, 0);
}

static void calls(struct story *s, uint64_t from, uint64_t to, uint32_t tid, uint32_t id,
		  uint64_t argument)
{
	starts(s, from, tid, id, argument);
	ends(s, to, tid, id);
}

static void returns(struct story *s, uint64_t time, uint32_t tid, uint32_t id, uint64_t value)
{
	uint64_t values[RECORD_VALUES_MIN] = { 1u << ARG_RETURN, value };

	record(s, REC_ARGS, time, tid, 0, values, 2);
	ends(s, time, tid, id);
}

static const struct block *finish(struct story *s, uint32_t function)
{
	struct block_options o = { .duration_ns = 100000, .period = 1 };

	calls_end(&s->calls, 101000);
	keyed_build(&s->waits, NULL, &o, &s->blocks);
	sections_finish(&s->sections, &o, &s->blocks);
	vec_for_each (&s->blocks, const struct block, b)
		if (b->function->id == function)
			return b;
	return NULL;
}

static void end(struct story *s)
{
	blocks_release(&s->blocks);
	keyed_release(&s->waits);
	sections_release(&s->sections);
	calls_release(&s->calls);
	vec_release(&s->meta.functions);
}

/* A release that was recorded need not be that of the taking that was. */
static void sampled_calls_hold_nothing(void **state)
{
	const struct block *b;
	struct story s;

	begin_sampled(&s, 2);
	calls(&s, 1000, 1100, 1, LOCK, MUTEX);
	calls(&s, 2000, 5300, 2, LOCK, MUTEX);
	calls(&s, 9000, 9100, 1, UNLOCK, MUTEX);
	b = finish(&s, LOCK);
	assert_int_equal(b->calls, 2);
	assert_null(b->section->hold);
	assert_false(b->section->is_clear);
	assert_int_equal(b->section->holders.n, 0);
	end(&s);
}

/* Thread 1 holds it from 1100 to 5000; thread 2 waits from 2000 and gets it at 5300. */
static void one_waits_for_the_other(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	calls(&s, 1000, 1100, 1, LOCK, MUTEX);
	starts(&s, 2000, 2, LOCK, MUTEX);
	starts(&s, 5000, 1, UNLOCK, MUTEX);
	ends(&s, 5300, 2, LOCK);
	ends(&s, 5400, 1, UNLOCK);
	calls(&s, 6300, 6400, 2, UNLOCK, MUTEX);
	b = finish(&s, LOCK);
	assert_string_equal(b->name, "0x1000");
	assert_int_equal(b->kind, BLOCK_LOCK);
	assert_int_equal(b->calls, 2);
	assert_int_equal(b->max_ns, 3300);
	assert_int_equal(b->section->acquired, 2);
	assert_int_equal(b->section->contended, 1);
	assert_int_equal(b->section->hold->calls, 2);
	assert_int_equal(b->section->hold->max_ns, 3900);
	assert_int_equal(b->section->hold->min_ns, 1000);
	assert_int_equal(b->section->holders.n, 1);
	assert_int_equal(b->section->holders.data[0].wait_ns, 3000);
	end(&s);
}

/* While its holder waits for the condition, another has the mutex; both holds are told. */
static void a_condition_gives_it_away(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	calls(&s, 1000, 1100, 1, LOCK, MUTEX);
	starts(&s, 1600, 1, WAIT, MUTEX);
	calls(&s, 2000, 2100, 2, LOCK, MUTEX);
	calls(&s, 4100, 4200, 2, UNLOCK, MUTEX);
	ends(&s, 5000, 1, WAIT);
	calls(&s, 5700, 5800, 1, UNLOCK, MUTEX);
	b = finish(&s, LOCK);
	assert_int_equal(b->section->contended, 0);
	assert_int_equal(b->section->hold->calls, 2);
	assert_int_equal(b->section->hold->min_ns, 500);
	assert_int_equal(b->section->hold->max_ns, 2000);
	end(&s);
}

/* A try that failed holds nothing: the other's hold goes on. */
static void a_failed_try_takes_nothing(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	calls(&s, 1000, 1100, 1, LOCK, MUTEX);
	starts(&s, 2000, 2, TRY, MUTEX);
	returns(&s, 2100, 2, TRY, 16);
	calls(&s, 3100, 3200, 1, UNLOCK, MUTEX);
	starts(&s, 4000, 2, TRY, MUTEX);
	returns(&s, 4100, 2, TRY, 0);
	calls(&s, 4400, 4500, 2, UNLOCK, MUTEX);
	calls(&s, 5000, 5100, 2, TRY, MUTEX);
	/* one lock is one block, whichever function takes it */
	assert_null(finish(&s, TRY));
	b = &s.blocks.data[0];
	assert_int_equal(b->function->id, LOCK);
	assert_int_equal(b->calls, 4);
	assert_int_equal(b->section->contended, 1);
	assert_int_equal(b->section->hold->calls, 2);
	assert_int_equal(b->section->hold->min_ns, 300);
	assert_int_equal(b->section->hold->max_ns, 2000);
	assert_int_equal(s.sections.no_result, 1);
	end(&s);
}

static void readers_do_not_contend(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	calls(&s, 1000, 1100, 1, READ_LOCK, MUTEX);
	calls(&s, 1200, 1300, 2, READ_LOCK, MUTEX);
	calls(&s, 2100, 2200, 1, RW_UNLOCK, MUTEX);
	calls(&s, 2300, 2400, 2, RW_UNLOCK, MUTEX);
	b = finish(&s, READ_LOCK);
	assert_int_equal(b->section->contended, 0);
	assert_int_equal(b->section->hold->calls, 2);
	assert_int_equal(b->section->hold->max_ns, 1000);
	end(&s);
}

/* A mutex of a program that has forked is another one in the child, though its address is not. */
static void processes_do_not_contend(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	calls(&s, 1000, 1100, 1, LOCK, MUTEX);
	calls(&s, 2000, 2100, OTHER_PROCESS, LOCK, MUTEX);
	calls(&s, 5100, 5200, OTHER_PROCESS, UNLOCK, MUTEX);
	calls(&s, 6100, 6200, 1, UNLOCK, MUTEX);
	b = finish(&s, LOCK);
	assert_int_equal(s.blocks.n, 1);
	assert_int_equal(b->calls, 2);
	assert_int_equal(b->section->contended, 0);
	assert_true(b->section->is_clear);
	assert_int_equal(b->section->hold->calls, 2);
	assert_int_equal(b->section->hold->max_ns, 5000);
	assert_int_equal(b->section->hold->min_ns, 3000);
	end(&s);
}

/* Thread 1 has it until the end, and thread 2 waits for it: neither may be missing. */
static void held_to_the_end(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	calls(&s, 1000, 1100, 1, LOCK, MUTEX);
	calls(&s, 1600, 1700, 1, UNLOCK, MUTEX);
	calls(&s, 2000, 2100, 1, LOCK, MUTEX);
	starts(&s, 4000, 2, LOCK, MUTEX);
	b = finish(&s, LOCK);
	assert_int_equal(b->calls, 3);
	assert_int_equal(b->open_calls, 1);
	assert_int_equal(b->section->contended, 1);
	assert_int_equal(b->section->holders.n, 1);
	assert_int_equal(b->section->holders.data[0].wait_ns, 101000 - 4000);
	assert_int_equal(b->section->hold->calls, 2);
	assert_int_equal(b->section->hold->open_calls, 1);
	assert_int_equal(b->section->hold->max_ns, 500);
	assert_int_equal(b->section->hold->open_ns, 101000 - 2100 - 500);
	end(&s);
}

/* What nobody waits for at the end may have been released by what is not traced. */
static void left_at_the_end(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	calls(&s, 1000, 1100, 1, LOCK, MUTEX);
	calls(&s, 1600, 1700, 1, UNLOCK, MUTEX);
	calls(&s, 2000, 2100, 1, LOCK, MUTEX);
	b = finish(&s, LOCK);
	assert_int_equal(b->section->hold->calls, 1);
	end(&s);
}

/* The release was between two bursts: the second taking is no taking again. */
static void probes_that_were_out(void **state)
{
	static const uint64_t set[RECORD_VALUES_MIN] = { 1, 0 };
	const struct block *b;
	struct story s;

	begin(&s);
	calls(&s, 1000, 1100, 1, LOCK, MUTEX);
	record(&s, REC_SET_OFF, 2000, 0, 0, set, 2);
	record(&s, REC_SET_ON, 5000, 0, 0, set, 2);
	calls(&s, 6000, 6100, 1, LOCK, MUTEX);
	calls(&s, 6500, 6600, 1, UNLOCK, MUTEX);
	calls(&s, 7000, 7100, 2, LOCK, MUTEX);
	calls(&s, 7500, 7600, 2, UNLOCK, MUTEX);
	b = finish(&s, LOCK);
	assert_int_equal(b->section->contended, 0);
	assert_int_equal(b->section->hold->calls, 2);
	assert_int_equal(b->section->hold->max_ns, 400);
	end(&s);
}

/* A condition's wait that cost too much does not come back: mutexes are released all the same, and
 * what locks of another kind are released by is out for its own locks alone. */
static void releases_that_are_out(void **state)
{
	static const uint64_t sets[][RECORD_VALUES_MIN] = { { 2, 0 }, { 3, 0 } };
	struct meta_not_traced gone = { .name = "pthread_cond_wait",
					.object = "/lib/libc.so.6",
					.traced_until_ns = 3000 };
	struct meta_object libc = { .path = "/lib/libc.so.6" };
	const struct block *b;
	struct story s;

	begin(&s);
	*vec_add(&s.meta.objects) = libc;
	*vec_add(&s.meta.not_traced) = gone;
	s.meta.functions.data[WAIT].object = 0;
	s.meta.functions.data[WAIT].set = 2;
	s.meta.functions.data[RW_UNLOCK].set = 3;
	for (unsigned i = 0; i < 2; i++)
		record(&s, REC_SET_ON, 900, 0, 0, sets[i], 2);
	for (unsigned i = 0; i < 2; i++)
		record(&s, REC_SET_OFF, 1000, 0, 0, sets[i], 2);
	calls(&s, 2000, 2100, 1, LOCK, MUTEX); /* it may be out for a while only */
	calls(&s, 2500, 2600, 1, UNLOCK, MUTEX);
	for (uint64_t i = 0; i < 3; i++) {
		calls(&s, 4000 + 1000 * i, 4100 + 1000 * i, 1, LOCK, MUTEX);
		calls(&s, 4500 + 1000 * i, 4600 + 1000 * i, 1, UNLOCK, MUTEX);
	}
	b = finish(&s, LOCK);
	assert_non_null(b->section->hold);
	assert_int_equal(b->section->hold->calls, 3);
	assert_int_equal(b->section->acquired, 3);
	vec_release(&s.meta.objects);
	vec_release(&s.meta.not_traced);
	end(&s);
}

/* The probes of releases come later than those of the function that takes locks: what was taken
 * until then shows no release that was missed. */
static void releases_that_join_late(void **state)
{
	static const uint64_t set[RECORD_VALUES_MIN] = { 2, 0 };
	const struct block *b;
	struct story s;

	begin(&s);
	s.meta.functions.data[UNLOCK].set = 2;
	for (uint32_t i = 0; i < 10; i++)
		calls(&s, 1000 + 100 * i, 1010 + 100 * i, 1 + i % 2, LOCK, MUTEX);
	record(&s, REC_SET_ON, 5000, 0, 0, set, 2);
	calls(&s, 6000, 6100, 1, LOCK, MUTEX);
	starts(&s, 6200, 2, LOCK, MUTEX);
	calls(&s, 6500, 6600, 1, UNLOCK, MUTEX);
	ends(&s, 6700, 2, LOCK);
	calls(&s, 6800, 6900, 2, UNLOCK, MUTEX);
	b = finish(&s, LOCK);
	assert_true(b->section->is_clear);
	assert_int_equal(s.sections.unclear, 0);
	assert_int_equal(b->section->acquired, 2);
	assert_int_equal(b->section->contended, 1);
	assert_int_equal(b->section->hold->calls, 2);
	end(&s);
}

/* Who waits for a condition without a probe releases the mutex unseen: the next one to take it
 * shows that, and then it is not known whether that one had to wait. */
static void unseen_releases_are_unclear(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	calls(&s, 1000, 1100, 1, LOCK, MUTEX); /* and pthread_cond_wait() from 1200 on */
	calls(&s, 2000, 2100, 2, LOCK, MUTEX);
	calls(&s, 2200, 2300, 2, UNLOCK, MUTEX);
	calls(&s, 3000, 3100, 1, UNLOCK, MUTEX);
	calls(&s, 4000, 4100, 1, LOCK, MUTEX);
	starts(&s, 4200, 2, LOCK, MUTEX);
	calls(&s, 4500, 4600, 1, UNLOCK, MUTEX);
	ends(&s, 4700, 2, LOCK);
	calls(&s, 4800, 4900, 2, UNLOCK, MUTEX);
	starts(&s, 5000, 2, TRY, MUTEX);
	returns(&s, 5100, 2, TRY, 0);
	calls(&s, 5200, 5300, 2, UNLOCK, MUTEX);
	b = finish(&s, LOCK);
	assert_int_equal(b->section->acquired, 5);
	assert_int_equal(b->section->contended, 1);
	assert_false(b->section->is_clear);
	assert_int_equal(s.sections.unclear, 1);
	assert_true(b->section->released);
	assert_null(b->section->hold); /* a sleep in pthread_cond_wait() would be part of it */
	/* one lock is one block, whichever function takes it */
	assert_int_equal(s.blocks.n, 1);
	end(&s);
}

/* Where nobody releases, nobody knows who held it when. */
static void without_releases(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	for (uint32_t i = 0; i < 10; i++) {
		starts(&s, 1000 + 1000 * i, 1 + i % 2, LOCK, MUTEX);
		ends(&s, 1100 + 1000 * i, 1 + i % 2, LOCK);
	}
	b = finish(&s, LOCK);
	assert_int_equal(b->calls, 10);
	assert_false(b->section->is_clear);
	assert_int_equal(s.sections.unclear, 0); /* it is not one release that was missed */
	assert_null(b->section->hold);
	end(&s);
}

static unsigned holds_followed;

static void follow_hold(void *self, const struct thread *t, uint32_t lock, uint32_t group,
			const struct call *by, bool contended)
{
	(void)t, (void)lock, (void)group, (void)by, (void)contended;
	++*(unsigned *)self;
}

/* A wait for a condition releases the lock, too, but its holds are few, and not like the others. */
static void with_releases_in_waits_only(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	s.sections.released_until_ns[LOCK_OF_MUTEX] = 5000; /* its probes are out from then on */
	for (uint32_t i = 0; i < 10; i++) {
		calls(&s, 1000 + 1000 * i, 1100 + 1000 * i, 1, LOCK, MUTEX);
		calls(&s, 1200 + 1000 * i, 1300 + 1000 * i, 1, i < 4 ? UNLOCK : WAIT, MUTEX);
	}
	b = finish(&s, LOCK);
	assert_int_equal(b->calls, 10);
	assert_true(b->section->is_clear);
	assert_non_null(b->section->hold);
	assert_int_equal(b->section->hold->calls, 4);
	end(&s);

	begin(&s);
	/* who follows holds gets none whose end it would not hear of */
	s.sections.hook.self = &holds_followed;
	s.sections.hook.taken = follow_hold;
	holds_followed = 0;
	s.sections.released_until_ns[LOCK_OF_MUTEX] = 0;
	for (uint32_t i = 0; i < 10; i++) {
		calls(&s, 1000 + 1000 * i, 1100 + 1000 * i, 1, LOCK, MUTEX);
		calls(&s, 1200 + 1000 * i, 1300 + 1000 * i, 1, WAIT, MUTEX);
	}
	b = finish(&s, LOCK);
	assert_false(b->section->is_clear);
	assert_null(b->section->hold);
	assert_int_equal(b->section->holders.n, 0);
	assert_int_equal(holds_followed, 0);
	end(&s);
}

/* A thread that holds hundreds of locks would make every call of it slow to count. */
static void only_the_latest_locks_tell_what_is_done(void **state)
{
	const struct block *b;
	struct story s;

	begin(&s);
	calls(&s, 1000, 1100, 1, LOCK, MUTEX);
	for (uint32_t i = 1; i <= 16; i++)
		calls(&s, 1100 + 10 * i, 1105 + 10 * i, 1, LOCK, MUTEX + 8 * i);
	starts(&s, 2000, 2, LOCK, MUTEX);
	starts(&s, 2000, 3, LOCK, MUTEX + 8);
	calls(&s, 2000, 9000, 1, READ_LOCK, 2 * MUTEX);
	calls(&s, 9900, 9950, 1, UNLOCK, MUTEX + 8);
	calls(&s, 10000, 10050, 1, UNLOCK, MUTEX);
	ends(&s, 10100, 3, LOCK);
	ends(&s, 10100, 2, LOCK);
	b = finish(&s, LOCK);
	assert_non_null(b);
	vec_for_each (&s.blocks, const struct block, each) {
		const struct holding_sums *doing = &each->section->doing;
		bool told = false;

		for (unsigned i = 0; i < doing->n; i++)
			told |= doing->parts[i].function == READ_LOCK;
		if (doing->wait_ns > 0)
			assert_int_equal(told, !strcmp(each->name, "0x1008"));
	}
	end(&s);
}

static void needs_the_argument(void **state)
{
	struct story s = { 0 };
	struct err err = { 0 };

	add(&s, "pthread_cond_wait", NULL);
	assert_int_equal(sections_init(&s.sections, &s.meta, &s.calls, &s.waits, &err), -ENODATA);
	assert_non_null(strstr(err.text, "-F 'pthread_cond_wait@arg2'"));
	sections_release(&s.sections);
	s.meta.functions.n = 0;
	assert_int_equal(sections_init(&s.sections, &s.meta, &s.calls, &s.waits, &err), -ENODATA);
	assert_non_null(strstr(err.text, "no function that takes a lock"));
	sections_release(&s.sections);
	vec_release(&s.meta.functions);
	*vec_add(&s.meta.notices) = (struct meta_notice){ .code = "too-short" };
	assert_int_equal(sections_init(&s.sections, &s.meta, &s.calls, &s.waits, &err), -ENODATA);
	assert_non_null(strstr(err.text, "ended before ispot had chosen functions"));
	sections_release(&s.sections);
	vec_release(&s.meta.notices);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sampled_calls_hold_nothing),
		cmocka_unit_test(one_waits_for_the_other),
		cmocka_unit_test(a_condition_gives_it_away),
		cmocka_unit_test(a_failed_try_takes_nothing),
		cmocka_unit_test(readers_do_not_contend),
		cmocka_unit_test(processes_do_not_contend),
		cmocka_unit_test(held_to_the_end),
		cmocka_unit_test(left_at_the_end),
		cmocka_unit_test(probes_that_were_out),
		cmocka_unit_test(releases_that_are_out),
		cmocka_unit_test(releases_that_join_late),
		cmocka_unit_test(unseen_releases_are_unclear),
		cmocka_unit_test(without_releases),
		cmocka_unit_test(with_releases_in_waits_only),
		cmocka_unit_test(only_the_latest_locks_tell_what_is_done),
		cmocka_unit_test(needs_the_argument),
	};

	return unit_run(tests);
}
