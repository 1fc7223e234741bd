/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which samples of a CPU's counters are one application's. */
#include "unit.h"

#include "analysis/fleet/ipc.h"
#include "analysis/fleet/live.h"

static void stays(struct fleet_live *l, uint32_t cpu, uint32_t app, uint64_t start_ns,
		  uint64_t end_ns)
{
	fleet_live_ran(l, &(struct fleet_span){
				  .cpu = cpu, .app = app, .start_ns = start_ns, .end_ns = end_ns });
}

static void sample(struct fleet_ipc *f, uint32_t cpu, uint32_t app, uint64_t start_ns,
		   uint64_t end_ns)
{
	*vec_add(&f->samples) =
		(struct fleet_ipc_sample){ cpu, app, start_ns, end_ns, { 1500000 } };
	f->n = 1;
}

static void expect(struct fleet_ipc *f, struct fleet_live *l, size_t taken, uint64_t mixed)
{
	fleet_ipc_deliver(f, l);
	assert_int_equal(l->measures.n, taken);
	assert_int_equal(f->mixed, mixed);
	assert_int_equal(f->samples.n, 0);
	fleet_live_release(l);
	fleet_ipc_release(f);
}

static void who_had_the_cpu_all_the_while_has_the_sample(void **state)
{
	struct fleet_live l = { 0 };
	struct fleet_ipc f = { 0 };

	stays(&l, 1, 7, 10, 100); /* two threads of it, one after the other */
	stays(&l, 1, 7, 100, 200);
	sample(&f, 1, 7, 20, 150);
	sample(&f, 1, 7, 150, 200);
	fleet_ipc_deliver(&f, &l);
	assert_int_equal(l.measures.n, 2);
	assert_int_equal(l.measures.data[0].value, 1500000);
	assert_int_equal(l.measures.data[0].start_ns, 20);
	assert_int_equal(l.measures.data[1].end_ns, 200);
	expect(&f, &l, 2, 0);
}

static void a_sample_of_several_is_nobodys(void **state)
{
	struct fleet_live l = { 0 };
	struct fleet_ipc f = { 0 };

	stays(&l, 1, 8, 60, 70); /* as rings are read: not in order */
	stays(&l, 1, 7, 10, 60);
	stays(&l, 1, 7, 70, 90);
	stays(&l, 1, 7, 95, 120); /* idle before */
	stays(&l, 2, 7, 0, 500);
	sample(&f, 1, 7, 20, 50);
	sample(&f, 1, 7, 50, 80);   /* 8 was in between */
	sample(&f, 1, 7, 80, 100);  /* nobody was */
	sample(&f, 1, 8, 100, 110); /* another had it */
	sample(&f, 1, 7, 110, 130); /* goes on after what is known */
	sample(&f, 1, 7, 5, 15);    /* begins before it */
	sample(&f, 2, 7, 5, 400);
	sample(&f, 3, 7, 5, 15); /* a CPU of which nothing is known */
	expect(&f, &l, 2, 6);
}

static void values_fit(void **state)
{
	assert_int_equal(fleet_ipc_value(2500000, 1000000), 2500000);
	assert_int_equal(fleet_ipc_value(1, UINT64_MAX), 0);
	assert_int_equal(fleet_ipc_value(UINT64_MAX, 1), UINT32_MAX);
	assert_int_equal(fleet_ipc_rate(5, 1000), 5000000);
	assert_int_equal(fleet_ipc_rate(0, 1000), 1);
	assert_int_equal(fleet_ipc_rate(0, 0), 1);
	assert_int_equal(fleet_ipc_rate(UINT64_MAX, 1), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_had_the_cpu_all_the_while_has_the_sample),
		cmocka_unit_test(a_sample_of_several_is_nobodys),
		cmocka_unit_test(values_fit),
	};

	return unit_run(tests);
}
