/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From records to names: who was at work while a block was slow. */
#include <stdio.h>

#include "unit.h"
#include "scene.h"

#include "analysis/cause/coactivity_find.h"
#include "analysis/cause/judge.h"
#include "analysis/evidence/coactivity.h"
#include "analysis/evidence/counters.h"

enum { VICTIM, CULPRIT, BYSTANDER, OUTER, TAKE };

struct stage {
	struct scene scene;
	struct coactivity co;
	uint64_t random;
	struct call_group latest;
	uint64_t border_ns; /* calls of the victim from here on are group 1, the others group 0 */
};

static uint64_t below(struct stage *st, uint64_t n)
{
	return dice_below(&st->random, n);
}

static void put_into_groups(void *self, const struct thread *t, const struct call *c)
{
	struct stage *st = self;

	(void)t;
	st->latest.number = c->id == VICTIM ? c->entry_ns >= st->border_ns : MAP_NONE;
}

static void begin(struct stage *st, uint64_t seed)
{
	static const char *const names[] = { "victim", "culprit", "bystander", "outer", "take" };
	struct call_visitor v;

	*st = (struct stage){ .random = seed * 0x9e3779b97f4a7c15ull | 1 };
	for (unsigned i = 0; i < 16; i++)
		below(st, 2);
	for (unsigned i = 0; i < 5; i++)
		scene_function(&st->scene, names[i], 1);
	st->scene.meta.session.cpus = 4;
	scene_start(&st->scene, 1000);
	coactivity_init(&st->co, &st->scene.calls);
	v = (struct call_visitor){ .self = st, .call = put_into_groups };
	calls_add_visitor(&st->scene.calls, &v);
	v = coactivity_visitor(&st->co);
	calls_add_visitor(&st->scene.calls, &v);
}

static const struct coactives *finish(struct stage *st, uint64_t end_ns, const char *name)
{
	struct block_options o = { .duration_ns = end_ns - 1000, .period = 1 };

	calls_end(&st->scene.calls, end_ns);
	blocks_build(&st->scene.blocks, &st->scene.sci, &o);
	blocks_judge(&st->scene.blocks, &(struct evidence){ .meta = &st->scene.meta,
							    .duration_ns = o.duration_ns,
							    .coactivity = &st->co });
	return &scene_block(&st->scene, name)->coactive;
}

static void end(struct stage *st)
{
	coactivity_release(&st->co);
	scene_release(&st->scene);
}

/* Records of several threads in time order, as the reader hands them out. */
struct event {
	uint64_t time;
	uint32_t kind, tid, id;
	uint64_t sp, v0, v1, v2;
	uint32_t line;
};

struct script {
	VEC(struct event)
};

static void put(struct script *s, uint64_t time, uint32_t kind, uint32_t tid, uint32_t id)
{
	uint32_t line = (uint32_t)s->n;

	*vec_add(s) = (struct event){ .time = time,
				      .kind = kind,
				      .tid = tid,
				      .id = id,
				      .sp = id == OUTER ? 0x2000 : 0x1000,
				      .line = line };
}

static void put_switch(struct script *s, uint64_t from, uint64_t to, uint32_t tid, uint32_t state,
		       uint32_t next)
{
	put(s, from, REC_SWITCH_OUT, tid, 0);
	vec_last(s)->v0 = state;
	vec_last(s)->v1 = vec_last(s)->v2 = next;
	put(s, to, REC_SWITCH_IN, tid, 0);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static void play(struct stage *st, struct script *s)
{
	vec_sort(s, by_time);
	vec_for_each (s, struct event, e) {
		uint64_t values[RECORD_VALUES_MIN] = { e->v0, e->v1, e->v2 };
		struct record r = {
			.time_ns = e->time,
			.kind = e->kind,
			.cpu = e->tid,
			.tid = e->tid,
			.tgid = 1,
			.id = e->id,
			.sp = e->sp,
			.n_values = 3,
			.values = values,
		};

		calls_record(&st->scene.calls, &r);
	}
	vec_release(s);
}

static void call(struct script *s, uint64_t from, uint64_t to, uint32_t tid, uint32_t id)
{
	put(s, from, REC_ENTRY, tid, id);
	put(s, to, REC_EXIT, tid, id);
}

/* A bystander that works half of the time on its own. Returns its end. */
static uint64_t bystander(struct stage *st, struct script *s, uint32_t tid, uint64_t until)
{
	uint64_t t = 1000;

	while (t < until) {
		uint64_t work = 1 + below(st, 40000), pause = 1 + below(st, 40000);

		call(s, t, t + work, tid, BYSTANDER);
		t += work + pause;
	}
	return t;
}

/* The victim takes twice as long in the calls that the culprit accompanies. */
static void culprit_is_named(void **state)
{
	const struct coactives *found;
	struct script s = { 0 };
	struct stage st;
	uint64_t t = 2000;

	begin(&st, 1);
	for (unsigned i = 0; i < 3000; i++) {
		bool hit = below(&st, 5) == 0;
		uint64_t d = (hit ? 20000 : 10000) + below(&st, 500);

		call(&s, t, t + d, 1, VICTIM);
		if (hit)
			call(&s, t + 200, t + d - 200, 2, CULPRIT);
		t += d + 1000 + below(&st, 2000);
	}
	t = bystander(&st, &s, 3, t);
	play(&st, &s);
	found = finish(&st, t, "victim");
	assert_true(found->measured);
	assert_int_equal(found->n, 1);
	assert_string_equal(found->data[0].name, "culprit");
	assert_int_equal(found->data[0].part, COACTIVE_INSIDE);
	assert_true(found->data[0].thread != UINT32_MAX);
	assert_true(found->data[0].low > 2);
	assert_true(found->data[0].slow_rate > 0.95 && found->data[0].slow_rate <= 1);
	end(&st);
}

/* Its slow calls come with the other. Returns their end. */
static uint64_t victims(struct stage *st, struct script *s, uint64_t t, uint32_t other)
{
	for (unsigned i = 0; i < 1500; i++) {
		bool hit = below(st, 5) == 0;
		uint64_t d = (hit ? 20000 : 10000) + below(st, 500);

		call(s, t, t + d, 1, VICTIM);
		if (hit)
			call(s, t + 200, t + d - 200, 2, other);
		t += d + 1000 + below(st, 2000);
	}
	return t;
}

/* Who is met by the calls of one group is told of that group, not of the other. */
static void group_has_its_own_culprit(void **state)
{
	struct block one[2] = { { .id = 0 }, { .id = 1 } };
	struct blocks groups = { .data = one, .n = 2 };
	struct script s = { 0 };
	struct stage st;
	uint64_t t;

	begin(&st, 5);
	coactivity_group_by(&st.co, &st.latest);
	st.border_ns = victims(&st, &s, 2000, CULPRIT);
	t = victims(&st, &s, st.border_ns, TAKE);
	play(&st, &s);
	calls_end(&st.scene.calls, t);
	coactivity_find_groups(&st.co, &groups);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(one[i].coactive.measured);
		assert_int_equal(one[i].coactive.n, 1);
		assert_string_equal(one[i].coactive.data[0].name, i ? "take" : "culprit");
		assert_true(one[i].coactive.data[0].slow_rate > 0.9);
		vec_release(&one[i].coactive);
	}
	end(&st);
}

/* A lock that spins: nothing traced runs in the holder, but what it took last tells. */
static void holder_is_known_by_what_it_took(void **state)
{
	const struct coactives *found;
	struct script s = { 0 };
	struct stage st;
	uint64_t t = 2000;

	begin(&st, 2);
	for (unsigned i = 0; i < 3000; i++) {
		bool held = below(&st, 4) == 0;
		uint64_t hold = 5000 + below(&st, 3000);

		if (held) {
			call(&s, t, t + 100, 2, TAKE);
			call(&s, t + 200, t + hold + 50, 1, TAKE);
			call(&s, t + hold, t + hold + 40, 2, BYSTANDER);
		} else {
			call(&s, t + 200, t + 300, 1, TAKE);
		}
		call(&s, t + hold + 100, t + hold + 150, 1, BYSTANDER);
		t += 12000;
	}
	play(&st, &s);
	found = finish(&st, t, "take");
	assert_true(found->n >= 1);
	assert_string_equal(found->data[0].name, "take");
	assert_int_equal(found->data[0].part, COACTIVE_AFTER);
	end(&st);
}

/* Its own callees and its own callers are not others. */
static void own_thread_is_nobody(void **state)
{
	const struct coactives *found;
	struct script s = { 0 };
	struct stage st;
	uint64_t t = 2000;

	begin(&st, 3);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t d = i % 7 ? 1000 : 9000;

		put(&s, t, REC_ENTRY, 1, OUTER);
		put(&s, t + 100, REC_ENTRY, 1, VICTIM);
		vec_last(&s)->sp = 0x1800;
		if (d == 9000)
			call(&s, t + 200, t + d - 200, 1, CULPRIT);
		put(&s, t + d, REC_EXIT, 1, VICTIM);
		vec_last(&s)->sp = 0x1800;
		put(&s, t + d + 50, REC_EXIT, 1, OUTER);
		t += d + 500;
	}
	play(&st, &s);
	found = finish(&st, t, "victim");
	assert_true(found->measured);
	assert_int_equal(found->n, 0);
	end(&st);
}

/*
 * Preempted by another process, while the bystander of the program goes on as before: the process
 * is named, and the bystander, which runs during all of it, is not.
 */
static void taker_of_the_cpu_is_named(void **state)
{
	const struct coactives *found;
	struct script s = { 0 };
	struct stage st;
	uint64_t t = 2000;

	begin(&st, 4);
	*vec_add(&st.scene.meta.processes) = (struct meta_process){ .pid = 77, .comm = "stress" };
	for (unsigned i = 0; i < 3000; i++) {
		bool hit = below(&st, 6) == 0;
		uint64_t d = 5000 + below(&st, 500) + (hit ? 30000 : 0);

		put(&s, t, REC_ENTRY, 1, VICTIM);
		if (hit)
			put_switch(&s, t + 1000, t + 31000, 1, SWITCH_PREEMPTED, 77);
		put(&s, t + d, REC_EXIT, 1, VICTIM);
		t += d + 1000;
	}
	t = bystander(&st, &s, 3, t);
	play(&st, &s);
	found = finish(&st, t, "victim");
	assert_int_equal(found->n, 1);
	assert_int_equal(found->data[0].part, COACTIVE_CPU);
	assert_int_equal(found->data[0].id, 77);
	assert_string_equal(found->data[0].name, "stress");
	assert_true(found->data[0].share > 0.7);
	end(&st);
}

/* Two functions that know nothing of each other, each with slow calls of its own, hot or not. */
static unsigned strangers(uint64_t seed)
{
	struct script s = { 0 };
	struct stage st;
	unsigned named = 0;
	uint64_t last = 0;

	begin(&st, seed);
	for (uint32_t tid = 1; tid <= 2; tid++) {
		uint64_t t = 1000 + below(&st, 1000);
		uint64_t pause = 1 + below(&st, seed % 2 ? 200 : 30000);

		for (unsigned i = 0; i < 1500; i++) {
			uint64_t d = 1000 + below(&st, 500) + (below(&st, 8) ? 0 : 9000);

			call(&s, t, t + d, tid, tid == 1 ? VICTIM : CULPRIT);
			t += d + 1 + below(&st, pause);
		}
		last = t > last ? t : last;
	}
	play(&st, &s);
	named += finish(&st, last, "victim")->n > 0;
	named += scene_block(&st.scene, "culprit")->coactive.n > 0;
	end(&st);
	return named > 0;
}

static void strangers_stay_strangers(void **state)
{
	unsigned named = 0;

	for (uint64_t seed = 1; seed <= 100; seed++)
		named += strangers(seed);
	printf("# %u of 100 recordings of two strangers name one\n", named);
	assert_true(named <= 5);
}

/* What is kept stays bounded, and is a sample of the whole recording. */
static void memory_is_bounded(void **state)
{
	struct script s = { 0 };
	struct stage st;
	uint64_t t = 2000;
	const struct lift_sample *sample;

	begin(&st, 5);
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t d = 100 + i / 1000;

		call(&s, t, t + d, 1, VICTIM);
		call(&s, t + 50, t + d - 1, 2, CULPRIT);
		t += d + 50;
	}
	play(&st, &s);
	sample = coactivity_sample(&st.co, VICTIM);
	assert_in_range(sample->rows.n, COACTIVITY_ROWS / 2 - 1, COACTIVITY_ROWS);
	assert_true(sample->rows.data[0].duration_ns < 110);
	assert_true(sample->rows.data[sample->rows.n / 2].duration_ns > 135);
	assert_true(sample->rows.data[sample->rows.n / 2].duration_ns < 165);
	assert_true(vec_last(&sample->rows)->duration_ns > 190);
	finish(&st, t, "victim");
	end(&st);
}

/*
 * Of a thousand functions that one thread runs in turn, the last takes twice as long where another
 * thread is in one of a thousand more; the rest take their time whatever that thread does.
 */
enum { CROWD = 1000, CROWD_CALLS = 300 };

static void begin_crowd(struct stage *st)
{
	struct call_visitor v;

	*st = (struct stage){ .random = 0x9e3779b97f4a7c15ull };
	for (unsigned i = 0; i < 2 * CROWD; i++)
		scene_function(&st->scene, "one of many", 1);
	st->scene.meta.functions.data[CROWD - 1].name = "victim";
	st->scene.meta.functions.data[2 * CROWD - 1].name = "culprit";
	st->scene.meta.session.cpus = 4;
	scene_start(&st->scene, 1000);
	coactivity_init(&st->co, &st->scene.calls);
	v = coactivity_visitor(&st->co);
	calls_add_visitor(&st->scene.calls, &v);
}

static uint64_t play_crowd(struct stage *st, uint64_t t)
{
	struct script s = { 0 };

	for (uint32_t id = 0; id < CROWD; id++) {
		bool victim = id == CROWD - 1, hit = victim && below(st, 5) == 0;
		uint64_t d = (hit ? 20000 : 10000) + below(st, 500);

		call(&s, t, t + d, 1, id);
		if (hit)
			call(&s, t + 200, t + d - 200, 2, 2 * CROWD - 1);
		else if (!victim)
			call(&s, t + 200, t + 200 + below(st, 5000), 2,
			     CROWD + (uint32_t)below(st, CROWD));
		t += d + 1000;
	}
	play(st, &s);
	return t;
}

static void culprit_among_many_is_named(void **state)
{
	const struct coactives *found;
	struct stage st;
	uint64_t t = 2000;

	begin_crowd(&st);
	for (unsigned round = 0; round < CROWD_CALLS; round++)
		t = play_crowd(&st, t);
	found = finish(&st, t, "victim");
	assert_true(found->measured);
	assert_int_equal(found->n, 1);
	assert_string_equal(found->data[0].name, "culprit");
	assert_int_equal(found->data[0].part, COACTIVE_INSIDE);
	for (uint32_t id = 0; id < CROWD; id++)
		assert_in_range(coactivity_sample(&st.co, id)->rows.n, COACTIVITY_ROWS_LEAST / 2,
				COACTIVITY_ROWS_LEAST);
	end(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(culprit_is_named),
		cmocka_unit_test(group_has_its_own_culprit),
		cmocka_unit_test(holder_is_known_by_what_it_took),
		cmocka_unit_test(own_thread_is_nobody),
		cmocka_unit_test(taker_of_the_cpu_is_named),
		cmocka_unit_test(strangers_stay_strangers),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(culprit_among_many_is_named),
	};

	return unit_run(tests);
}
