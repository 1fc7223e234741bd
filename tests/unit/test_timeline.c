/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When events were dropped, and when there were no probes. */
#include "unit.h"

#include "analysis/calls/calls.h"
#include "analysis/result/timeline.h"
#include "trace/format.h"
#include "trace/record.h"

static void lose(struct timeline *tl, uint64_t number, uint64_t since_ns, uint64_t until_ns)
{
	struct call_visitor v = timeline_losses(tl);

	v.lost(v.self, NULL,
	       &(struct call_loss){
		       .number = number, .since_ns = since_ns, .until_ns = until_ns, .count = 10 });
}

static void assert_loss(const struct timeline_loss *l, uint64_t from_ns, uint64_t to_ns,
			uint64_t count)
{
	assert_int_equal(l->from_ns, from_ns);
	assert_int_equal(l->to_ns, to_ns);
	assert_int_equal(l->count, count);
}

static void losses_that_overlap_are_one(void **state)
{
	struct timeline tl = { 0 };

	lose(&tl, 1, 100, 200);
	lose(&tl, 1, 100, 200); /* as another thread receives it */
	lose(&tl, 2, 150, 300);
	lose(&tl, 3, 50, 250);
	lose(&tl, 4, 400, 500);
	assert_int_equal(tl.losses.n, 2);
	assert_loss(&tl.losses.data[0], 50, 300, 30);
	assert_loss(&tl.losses.data[1], 400, 500, 10);
	timeline_release(&tl);
}

static void losses_beyond_the_last_row_widen_it(void **state)
{
	struct timeline tl = { 0 };

	for (uint64_t i = 1; i <= TIMELINE_LOSSES_MAX + 2; i++)
		lose(&tl, i, i * 100, i * 100 + 50);
	assert_int_equal(tl.losses.n, TIMELINE_LOSSES_MAX);
	assert_loss(&tl.losses.data[TIMELINE_LOSSES_MAX - 1], TIMELINE_LOSSES_MAX * 100ull,
		    (TIMELINE_LOSSES_MAX + 2) * 100ull + 50, 30);
	timeline_release(&tl);
}

static void put(struct timeline *tl, unsigned kind, uint64_t time_ns)
{
	struct call_visitor v = timeline_losses(tl);

	v.record(v.self, NULL, &(struct record){ .kind = kind, .time_ns = time_ns });
}

static void a_pause_ends_when_probes_come_back(void **state)
{
	struct timeline tl = { 0 };

	put(&tl, REC_SET_ON, 10);
	put(&tl, REC_SET_ON, 20);
	put(&tl, REC_SET_OFF, 30); /* one of two sets is still on */
	put(&tl, REC_SET_ON, 40);
	put(&tl, REC_SET_OFF, 50);
	put(&tl, REC_SET_OFF, 60);
	put(&tl, REC_SET_ON, 90);
	put(&tl, REC_SWITCHES_OFF, 100);
	put(&tl, REC_SWITCHES_ON, 130);
	put(&tl, REC_SWITCHES_ON, 140);
	put(&tl, REC_SET_OFF, 150); /* the end, which is no pause */
	assert_int_equal(tl.pauses.n, 2);
	assert_loss(&tl.pauses.data[0], 60, 90, 0);
	assert_loss(&tl.pauses.data[1], 100, 130, 0);
	timeline_release(&tl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_that_overlap_are_one),
		cmocka_unit_test(losses_beyond_the_last_row_widen_it),
		cmocka_unit_test(a_pause_ends_when_probes_come_back),
	};

	return unit_run(tests);
}
