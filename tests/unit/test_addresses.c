// SPDX-License-Identifier: GPL-3.0-or-later
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/drain/addresses.h"
#include "probes/process/spaces.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/data.h"
#include "symbol/dso/dso.h"

struct pair {
	char a[24], b[40];
};
struct pair zeroed_pairs[3];		      /* in .bss: not in the file */
struct pair given_pairs[2] = { { "x", "" } }; /* in .data */

struct setup {
	struct dso_cache *cache;
	struct spaces spaces;
};

static int set_up(void **state)
{
	struct setup *s = calloc(1, sizeof(*s));

	s->cache = dso_cache_new();
	spaces_init(&s->spaces, s->cache);
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct setup *s = *state;

	spaces_release(&s->spaces);
	dso_cache_free(s->cache);
	free(s);
	return 0;
}

static void is_at(struct setup *s, const void *p, const char *variable, uint64_t wanted)
{
	struct place place;
	uint64_t offset = 0;
	const char *name;

	assert_true(spaces_find_data(&s->spaces, getpid(), (uintptr_t)p, &place));
	name = dso_variable_at(place.dso, place.address, &offset);
	assert_non_null(name);
	assert_string_equal(name, variable);
	assert_int_equal(offset, wanted);
}

static void variables_of_this_program(void **state)
{
	is_at(*state, &zeroed_pairs[0], "zeroed_pairs", 0);
	is_at(*state, &zeroed_pairs[2].b, "zeroed_pairs", 2 * sizeof(struct pair) + 24);
	is_at(*state, &given_pairs[1], "given_pairs", sizeof(struct pair));
	is_at(*state, &given_pairs[1].b[39], "given_pairs", 2 * sizeof(struct pair) - 1);
}

static void no_variables(void **state)
{
	struct setup *s = *state;
	char *heap = malloc(64), on_stack = 0;
	struct place place;

	assert_false(spaces_find_data(&s->spaces, getpid(), (uintptr_t)heap, &place));
	assert_false(spaces_find_data(&s->spaces, getpid(), (uintptr_t)&on_stack, &place));
	assert_false(spaces_find_data(&s->spaces, getpid(), (uintptr_t)no_variables, &place));
	assert_false(spaces_find_data(&s->spaces, getpid(), 8, &place));
	assert_false(spaces_find_data(&s->spaces, getpid(), UINT64_MAX, &place));
	free(heap);
}

static void each_address_comes_once(void **state)
{
	struct drain_addresses a;
	const struct drain_address *first;

	drain_addresses_init(&a);
	drain_address(&a, 7, 0); /* NULL is no place */
	drain_address(&a, 7, 4096);
	drain_address(&a, 8, 4096);
	first = drain_addresses_next(&a);
	assert_int_equal(first->value, 4096);
	assert_int_equal(first->pid, 7);
	assert_null(drain_addresses_next(&a));
	drain_address(&a, 9, 4096);
	assert_null(drain_addresses_next(&a));
	drain_addresses_release(&a);
}

static void more_than_are_told_apart(void **state)
{
	struct drain_addresses a;
	uint32_t n = 0;

	drain_addresses_init(&a);
	for (uint64_t i = 1; i <= DRAIN_ADDRESSES_MAX; i++)
		drain_address(&a, 7, i * 8);
	assert_false(a.full);
	drain_address(&a, 7, 8); /* known */
	assert_false(a.full);
	drain_address(&a, 7, 4);
	assert_true(a.full);
	while (drain_addresses_next(&a))
		n++;
	assert_int_equal(n, DRAIN_ADDRESSES_MAX);
	drain_addresses_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(variables_of_this_program, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_variables, set_up, tear_down),
		cmocka_unit_test(each_address_comes_once),
		cmocka_unit_test(more_than_are_told_apart),
	};

	return unit_run(tests);
}
