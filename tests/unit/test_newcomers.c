/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which processes lack calls that are timed in process, by what they mapped and when. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "probes/place/plan.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/beside.h"
#include "probes/session/newcomers.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"

#define COMMAND 4194301
#define CHILD	4194302

static struct session_options options;
static struct recording r;
static struct newcomers newcomers;
static struct planned planned;
/* The command is patched between 100 and 200. */
static const struct beside beside = {
	.n = 1, .tried = true, .patched_ns = 100, .launched_ns = 200
};

static int set_up(void **state)
{
	struct err err = { 0 };

	(void)state;
	memset(&r, 0, sizeof(r));
	memset(&planned, 0, sizeof(planned));
	newcomers = (struct newcomers){ .beside = &beside };
	r.options = &options;
	r.launch.pid = COMMAND;
	r.drain.mappings = calloc(8, sizeof(*r.drain.mappings));
	r.objects.dsos = dso_cache_new();
	assert_int_equal(dso_get(r.objects.dsos, "/proc/self/exe", &planned.what.dso, &err), 0);
	planned.is_beside = true;
	*vec_add(&r.plan) = &planned;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	session_newcomers_release(&newcomers);
	vec_release(&r.plan);
	dso_cache_free(r.objects.dsos);
	free(r.drain.mappings);
	return 0;
}

/* of_it: the file has a function that is timed in process. */
static void map_file(pid_t pid, uint64_t time_ns, bool of_it)
{
	const struct dso *dso = planned.what.dso;

	r.drain.mappings[r.drain.n_mappings++] = (struct drain_mapping){
		.pid = pid,
		.time_ns = time_ns,
		.device_major = major(dso_device(dso)),
		.device_minor = minor(dso_device(dso)),
		.inode = dso_inode(dso) + !of_it,
	};
	session_newcomers_note(&newcomers, &r);
	r.drain.n_mappings = 0;
}

static void another_library_takes_no_patches_away(void **state)
{
	(void)state;
	map_file(COMMAND, 150, true);
	map_file(COMMAND, 300, false);
	assert_int_equal(newcomers.next.n, 1);
	assert_true(newcomers.next.data[0].has_file);
	assert_true(newcomers.next.data[0].may_be_patched);
}

static void a_file_that_is_mapped_later_is_not_patched(void **state)
{
	(void)state;
	map_file(COMMAND, 150, true);
	map_file(COMMAND, 300, true);
	assert_int_equal(newcomers.next.n, 1);
	assert_false(newcomers.next.data[0].may_be_patched);
}

static void a_child_is_not_patched(void **state)
{
	(void)state;
	map_file(CHILD, 150, true);
	map_file(CHILD, 160, false);
	assert_int_equal(newcomers.next.n, 1);
	assert_false(newcomers.next.data[0].may_be_patched);
}

static void a_file_without_such_functions_makes_no_newcomer(void **state)
{
	(void)state;
	map_file(CHILD, 300, false);
	assert_int_equal(newcomers.next.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(another_library_takes_no_patches_away, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_is_mapped_later_is_not_patched, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_child_is_not_patched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_without_such_functions_makes_no_newcomer,
						set_up, tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
