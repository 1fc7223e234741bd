/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that were too short to be written count as the recorder measured them. */
#include "unit.h"

#include "analysis/calls/brief.h"
#include "scene.h"

#define VALUES (BRIEF_FIXED + BRIEF_OCTAVES + 1)

static const struct sci_function *read_one(struct scene *s, uint32_t n_values)
{
	/* 10 calls of 5 us in all, with 30 calls inside, probing which took 900 ns */
	const uint64_t values[VALUES] = { 0,
					  10,
					  10,
					  5000,
					  400,
					  30,
					  3000,
					  200,
					  5900,
					  [BRIEF_FIXED + 3] = 10,
					  [VALUES - 1] = 900 };
	const struct record r = { .time_ns = 90000,
				  .kind = REC_BRIEF,
				  .cpu = 1,
				  .tid = 1,
				  .tgid = 1,
				  .n_values = n_values,
				  .values = values };

	*s = (struct scene){ 0 };
	scene_function(s, "f", 1);
	scene_calibrate(s, 600, 50, 1.0);
	scene_start(s, 0);
	other(s, REC_SWITCH_IN, 1, 1, 1, 0, 0);
	calls_record(&s->calls, &r);
	scene_finish(s, 100000);
	return sci_function(&s->sci, 0);
}

static void probes_inside_cost_what_they_did(void **state)
{
	const struct sci_function *f;
	struct scene s;

	f = read_one(&s, VALUES);
	assert_int_equal(f->durations.count, 10);
	assert_int_equal(f->durations.sum, 5000);
	assert_int_equal(f->inside, 30);
	assert_int_equal(f->inside_cost_ns, 900);
	assert_int_equal(f->raw_ns, 5900);
	scene_release(&s);
	/* not known */
	f = read_one(&s, BRIEF_FIXED + 4);
	assert_int_equal(f->durations.count, 10);
	assert_int_equal(f->inside_cost_ns, 0);
	assert_int_equal(f->raw_ns, 5000);
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_inside_cost_what_they_did),
	};

	return unit_run(tests);
}
