/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this machine's CPUs share, and those that are not online. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/corunner.h"
#include "base/mem.h"
#include "trace/fleet/topology.h"

static void what_is_offline_shares_nothing(void **state)
{
	struct topology *t = xcalloc(1, sizeof(*t));
	struct cpus cpus;

	assert_int_equal(cpus_read(&cpus), 0);
	assert_int_equal(topology_read(t), 0);
	assert_int_equal(t->n, cpus.n_possible);
	for (uint32_t i = 0; i < t->n; i++)
		for (uint32_t other = 0; other < i; other++)
			if (!cpus_has(&cpus, i) || !cpus_has(&cpus, other))
				assert_int_equal(corunner_class(t, i, other), CORUNNER_OTHER);
	assert_false(topology_update(t, &cpus));
	free(t);
}

static void a_cpu_that_comes_is_new_and_one_that_went_stays(void **state)
{
	struct topology *t = xcalloc(1, sizeof(*t));
	struct cpus cpus, first;
	struct topology_cpu known;

	assert_int_equal(cpus_read(&cpus), 0);
	first = cpus;
	first.n = 1;
	assert_int_equal(topology_read(t), 0);
	known = t->cpus[cpus.online[0]];
	t->n = cpus.online[0] + 2;
	t->cpus[cpus.online[0]].socket = 4711;
	t->cpus[cpus.online[0] + 1].socket = 77;
	assert_true(topology_update(t, &first));
	assert_memory_equal(&t->cpus[cpus.online[0]], &known, sizeof(known));
	assert_int_equal(t->cpus[cpus.online[0] + 1].socket, 77);
	assert_false(topology_update(t, &first));
	free(t);
}

static void sets_of_cpus_compare(void **state)
{
	struct cpus a = { .n = 2, .online = { 0, 3 } }, b = a;

	assert_true(cpus_same(&a, &b));
	assert_true(cpus_has(&a, 3));
	assert_false(cpus_has(&a, 1));
	b.online[1] = 4;
	assert_false(cpus_same(&a, &b));
	b.n = 1;
	assert_false(cpus_same(&a, &b));
	assert_false(cpus_has(&b, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_offline_shares_nothing),
		cmocka_unit_test(a_cpu_that_comes_is_new_and_one_that_went_stays),
		cmocka_unit_test(sets_of_cpus_compare),
	};

	return unit_run(tests);
}
