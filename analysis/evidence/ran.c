/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/evidence/ran.h"

#include <string.h>

#include "analysis/threads/standard.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"

/* Whether nothing but its file is known of the code of a library that the function calls. */
static bool is_of_callee(const struct meta_frame *nameless, const struct meta_frame *f)
{
	return nameless && *nameless->object == '/' && strcmp(nameless->object, f->object) != 0;
}

struct ran ran_at(const struct meta *meta, uint64_t stack)
{
	const struct meta_stack *s = meta_stack(meta, stack);
	const struct meta_frame *first = NULL, *closure = NULL;

	for (uint32_t i = 0; s && i < s->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(meta, s, i);

		if (f && f->inlined && *f->symbol && !meta_frame_is_wrapper(f))
			closure = f;
		if (!f || f->inlined)
			continue;
		if (*f->symbol && is_of_callee(first, f))
			break;
		if (*f->symbol)
			return (struct ran){ f, closure && meta_frame_is_wrapper(f) ? closure : f };
		if (!first && *f->object)
			first = f;
	}
	return (struct ran){ first, first };
}

/* Whether the frame is of the program or a library of its own, not of a standard library. */
static bool is_own(const struct meta_frame *f)
{
	return !f->inlined && *f->symbol && *f->object && *f->object != '[' &&
	       !standard_is_library(f->object) && !standard_is_loader(f->object) &&
	       !meta_symbol_in_std(f->symbol) && strcmp(f->symbol, "_start") != 0;
}

/* Code of the program, or of a library of its own, without symbols. */
static bool has_no_name(const struct meta_frame *f)
{
	return !f->inlined && !*f->symbol && *f->object == '/' && !standard_is_library(f->object);
}

/* Returns whether the frame is of exit(). A function that exit() calls is not where a thread
 * begins, unless main() is further out in the stack. */
static bool is_exit(const struct meta_frame *f)
{
	const char *symbol = f->symbol + strspn(f->symbol, "_");

	return standard_is_libc(f->object) && (standard_is_named(symbol, "exit") ||
					       standard_is_named(symbol, "run_exit_handlers"));
}

struct own_functions ran_own_functions(const struct meta *meta, uint64_t stack)
{
	const struct meta_stack *s = meta_stack(meta, stack);
	struct own_functions own = { 0 };

	for (uint32_t i = 0; s && i < s->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(meta, s, i);

		if (f && (has_no_name(f) || is_exit(f)))
			own.outermost = NULL;
		if (!f || !is_own(f))
			continue;
		own.outermost = f;
		if (!own.innermost)
			own.innermost = f;
	}
	return own;
}

/* Go's runtime makes the system calls of a program itself, even of one that has a C library. */
static bool is_system_call_of_go(const char *symbol)
{
	static const char *const packages[] = { "runtime.*", "syscall.*",
						"internal/runtime/syscall.*",
						"runtime/internal/syscall.*" };

	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
		if (standard_is_named(symbol, packages[i]))
			return true;
	return false;
}

bool ran_is_in_fault(const struct meta *meta, uint64_t stack)
{
	const struct meta_frame *f = ran_at(meta, stack).function;
	const char *symbol = f ? f->symbol : "", *program = meta->session.program;

	symbol += strspn(symbol, "_");
	if (!f)
		return false;
	if (standard_is_libc(f->object))
		return !strncmp(symbol, "mem", 3) && symbol[3] != 'f'; /* memfd_create */
	return ran_own_functions(meta, stack).innermost == f && !is_system_call_of_go(f->symbol) &&
	       !strcmp(text_base_name(f->object), program ? program : "");
}
