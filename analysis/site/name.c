/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/site/name.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/threads/standard.h"
#include "base/hash.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"

/* A name while it grows from the innermost frame outwards. */
struct naming {
	const struct meta *meta;
	const struct meta_stack *stack;
	struct strtab *names;
	struct site_path *path;
	struct text text;
	uint32_t named, depth;
};

static const struct meta_frame *frame_of(const struct naming *n, uint32_t i)
{
	return meta_frame_at(n->meta, n->stack, i);
}

/*
 * Returns the name of the function that the program called: the name by which the first frame
 * outside of the library calls it, whatever frames the library has inside, or, if that is unknown
 * as after a tail call, the outermost of these. NULL: the thread sleeps in the program itself, or
 * it is not known how it came to the library. *caller: the caller's place in the stack.
 */
static const char *called(const struct naming *n, uint32_t *caller)
{
	const struct meta_frame *first = frame_of(n, 0), *f = first, *outermost = NULL;
	const char *function = NULL;
	uint32_t i = 0;

	for (; f && !strcmp(f->object, first->object); f = frame_of(n, ++i))
		outermost = f;
	if (f && *f->calls)
		function = f->calls;
	else if (f && outermost && standard_is_library(first->object) && *outermost->symbol)
		function = outermost->symbol;
	if (function)
		*caller = i;
	return function;
}

static void add(struct naming *n, const char *name)
{
	text_add(&n->text, n->named++ ? " in " : "");
	text_add(&n->text, name);
	if (n->named >= SITE_FRAMES && n->depth < SITE_DEPTHS)
		n->path->names[n->depth++] = strtab_add(n->names, n->text.s);
}

/* Where its function has no name, the place in the file. */
static void add_frame(struct naming *n, const struct meta_frame *f)
{
	struct text name = { 0 };

	if (f && *f->symbol)
		text_add(&name, f->symbol);
	else if (f && *f->object)
		text_printf(&name, "%s+0x%" PRIx64, text_base_name(f->object), f->offset);
	else
		text_add(&name, "?");
	add(n, name.s);
	text_release(&name);
}

/*
 * Rust's thread begins with a closure that is most often inlined into the frame that runs it. Where
 * nothing is known of it, it is named only if nothing else is.
 */
static void add_closure(struct naming *n, const struct meta_frame *f)
{
	struct text name = { 0 };
	bool known = meta_add_closure(f->symbol, &name);

	if (!known)
		meta_add_function(f->symbol, &name);
	if (known || n->named < 2)
		add(n, name.s);
	text_release(&name);
}

static bool is_start(const struct meta_frame *f)
{
	return !strcmp(f->symbol, "_start") || standard_is_library(f->object);
}

static bool begins_thread(const struct meta_frame *f)
{
	return f && meta_symbol_begins_thread(f->symbol);
}

/* Whether it tells a reader who the thread is: a function of the program that has a name. */
static bool tells(const struct meta_frame *f)
{
	return f && *f->object && *f->symbol && !is_start(f) && !meta_frame_is_wrapper(f);
}

/* Whether a frame from the i-th on tells, before the thread's closure. */
static bool any_tells(const struct naming *n, uint32_t i)
{
	for (; i < n->stack->n_frames && !begins_thread(frame_of(n, i)); i++)
		if (tells(frame_of(n, i)))
			return true;
	return i < n->stack->n_frames;
}

/* Whether the frame is one that a reader does without, as one further out tells. */
static bool says_nothing(const struct naming *n, uint32_t i)
{
	const struct meta_frame *f = frame_of(n, i);

	if (f && !*f->object) /* an address in no file */
		return i > 0;
	if (f && !i && !*f->symbol && standard_is_library(f->object))
		return false;
	if (f && meta_frame_in_header(f))
		return i + 1 < n->stack->n_frames;
	return f && (!*f->symbol || meta_frame_is_wrapper(f)) && any_tells(n, i + 1);
}

/*
 * Returns the standard library's function that the program called, or NULL: none. It says more than
 * the system call that the library makes in it. *last: its place in the stack.
 */
static const struct meta_frame *std_called(const struct naming *n, uint32_t i, uint32_t *last)
{
	const struct meta_frame *outermost = NULL, *f;

	for (; (f = frame_of(n, i)) && !begins_thread(f); i++) {
		if (!meta_symbol_in_std(f->symbol))
			break;
		outermost = f;
		*last = i;
	}
	return f && outermost ? outermost : NULL;
}

/* Adds what the thread sleeps in. Returns the place of the first frame that is not part of that. */
static uint32_t add_innermost(struct naming *n, const char **function)
{
	const struct meta_frame *first = frame_of(n, 0), *std;
	uint32_t caller = 0;

	*function = called(n, &caller);
	if (first &&
	    (!strcmp(first->symbol, "syscall") || (*function && !strcmp(*function, "syscall")))) {
		std = std_called(n, *function ? caller : 1, &caller);
		if (std) {
			add_frame(n, std);
			return caller + 1;
		}
	}
	if (*function)
		add(n, *function);
	return caller;
}

/* Returns whether the caller of the innermost function is known to be no more than a wrapper. */
static bool add_callers(struct naming *n, uint32_t i, bool of_library)
{
	const struct meta_frame *first = frame_of(n, 0);
	bool wrapped = false;

	for (; i < n->stack->n_frames && n->named < SITE_FRAMES_MAX; i++) {
		const struct meta_frame *f = frame_of(n, i);

		/* not the same library's start of the thread */
		if (of_library && f && !strcmp(f->object, first->object))
			continue;
		if (begins_thread(f)) {
			add_closure(n, f);
			return true;
		}
		/* the C library begins the program or a thread there */
		if (n->named > 1 && f && standard_is_start(f->object, f->symbol))
			break;
		if (says_nothing(n, i)) {
			wrapped |= *f->object != '\0';
			continue;
		}
		add_frame(n, f);
	}
	return wrapped;
}

void site_name(const struct meta *meta, uint32_t stack, struct strtab *names,
	       struct site_path *path)
{
	struct naming n = {
		.meta = meta, .stack = &meta->stacks.data[stack], .names = names, .path = path
	};
	const char *function;
	uint32_t i = add_innermost(&n, &function);
	bool wrapped = add_callers(&n, i, n.named > 0);

	if (n.named == 1 && !function && !wrapped &&
	    n.stack->n_frames > 1) /* not its caller: nor the function */
		text_add(&n.text, " in ?");
	while (n.depth < SITE_DEPTHS)
		path->names[n.depth++] = strtab_add(names, n.text.s ? n.text.s : "");
	text_release(&n.text);
}
