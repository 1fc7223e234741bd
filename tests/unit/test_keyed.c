/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls grouped by a value of theirs: each group scores as a function of its own would. */
#include "unit.h"
#include "scene.h"

#include "analysis/score/keyed.h"
#include "base/text.h"

enum { LOCK, OUTER };

static struct keyed keyed;
static struct blocks groups;

static enum keyed_has by_first(void *ctx, const struct thread *t, const struct call *c,
			       uint64_t *key)
{
	(void)ctx, (void)t;
	if (c->id == OUTER)
		return KEYED_SKIP;
	*key = c->args[0];
	return c->arg_mask & 1 ? KEYED_KEY : KEYED_WITHOUT;
}

static void name(void *ctx, const struct keyed_group *g, struct text *text)
{
	(void)ctx;
	if (g->has == KEYED_KEY)
		text_printf(text, "@%llu", (unsigned long long)g->key);
}

typedef enum keyed_has key_fn(void *ctx, const struct thread *t, const struct call *c,
			      uint64_t *key);

static void begin_with(struct scene *s, key_fn *key)
{
	const struct keyed_rule rule = { .kind = BLOCK_FUNCTION, .key = key, .name = name };
	struct call_visitor v;

	*s = (struct scene){ 0 };
	groups = (struct blocks){ 0 };
	scene_function(s, "lock", 1);
	scene_function(s, "outer", 1);
	scene_start(s, 1000);
	keyed_init(&keyed, &rule, &s->calls, &s->meta);
	v = keyed_visitor(&keyed);
	calls_add_visitor(&s->calls, &v);
}

static void begin(struct scene *s)
{
	begin_with(s, by_first);
}

static void finish(struct scene *s, uint64_t end)
{
	struct block_options o = { .duration_ns = end - s->start_ns, .period = 1 };

	scene_finish(s, end);
	keyed_build(&keyed, &s->sci, &o, &groups);
}

static void end(struct scene *s)
{
	blocks_release(&groups);
	keyed_release(&keyed);
	scene_release(s);
}

static void args(struct scene *s, uint64_t time, uint32_t tid, uint64_t first, uint64_t second)
{
	uint64_t values[RECORD_VALUES_MIN] = { 5, first, second }; /* arguments 1 and 3 */
	struct record r = { .time_ns = time,
			    .kind = REC_ARGS,
			    .cpu = tid,
			    .tid = tid,
			    .tgid = 1,
			    .n_values = 3,
			    .values = values };

	calls_record(&s->calls, &r);
}

static uint64_t call(struct scene *s, uint64_t t, uint32_t tid, uint64_t key, uint64_t ns)
{
	enter(s, t, tid, LOCK, 0x1000);
	if (key)
		args(s, t, tid, key, 77);
	leave(s, t + ns, tid, LOCK, 0x1000);
	return t + ns + 10;
}

static const struct block *group(const char *key)
{
	vec_for_each (&groups, const struct block, b)
		if (key ? b->key && !strcmp(b->key, key) : !b->key)
			return b;
	return NULL;
}

/* Four locks, one contended; the others keep their own minimum and score nothing. */
static void each_key_has_its_own_minimum(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin(&s);
	for (unsigned i = 0; i < 400; i++)
		t = call(&s, t, 1 + i % 2, 1 + i % 4, 100 * (1 + i % 4) + (i % 8 == 3 ? 5000 : 0));
	t = call(&s, t, 1, 0, 60);
	finish(&s, t);
	assert_int_equal(groups.n, 5);
	assert_int_equal(group("@1")->min_ns, 100);
	assert_int_equal(group("@3")->min_ns, 300);
	assert_int_equal(group("@1")->excess_ns, 0);
	assert_int_equal(group("@4")->excess_ns, 50 * 5000);
	assert_int_equal(group("@4")->calls, 100);
	assert_int_equal(group("@4")->threads, 1);
	assert_int_equal(group(NULL)->calls, 1);
	assert_string_equal(group("@4")->name, "lock");
	/* the function as a whole is compared with the fastest of them all */
	assert_int_equal(scene_block(&s, "lock")->min_ns, 60);
	end(&s);
}

/* A call of lock 1 inside lock 2 inside lock 1: outermost of its group only once. */
static void recursion_is_within_a_group(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, LOCK, 0x1000);
	args(&s, 1000, 1, 1, 0);
	enter(&s, 1100, 1, LOCK, 0xf00);
	args(&s, 1100, 1, 2, 0);
	enter(&s, 1200, 1, LOCK, 0xe00);
	args(&s, 1200, 1, 1, 0);
	leave(&s, 1300, 1, LOCK, 0xe00);
	leave(&s, 1400, 1, LOCK, 0xf00);
	leave(&s, 1500, 1, LOCK, 0x1000);
	finish(&s, 2000);
	assert_int_equal(group("@1")->calls, 2);
	assert_int_equal(group("@1")->total_ns, 500);
	assert_int_equal(group("@2")->total_ns, 300);
	assert_int_equal(scene_block(&s, "lock")->total_ns, 500);
	end(&s);
}

/* Values recorded with an exit are not those of the call around it. */
static void values_of_an_exit_are_not_its_caller_s(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, LOCK, 0x1000);
	args(&s, 1000, 1, 1, 0);
	enter(&s, 1100, 1, OUTER, 0xf00);
	leave(&s, 1200, 1, OUTER, 0xf00);
	args(&s, 1200, 1, 9, 0);
	leave(&s, 1300, 1, LOCK, 0x1000);
	finish(&s, 2000);
	assert_int_equal(groups.n, 1);
	assert_non_null(group("@1"));
	end(&s);
}

static enum keyed_has by_return(void *ctx, const struct thread *t, const struct call *c,
				uint64_t *key)
{
	(void)ctx, (void)t;
	*key = c->args[ARG_RETURN];
	return c->arg_mask & 1u << ARG_RETURN ? KEYED_KEY : KEYED_WITHOUT;
}

static void returned(struct scene *s, uint64_t time, uint32_t tid, uint64_t value)
{
	uint64_t values[RECORD_VALUES_MIN] = { 1u << ARG_RETURN, value };
	struct record r = { .time_ns = time,
			    .kind = REC_ARGS,
			    .cpu = tid,
			    .tid = tid,
			    .tgid = 1,
			    .n_values = 2,
			    .values = values };

	calls_record(&s->calls, &r);
}

/* A return value stands before its exit: the call has it when it ends, its caller has not. */
static void return_values_are_of_the_exit_behind(void **state)
{
	struct scene s;

	begin_with(&s, by_return);
	enter(&s, 1000, 1, OUTER, 0x1000);
	enter(&s, 1100, 1, LOCK, 0xf00);
	args(&s, 1100, 1, 9, 9);
	returned(&s, 1200, 1, 7);
	leave(&s, 1200, 1, LOCK, 0xf00);
	leave(&s, 1300, 1, OUTER, 0x1000);
	finish(&s, 2000);
	assert_int_equal(groups.n, 2);
	assert_int_equal(group("@7")->total_ns, 100);
	end(&s);
}

static void keys_beyond_the_bound_are_one_group(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin(&s);
	for (unsigned i = 1; i <= KEYED_OF_FUNCTION + 7; i++)
		t = call(&s, t, 1, i, 100);
	t = call(&s, t, 1, 1, 100);
	finish(&s, t);
	assert_int_equal(groups.n, KEYED_OF_FUNCTION + 1);
	assert_int_equal(group("other than the first 4096")->calls, 7);
	assert_int_equal(group("@1")->calls, 2);
	assert_int_equal(keyed.in_rest, 7);
	end(&s);
}

/* A marker's calls with one value are still a marker's. */
static void a_marker_stays_one(void **state)
{
	struct scene s;
	uint64_t t = 2000;

	begin(&s);
	s.meta.functions.data[LOCK].block = "marker";
	for (int i = 0; i < 200; i++)
		t = call(&s, t, 1, 1 + i % 2, 100);
	finish(&s, t);
	assert_int_equal(groups.n, 2);
	vec_for_each (&groups, const struct block, b) {
		assert_int_equal(b->kind, BLOCK_MARKER);
		assert_true(block_is_call(b));
	}
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_marker_stays_one),
		cmocka_unit_test(each_key_has_its_own_minimum),
		cmocka_unit_test(recursion_is_within_a_group),
		cmocka_unit_test(values_of_an_exit_are_not_its_caller_s),
		cmocka_unit_test(return_values_are_of_the_exit_behind),
		cmocka_unit_test(keys_beyond_the_bound_are_one_group),
	};

	return unit_run(tests);
}
