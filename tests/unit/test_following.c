/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs after a traced function returned, by samples. */
#include "unit.h"

#include "analysis/evidence/following.h"
#include "trace/meta/meta.h"

enum { LOCK = 3, OTHER };
enum { NOWHERE, FROM_GET, IN_EVICT, IN_GET, IN_STORE, IN_LIBC };

static struct meta_frame frames[] = {
	{ .symbol = "get", .object = "app", .file = "" },
	{ .symbol = "evict", .object = "app", .file = "" },
	{ .symbol = "spin", .object = "app", .file = "" },
	{ .symbol = "store", .object = "app", .file = "" },
	{ .symbol = "memcpy", .object = "/lib/libc.so.6", .file = "" },
};
static const uint32_t from_get[] = { 0 }, in_evict[] = { 2, 1, 0 }, in_store[] = { 3, 0 },
		      in_libc[] = { 4, 0 };

static void begin(struct meta *meta)
{
	const struct meta_stack stacks[] = {
		[FROM_GET] = { .n_frames = 1, .frames = from_get },
		[IN_EVICT] = { .n_frames = 3, .frames = in_evict },
		[IN_GET] = { .n_frames = 1, .frames = from_get },
		[IN_STORE] = { .n_frames = 2, .frames = in_store },
		[IN_LIBC] = { .n_frames = 2, .frames = in_libc },
	};

	*meta = (struct meta){ 0 };
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++)
		*vec_add(&meta->stacks) = stacks[i];
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		*vec_add(&meta->frames) = frames[i];
}

static void end(struct meta *meta, struct following *f)
{
	following_release(f);
	vec_release(&meta->stacks);
	vec_release(&meta->frames);
}

static void add(struct following *f, const struct meta *meta, unsigned n, uint64_t call,
		uint64_t sample)
{
	while (n--)
		following_add(f, meta, LOCK, call, sample);
}

static void it_is_what_the_caller_calls(void **state)
{
	struct following f = { 0 };
	struct meta meta;

	begin(&meta);
	add(&f, &meta, 9, FROM_GET, IN_EVICT);
	add(&f, &meta, 2, FROM_GET, IN_STORE);
	assert_string_equal(following_name(&f, LOCK), "evict");
	assert_null(following_name(&f, OTHER));
	end(&meta, &f);
}

static void or_the_caller_where_that_is_several(void **state)
{
	struct following f = { 0 };
	struct meta meta;

	begin(&meta);
	add(&f, &meta, 5, FROM_GET, IN_EVICT);
	add(&f, &meta, 4, FROM_GET, IN_STORE);
	add(&f, &meta, 4, FROM_GET, IN_LIBC);
	assert_string_equal(following_name(&f, LOCK), "get");
	end(&meta, &f);
}

static void from_nobody_knows_where_it_is_the_innermost(void **state)
{
	struct following f = { 0 };
	struct meta meta;

	begin(&meta);
	add(&f, &meta, 9, NOWHERE, IN_EVICT);
	assert_string_equal(following_name(&f, LOCK), "spin");
	end(&meta, &f);
}

static void few_samples_or_several_functions_name_nothing(void **state)
{
	struct following f = { 0 };
	struct meta meta;

	begin(&meta);
	add(&f, &meta, FOLLOWING_LEAST - 1, FROM_GET, IN_EVICT);
	assert_null(following_name(&f, LOCK));
	add(&f, &meta, 9, FROM_GET, NOWHERE);
	assert_null(following_name(&f, LOCK));
	end(&meta, &f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_the_caller_calls),
		cmocka_unit_test(or_the_caller_where_that_is_several),
		cmocka_unit_test(from_nobody_knows_where_it_is_the_innermost),
		cmocka_unit_test(few_samples_or_several_functions_name_nothing),
	};

	return unit_run(tests);
}
