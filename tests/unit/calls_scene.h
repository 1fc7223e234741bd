/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of two sets, one without exits, and what became of calls of them. */
#ifndef ISPOT_TESTS_CALLS_SCENE_H
#define ISPOT_TESTS_CALLS_SCENE_H

#include "unit.h"
#include "scene.h"

enum { F, G, H, OTHER_SET, NO_EXIT };

static inline void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	scene_function(s, "f", 1);
	scene_function(s, "g", 1);
	scene_function(s, "h", 1);
	scene_function(s, "other", 2);
	scene_function(s, "no_exit", 1);
	s->meta.functions.data[NO_EXIT].exit = EXIT_NONE;
	scene_start(s, 1000);
}

static inline void expect(const struct scene *s, size_t i, uint32_t id, enum call_end end,
			  uint64_t ns, uint64_t own)
{
	assert_true(i < s->n_log);
	assert_int_equal(s->log[i].id, id);
	assert_int_equal(s->log[i].end, end);
	if (end == CALL_TIMED || end == CALL_OPEN) {
		assert_int_equal(s->log[i].duration_ns, ns);
		assert_int_equal(s->log[i].own_ns, own);
	}
}

#endif
