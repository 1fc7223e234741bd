/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/group/callsite.h"

#include <string.h>

#include "analysis/threads/standard.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"

void callsites_init(struct callsites *s, const struct meta *meta)
{
	*s = (struct callsites){ .meta = meta };
}

void callsites_release(struct callsites *s)
{
	map_release(&s->of_stack);
	map_release(&s->of_frame);
	map_release(&s->on_line);
	vec_release(&s->all);
}

/* Returns the frame that stands for the innermost place of the stack: the innermost of the frames
 * inlined there whose source is not a system header, or the first frame. */
static uint32_t frame_of(const struct meta *meta, uint32_t stack)
{
	const struct meta_stack *m = meta_stack(meta, stack);
	const struct meta_frame *f;

	for (uint32_t i = 0; (f = meta_frame_at(meta, m, i)); i++) {
		if (f->symbol && !meta_frame_is_wrapper(f))
			return m->frames[i];
		if (!f->inlined)
			break;
	}
	return meta_frame_at(meta, m, 0) ? m->frames[0] : MAP_NONE;
}

static uint64_t line_hash(const struct meta_frame *f)
{
	return hash_bytes(f->symbol, strlen(f->symbol)) ^
	       hash_u64(hash_bytes(f->file, strlen(f->file)) ^ f->line);
}

static void count_line(struct callsites *s, uint32_t frame)
{
	const struct meta_frame *f = &s->meta->frames.data[frame];
	uint32_t n = f->symbol ? map_get(&s->on_line, line_hash(f)) : MAP_NONE;

	if (f->symbol)
		map_put(&s->on_line, line_hash(f), n == MAP_NONE ? 1 : n + 1);
}

static uint32_t site_of_frame(struct callsites *s, uint32_t frame)
{
	uint32_t i = frame == MAP_NONE ? MAP_NONE : map_get(&s->of_frame, frame);

	if (i != MAP_NONE)
		return i;
	*vec_add(&s->all) = frame;
	if (frame != MAP_NONE) {
		map_put(&s->of_frame, frame, (uint32_t)s->all.n - 1);
		count_line(s, frame);
	}
	return (uint32_t)s->all.n - 1;
}

/* Returns the site of a stack. Each stack without a frame is a site of its own, because its
 * location is not known. */
static uint32_t site_of(struct callsites *s, uint32_t stack)
{
	uint32_t i = map_get(&s->of_stack, stack);

	if (i == MAP_NONE) {
		i = site_of_frame(s, frame_of(s->meta, stack));
		map_put(&s->of_stack, stack, i);
	}
	return i;
}

uint32_t callsites_of_wait(struct callsites *s, uint32_t stack, bool (*passes)(const char *symbol))
{
	const struct meta *meta = s->meta;
	uint32_t sleeps = frame_of(meta, stack), wrapper = MAP_NONE;
	const char *library = sleeps == MAP_NONE ? NULL : meta->frames.data[sleeps].object;

	if (!library)
		return MAP_NONE;
	for (uint32_t i = 1; i < meta->stacks.data[stack].n_frames; i++) {
		uint32_t frame = meta->stacks.data[stack].frames[i];
		const struct meta_frame *f = meta_frame(meta, frame);

		if (!f || !f->symbol || !*f->object || !strcmp(f->object, library) ||
		    passes(f->symbol))
			continue;
		if (!meta_frame_is_wrapper(f))
			return site_of_frame(s, frame);
		if (wrapper == MAP_NONE)
			wrapper = frame;
	}
	return wrapper == MAP_NONE ? MAP_NONE : site_of_frame(s, wrapper);
}

bool callsites_in_library(const struct callsites *s, uint32_t site)
{
	const uint32_t frame = site == MAP_NONE ? MAP_NONE : s->all.data[site];
	const struct meta_frame *f = frame == MAP_NONE ? NULL : &s->meta->frames.data[frame];

	return f && f->symbol && (meta_frame_is_wrapper(f) || standard_is_library(f->object));
}

static enum keyed_has key_of(void *ctx, const struct thread *t, const struct call *c, uint64_t *key)
{
	(void)t;
	if (!(c->arg_mask & 1u << ARG_CALLER))
		return KEYED_WITHOUT;
	*key = site_of(ctx, (uint32_t)c->args[ARG_CALLER]);
	return KEYED_KEY;
}

static const struct meta_frame *frame_of_group(const struct callsites *s,
					       const struct keyed_group *g)
{
	uint32_t frame;

	if (g->has != KEYED_KEY || g->rest)
		return NULL;
	frame = s->all.data[g->key];
	return frame == MAP_NONE ? NULL : &s->meta->frames.data[frame];
}

/* Appends "worker (app.c:42)", "worker+0x3c" or "libfoo.so+0x1234"; if a line has several call
 * sites, "worker (app.c:42) +0x3c". */
static void name_frame(const struct callsites *s, const struct meta_frame *f, struct text *name)
{
	bool has_line = *f->file && f->line;

	meta_add_function(*f->symbol ? f->symbol : text_base_name(f->object), name);
	if (has_line)
		text_printf(name, " (%s:%u)", f->file, f->line);
	if (!has_line || map_get(&s->on_line, line_hash(f)) > 1)
		text_printf(name, has_line ? " +0x%llx" : "+0x%llx", (unsigned long long)f->offset);
}

static void name_of(void *ctx, const struct keyed_group *g, struct text *name)
{
	const struct meta_frame *f = frame_of_group(ctx, g);

	if (f && f->symbol && (*f->symbol || *f->object))
		name_frame(ctx, f, name);
	else
		text_add(name, g->has == KEYED_KEY ? "a place in no file" : "an unrecorded place");
}

uint32_t callsites_of(struct callsites *s, const struct call *c)
{
	return c->arg_mask & 1u << ARG_CALLER ? site_of(s, (uint32_t)c->args[ARG_CALLER])
					      : MAP_NONE;
}

uint32_t callsites_at(struct callsites *s, const char *symbol, size_t n, const char *file,
		      uint32_t line)
{
	for (uint32_t i = 0; i < s->meta->frames.n; i++) {
		const struct meta_frame *f = &s->meta->frames.data[i];

		if (f->symbol && f->line == line && strlen(f->symbol) == n &&
		    !memcmp(f->symbol, symbol, n) && !strcmp(f->file, file))
			return site_of_frame(s, i);
	}
	return MAP_NONE;
}

void callsites_name(const struct callsites *s, uint32_t site, struct text *name)
{
	struct keyed_group g = { .has = KEYED_KEY, .key = site };

	name_of((void *)(uintptr_t)s, &g, name);
}

struct keyed_rule callsites_rule(struct callsites *s)
{
	return (struct keyed_rule){ .kind = BLOCK_SITE, .ctx = s, .key = key_of, .name = name_of };
}

void callsites_place(const struct callsites *s, const struct keyed *k, struct blocks *blocks)
{
	vec_for_each (blocks, struct block, b)
		b->place = frame_of_group(s, &k->groups.data[b->id]);
}
