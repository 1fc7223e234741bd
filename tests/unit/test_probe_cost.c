/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What probes cost is taken out of the calls that they are in. */
#include "unit.h"
#include "calls_scene.h"

/* Calibrated as by scene_calibrate; not begun. */
static void describe(struct scene *s, uint64_t full, uint64_t inner, double jitter)
{
	*s = (struct scene){ 0 };
	scene_function(s, "f", 1);
	scene_function(s, "g", 1);
	scene_function(s, "h", 1);
	scene_calibrate(s, full, inner, jitter);
}

static void probe_cost_of_callees_is_taken_out(void **state)
{
	struct scene s;

	describe(&s, 60, 20, 0);
	scene_start(&s, 1000);
	/* f works 100, calls g, which works 50 and calls h, which works 30 */
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1050, 1, G, 0xf00);
	enter(&s, 1090, 1, H, 0xe00);
	leave(&s, 1140, 1, H, 0xe00);  /* 30 + inner 20 */
	leave(&s, 1210, 1, G, 0xf00);  /* 50 + 30 + h's full 60 + inner 20 */
	leave(&s, 1320, 1, F, 0x1000); /* 100 + 80 + 2 * 60 + inner 20 */
	expect(&s, 0, H, CALL_TIMED, 50, 50);
	expect(&s, 1, G, CALL_TIMED, 100, 70);
	expect(&s, 2, F, CALL_TIMED, 200, 120);
	assert_int_equal(s.calls.bounded, 0);
	scene_release(&s);
}

/* Probes of callees that cost less than the median did not take more than the call contains. */
static void probe_cost_is_what_there_can_be(void **state)
{
	struct scene s;

	describe(&s, 60, 20, 0);
	scene_start(&s, 1000);
	/* a callee that is over in 12: its probe cannot have cost 20 inside of it */
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1050, 1, G, 0xf00);
	leave(&s, 1062, 1, G, 0xf00);
	leave(&s, 1200, 1, F, 0x1000);
	expect(&s, 0, G, CALL_TIMED, 12, 12);
	expect(&s, 1, F, CALL_TIMED, 200 - 12 - 40, 200 - 12 - 40);
	assert_int_equal(s.calls.bounded, 0);
	/* 30 are beside the callee, of which f's own probe took 20: 10 are left, not 40 */
	enter(&s, 2000, 1, F, 0x1000);
	enter(&s, 2010, 1, G, 0xf00);
	leave(&s, 2040, 1, G, 0xf00);
	leave(&s, 2060, 1, F, 0x1000);
	expect(&s, 3, F, CALL_TIMED, 60 - 20 - 10, 20);
	assert_int_equal(s.calls.bounded, 1);
	scene_release(&s);
}

/* Many callees, each with a probe as cheap as probes get: what is left is never nothing. */
static void no_call_takes_no_time(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	describe(&s, 800, 500, 30);
	scene_start(&s, 1000);
	for (unsigned i = 0; i < 100; i++) {
		enter(&s, t, 1, F, 0x1000);
		t += 510;
		for (unsigned k = 0; k < 3; k++) {
			enter(&s, t, 1, G, 0xf00);
			leave(&s, t += 500 + i % 40, 1, G, 0xf00);
			t += 200 + i % 150;
		}
		leave(&s, t, 1, F, 0x1000);
	}
	scene_finish(&s, t);
	assert_true(scene_block(&s, "f")->min_ns >= 500);
	assert_true(scene_block(&s, "f")->self_min_ns >= 500);
	assert_true(s.calls.bounded > 0);
	scene_release(&s);
}

/* Calibrated with 1 and with 4 threads: what is subtracted follows how many are alive. */
static void probe_cost_follows_the_threads(void **state)
{
	struct scene s;

	describe(&s, 60, 20, 0);
	scene_calibrate(&s, 160, 20, 0);
	s.meta.calibrations.data[1].threads = 4;
	scene_start(&s, 1000);
	for (uint32_t tid = 1; tid <= 4; tid += 3) {
		enter(&s, 1000, tid, F, 0x1000);
		enter(&s, 1100, tid, G, 0xf00);
		leave(&s, 1200, tid, G, 0xf00);
		leave(&s, 2000, tid, F, 0x1000);
		other(&s, REC_FORK, 2000, 9, 9, 2, 1);
		other(&s, REC_FORK, 2000, 9, 9, 3, 1);
	}
	expect(&s, 1, F, CALL_TIMED, 1000 - 60, 1000 - 60 - 80);
	expect(&s, 3, F, CALL_TIMED, 1000 - 160, 1000 - 160 - 80);
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probe_cost_of_callees_is_taken_out),
		cmocka_unit_test(probe_cost_is_what_there_can_be),
		cmocka_unit_test(no_call_takes_no_time),
		cmocka_unit_test(probe_cost_follows_the_threads),
	};

	return unit_run(tests);
}
