// SPDX-License-Identifier: GPL-3.0-or-later
#include "unit.h"

#include "scene.h"

#include "analysis/evidence/counters.h"

#define F 0
#define G 1

struct fixture {
	struct scene s;
	struct counters counters;
};

static void describe(struct meta *meta, uint32_t id, const char *name, const char *why)
{
	struct meta_counter *c = vec_add(&meta->counters);

	c->id = id;
	c->name = c->event = c->role = name;
	c->unit = c->source = "";
	c->why = why;
	c->period = 1;
}

static void begin(struct fixture *f)
{
	struct call_visitor v;

	*f = (struct fixture){ 0 };
	scene_function(&f->s, "f", 0);
	scene_function(&f->s, "g", 0);
	describe(&f->s.meta, 0, "cycles", "");
	describe(&f->s.meta, 1, "misses", "");
	describe(&f->s.meta, 2, "node-loads", "this PMU does not count it");
	scene_start(&f->s, 1000);
	counters_init(&f->counters, &f->s.meta);
	v = counters_visitor(&f->counters);
	calls_add_visitor(&f->s.calls, &v);
}

static void end(struct fixture *f)
{
	counters_release(&f->counters);
	scene_release(&f->s);
	vec_release(&f->s.meta.counters);
}

static void values(struct fixture *f, uint64_t time, uint32_t tid, uint64_t mask, uint64_t a,
		   uint64_t b)
{
	uint64_t v[RECORD_VALUES_MIN] = { mask, a, b };
	struct record r = { .time_ns = time,
			    .kind = REC_COUNTERS,
			    .cpu = tid,
			    .tid = tid,
			    .tgid = 1,
			    .n_values = mask == 3 ? 3 : 2,
			    .values = v };

	calls_record(&f->s.calls, &r);
}

/* A call of ns with counts of both counters, 1 µs behind *now. */
static void call(struct fixture *f, uint64_t *now, uint32_t id, uint64_t ns, uint64_t cycles,
		 uint64_t misses)
{
	static uint64_t c = 1u << 20, m = 77;

	*now += 1000;
	enter(&f->s, *now, 5, id, 0x1000);
	values(f, *now, 5, 3, c, m);
	*now += ns;
	c += cycles;
	m += misses;
	leave(&f->s, *now, 5, id, 0x1000);
	values(f, *now, 5, 3, c, m);
}

/* The grouping's visitor says of each call what it is one of. */
static void groups_have_means_of_their_own(void **state)
{
	struct call_group group = { 0 };
	struct block_counters bc;
	struct fixture f;
	uint64_t now = 2000;

	begin(&f);
	counters_group_by(&f.counters, &group);
	for (int i = 0; i < 60; i++) {
		group.number = i % 3 ? 1 : MAP_NONE;
		call(&f, &now, F, 100, i % 3 ? 300 : 900, 1);
		group.number = 3;
		call(&f, &now, F, 100, 50, 2);
	}
	group.inner = true;
	call(&f, &now, F, 100, 7000, 2);
	calls_end(&f.s.calls, now + 1000);
	bc = counters_of_group(&f.counters, 1, 100, 1000);
	assert_int_equal(bc.all->value[0].calls, 40);
	assert_float_equal(bc.all->value[0].mean, 300, 1e-9);
	block_counters_release(&bc);
	bc = counters_of_group(&f.counters, 3, 100, 1000);
	assert_int_equal(bc.all->value[0].calls, 60);
	assert_float_equal(bc.all->value[0].mean, 50, 1e-9);
	assert_int_equal(bc.own->value[0].calls, 61);
	block_counters_release(&bc);
	assert_null(counters_of_group(&f.counters, 2, 100, 1000).all);
	assert_null(counters_of_group(&f.counters, 4, 100, 1000).all);
	end(&f);
}

static void means_of_all_fast_and_slow_calls(void **state)
{
	struct fixture f;
	struct block_counters bc;
	uint64_t now = 2000;

	begin(&f);
	for (int i = 0; i < 80; i++)
		call(&f, &now, F, 100, 300, 1);
	for (int i = 0; i < 20; i++)
		call(&f, &now, F, 1000, 700, 11);
	calls_end(&f.s.calls, now + 1000);
	bc = counters_of(&f.counters, F, 100, 1000);
	assert_non_null(bc.all);
	assert_int_equal(bc.all->value[0].calls, 100);
	assert_int_equal(bc.all->value[0].fast_calls, 80);
	assert_int_equal(bc.all->value[0].slow_calls, 20);
	assert_float_equal(bc.all->value[0].mean, 380, 1e-9);
	assert_float_equal(bc.all->value[0].mean_fast, 300, 1e-9);
	assert_float_equal(bc.all->value[0].mean_slow, 700, 1e-9);
	assert_float_equal(bc.all->value[1].mean_slow, 11, 1e-9);
	assert_float_equal(bc.all->ns.mean_slow, 1000, 1e-9);
	assert_float_equal(bc.all->running_ns.mean_fast, 100, 1e-9);
	assert_float_equal(bc.all->r2[1], 1, 1e-9);
	assert_float_equal(bc.own->value[1].mean, bc.all->value[1].mean, 1e-9);
	assert_ptr_equal(counter_role(bc.all, &f.s.meta, "misses"), &bc.all->value[1]);
	assert_null(counter_role(bc.all, &f.s.meta, "node-loads"));
	assert_null(counter_role(NULL, &f.s.meta, "misses"));
	block_counters_release(&bc);
	end(&f);
}

/* A call of ns whose exit alone has a value, and only if it counted. */
static void call_on_change(struct fixture *f, uint64_t *now, uint64_t ns, uint64_t faults)
{
	static uint64_t total = 40;

	*now += 1000;
	enter(&f->s, *now, 5, F, 0x1000);
	*now += ns;
	leave(&f->s, *now, 5, F, 0x1000);
	total += faults;
	if (faults)
		values(f, *now, 5, 2, total, 0);
}

static void what_is_written_on_change_counts_at_every_call(void **state)
{
	struct fixture f;
	struct block_counters bc;
	uint64_t now = 2000;

	begin(&f);
	counters_release(&f.counters);
	f.s.meta.counters.data[1].on_change = true;
	counters_init(&f.counters, &f.s.meta);
	call_on_change(&f, &now, 100, 1); /* what came before it is not known */
	for (int i = 0; i < 90; i++)
		call_on_change(&f, &now, 100, 0);
	for (int i = 0; i < 10; i++)
		call_on_change(&f, &now, 1000, 3);
	call_on_change(&f, &now, 1000, 0);
	calls_end(&f.s.calls, now + 1000);
	bc = counters_of(&f.counters, F, 100, 1000);
	assert_non_null(bc.all);
	assert_int_equal(bc.all->value[1].calls, 101);
	assert_float_equal(bc.all->value[1].mean_fast, 0, 1e-9);
	assert_int_equal(bc.all->value[1].slow_calls, 11);
	assert_float_equal(bc.all->value[1].mean_slow, 30. / 11, 1e-9);
	assert_int_equal(bc.all->value[0].calls, 0);
	assert_true(bc.all->r2[1] > 0.5);
	block_counters_release(&bc);
	end(&f);
}

/* f calls g: what g counts is no part of f's own, whoever has the records. */
static void a_callee_is_taken_out_where_values_are_kept(void **state)
{
	struct fixture f;
	struct block_counters outer, inner;
	uint64_t now = 2000, total = 7;

	begin(&f);
	counters_release(&f.counters);
	f.s.meta.counters.data[1].on_change = true;
	counters_init(&f.counters, &f.s.meta);
	for (int i = 0; i < 20; i++) {
		enter(&f.s, now += 1000, 5, F, 0x1000);
		values(&f, now, 5, 2, total, 0);
		enter(&f.s, now += 100, 5, G, 0xf00);
		leave(&f.s, now += 100, 5, G, 0xf00);
		values(&f, now, 5, 2, total += 5, 0);
		leave(&f.s, now += 100, 5, F, 0x1000);
		if (i % 2)
			values(&f, now, 5, 2, ++total, 0);
	}
	calls_end(&f.s.calls, now + 1000);
	outer = counters_of(&f.counters, F, 300, 300);
	inner = counters_of(&f.counters, G, 100, 100);
	assert_float_equal(outer.all->value[1].mean, 5.5, 1e-9);
	assert_float_equal(outer.own->value[1].mean, 0.5, 1e-9);
	assert_int_equal(outer.own->value[1].calls, 20);
	assert_float_equal(inner.all->value[1].mean, 5, 1e-9);
	block_counters_release(&outer);
	block_counters_release(&inner);
	end(&f);
}

static void nothing_counted_is_no_zero(void **state)
{
	struct fixture f;
	struct block_counters bc;

	begin(&f);
	enter(&f.s, 2000, 5, F, 0x1000);
	leave(&f.s, 2100, 5, F, 0x1000);
	/* counted, but its exit has no values */
	enter(&f.s, 3000, 5, G, 0x1000);
	values(&f, 3000, 5, 3, 1, 1);
	leave(&f.s, 3100, 5, G, 0x1000);
	/* and then one whose values lack a counter */
	enter(&f.s, 4000, 5, G, 0x1000);
	values(&f, 4000, 5, 3, 10, 10);
	leave(&f.s, 4100, 5, G, 0x1000);
	values(&f, 4100, 5, 1, 17, 0);
	calls_end(&f.s.calls, 5000);
	bc = counters_of(&f.counters, F, 100, 101);
	assert_null(bc.all);
	assert_null(bc.own);
	bc = counters_of(&f.counters, G, 100, 101);
	assert_int_equal(bc.all->value[0].calls, 1);
	assert_float_equal(bc.all->value[0].mean, 7, 1e-9);
	assert_true(isnan(bc.all->value[0].mean_slow));
	assert_int_equal(bc.all->value[1].calls, 0);
	assert_true(isnan(bc.all->value[1].mean));
	assert_null(counter_role(bc.all, &f.s.meta, "misses"));
	assert_true(isnan(bc.all->r2[0]));
	block_counters_release(&bc);
	end(&f);
}

static void own_values_are_without_counted_callees(void **state)
{
	struct fixture f;
	struct block_counters bc;

	begin(&f);
	enter(&f.s, 2000, 5, F, 0x1000);
	values(&f, 2000, 5, 3, 100, 10);
	enter(&f.s, 2100, 5, G, 0xf00);
	values(&f, 2100, 5, 3, 150, 12);
	leave(&f.s, 2200, 5, G, 0xf00);
	values(&f, 2200, 5, 3, 180, 17);
	leave(&f.s, 2300, 5, F, 0x1000);
	values(&f, 2300, 5, 3, 200, 20);
	/* the callee of this one is not counted: its own values are not known */
	enter(&f.s, 3000, 5, F, 0x1000);
	values(&f, 3000, 5, 3, 300, 30);
	enter(&f.s, 3100, 5, G, 0xf00);
	leave(&f.s, 3200, 5, G, 0xf00);
	leave(&f.s, 3300, 5, F, 0x1000);
	values(&f, 3300, 5, 3, 500, 40);
	calls_end(&f.s.calls, 5000);
	bc = counters_of(&f.counters, F, 300, 301);
	assert_int_equal(bc.all->value[0].calls, 2);
	assert_float_equal(bc.all->value[0].mean, 150, 1e-9);
	assert_int_equal(bc.own->value[0].calls, 1);
	assert_float_equal(bc.own->value[0].mean, 70, 1e-9);
	assert_float_equal(bc.own->value[1].mean, 5, 1e-9);
	block_counters_release(&bc);
	end(&f);
}

static void a_lost_exit_leaves_no_values_behind(void **state)
{
	struct fixture f;
	struct block_counters bc;

	begin(&f);
	enter(&f.s, 2000, 5, F, 0x1000);
	values(&f, 2000, 5, 3, 100, 10);
	other(&f.s, REC_LOST, 2500, 5, 0, 3, 2100);
	/* the same depth again, not counted */
	enter(&f.s, 3000, 5, F, 0x1000);
	leave(&f.s, 3100, 5, F, 0x1000);
	values(&f, 3100, 5, 3, 900, 90);
	calls_end(&f.s.calls, 5000);
	bc = counters_of(&f.counters, F, 100, 101);
	assert_null(bc.all);
	end(&f);
}

static void recursion_counts_the_outermost_call(void **state)
{
	struct fixture f;
	struct block_counters bc;

	begin(&f);
	enter(&f.s, 2000, 5, F, 0x1000);
	values(&f, 2000, 5, 3, 0, 0);
	enter(&f.s, 2100, 5, F, 0xf00);
	values(&f, 2100, 5, 3, 10, 1);
	leave(&f.s, 2200, 5, F, 0xf00);
	values(&f, 2200, 5, 3, 30, 2);
	leave(&f.s, 2300, 5, F, 0x1000);
	values(&f, 2300, 5, 3, 100, 3);
	calls_end(&f.s.calls, 5000);
	bc = counters_of(&f.counters, F, 300, 301);
	assert_int_equal(bc.all->value[0].calls, 1);
	assert_float_equal(bc.all->value[0].mean, 100, 1e-9);
	assert_int_equal(bc.own->value[0].calls, 2);
	assert_float_equal(bc.own->value[0].mean, 50, 1e-9);
	block_counters_release(&bc);
	end(&f);
}

/* With the stamps of a callee whose probes cost something inside. */
static void cycles_are_those_of_the_stamps(void **state)
{
	struct block_counters bc;
	struct fixture f;
	uint64_t now = 2000;

	begin(&f);
	f.s.meta.counters.data[0].role = META_STAMP;
	counters_release(&f.counters);
	counters_init(&f.counters, &f.s.meta);
	assert_int_equal(f.counters.stamp, 1);
	f.counters.cycles_per_ns = 2.5;
	for (int i = 0; i < 99; i++)
		call(&f, &now, F, 100, 250 + (uint64_t)(i > 60) * 10000, 0);
	call(&f, &now, F, 100, 247, 0);
	calls_end(&f.s.calls, now + 1000);
	bc = counters_of(&f.counters, F, 100, 101);
	assert_int_equal(bc.cycles.calls, 100);
	assert_int_equal(bc.cycles.min, 247);
	assert_in_range(bc.cycles.p50, 246, 255);
	assert_in_range(bc.cycles.p99, 10090, 10410);
	block_counters_release(&bc);
	bc = counters_of(&f.counters, G, 100, 101);
	assert_int_equal(bc.cycles.calls, 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_have_means_of_their_own),
		cmocka_unit_test(means_of_all_fast_and_slow_calls),
		cmocka_unit_test(what_is_written_on_change_counts_at_every_call),
		cmocka_unit_test(a_callee_is_taken_out_where_values_are_kept),
		cmocka_unit_test(nothing_counted_is_no_zero),
		cmocka_unit_test(own_values_are_without_counted_callees),
		cmocka_unit_test(a_lost_exit_leaves_no_values_behind),
		cmocka_unit_test(recursion_counts_the_outermost_call),
		cmocka_unit_test(cycles_are_those_of_the_stamps),
	};

	return unit_run(tests);
}
