/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/evidence/following.h"

#include <string.h>

#include "analysis/threads/standard.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"

#define ROWS_MAX 65536

/* Whether the frame is a function of the program. */
static bool is_own(const struct meta_frame *f)
{
	return f && !f->inlined && *f->symbol && *f->object && *f->object != '[' &&
	       !meta_frame_is_wrapper(f) && !standard_is_library(f->object);
}

static const struct meta_frame *innermost_own(const struct meta *meta, uint64_t stack)
{
	const struct meta_stack *s = meta_stack(meta, stack);

	for (uint32_t i = 0; s && i < s->n_frames; i++)
		if (is_own(meta_frame_at(meta, s, i)))
			return meta_frame_at(meta, s, i);
	return NULL;
}

static const struct following_row *most_of(const struct following *f, uint32_t function,
					   bool caller)
{
	uint32_t i = map_get(&f->most, (uint64_t)function << 1 | caller);

	return i == MAP_NONE ? NULL : &f->rows.data[i];
}

static void count(struct following *f, uint32_t function, const char *symbol, bool caller)
{
	uint32_t name = strtab_add(&f->names, symbol);
	uint64_t key = (uint64_t)function << 32 | name << 1 | caller;
	uint32_t i = map_get(&f->row_of, key);
	const struct following_row *most;

	if (i == MAP_NONE) {
		if (f->rows.n >= ROWS_MAX)
			return;
		i = (uint32_t)f->rows.n;
		map_put(&f->row_of, key, i);
		*vec_add(&f->rows) = (struct following_row){ .symbol = symbol };
	}
	f->rows.data[i].samples++;
	most = most_of(f, function, caller);
	if (!most || f->rows.data[i].samples > most->samples)
		map_put(&f->most, (uint64_t)function << 1 | caller, i);
}

static uint32_t samples_after(const struct following *f, uint32_t function)
{
	uint32_t n = map_get(&f->samples, function);

	return n == MAP_NONE ? 0 : n;
}

/* Counts the caller, and what it calls next: the frame inside of it. */
static void count_below(struct following *f, const struct meta *meta, uint32_t function,
			const char *caller, uint64_t sample)
{
	const struct meta_stack *s = meta_stack(meta, sample);
	const struct meta_frame *inside = NULL;

	for (uint32_t i = 0; s && i < s->n_frames; i++) {
		const struct meta_frame *at = meta_frame_at(meta, s, i);

		if (!is_own(at))
			continue;
		if (!strcmp(at->symbol, caller)) {
			count(f, function, inside ? inside->symbol : caller, false);
			count(f, function, caller, true);
			return;
		}
		inside = at;
	}
}

void following_add(struct following *f, const struct meta *meta, uint32_t function, uint64_t call,
		   uint64_t sample)
{
	const struct meta_frame *caller = innermost_own(meta, call);
	const struct meta_frame *own;

	map_put(&f->samples, function, samples_after(f, function) + 1);
	if (caller) {
		count_below(f, meta, function, caller->symbol, sample);
		return;
	}
	own = innermost_own(meta, sample);
	if (own)
		count(f, function, own->symbol, false);
}

const char *following_name(const struct following *f, uint32_t function)
{
	uint32_t all = samples_after(f, function);

	for (int caller = 0; caller < 2 && all >= FOLLOWING_LEAST; caller++) {
		const struct following_row *row = most_of(f, function, caller);

		if (row && row->samples >= all - all / 4)
			return row->symbol;
	}
	return NULL;
}

void following_release(struct following *f)
{
	strtab_release(&f->names);
	map_release(&f->row_of);
	map_release(&f->most);
	map_release(&f->samples);
	vec_release(&f->rows);
}
