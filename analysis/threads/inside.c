/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/inside.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/threads/standard.h"
#include "base/text.h"
#include "trace/meta/meta.h"

/* Names as in standard_is_named(). */
static const struct {
	const char *symbol;
	enum inside_lock lock;
} rows[] = {
	{ "malloc*", INSIDE_MALLOC },
	{ "calloc", INSIDE_MALLOC },
	{ "realloc*", INSIDE_MALLOC },
	{ "free", INSIDE_MALLOC },
	{ "cfree", INSIDE_MALLOC },
	{ "memalign", INSIDE_MALLOC },
	{ "aligned_alloc", INSIDE_MALLOC },
	{ "posix_memalign", INSIDE_MALLOC },
	{ "valloc", INSIDE_MALLOC },
	{ "strdup", INSIDE_MALLOC },
	{ "strndup", INSIDE_MALLOC },
	{ "printf*", INSIDE_STDIO },
	{ "fprintf*", INSIDE_STDIO },
	{ "vprintf*", INSIDE_STDIO },
	{ "vfprintf*", INSIDE_STDIO },
	{ "putc*", INSIDE_STDIO },
	{ "puts", INSIDE_STDIO },
	{ "getc*", INSIDE_STDIO },
	{ "fput*", INSIDE_STDIO },
	{ "fget*", INSIDE_STDIO },
	{ "getline", INSIDE_STDIO },
	{ "getdelim", INSIDE_STDIO },
	{ "putw*", INSIDE_STDIO },
	{ "getw", INSIDE_STDIO },
	{ "getwc*", INSIDE_STDIO },
	{ "fwrite", INSIDE_STDIO },
	{ "fread", INSIDE_STDIO },
	{ "fflush", INSIDE_STDIO },
	{ "_IO_*", INSIDE_STDIO },
	{ "flockfile", INSIDE_STDIO },
	{ "rand", INSIDE_RANDOM },
	{ "random", INSIDE_RANDOM },
	{ "drand48", INSIDE_RANDOM },
	{ "lrand48", INSIDE_RANDOM },
	{ "mrand48", INSIDE_RANDOM },
	{ "dlopen*", INSIDE_LOADER },
	{ "dlclose*", INSIDE_LOADER },
	{ "dlsym*", INSIDE_LOADER },
	{ "dlvsym*", INSIDE_LOADER },
	{ "dladdr*", INSIDE_LOADER },
	{ "dl_iterate_phdr", INSIDE_LOADER },
};

/* Returns whether the file is the C library, or its loader, which has a part of the library. */
static bool is_of_c_library(const char *object)
{
	return standard_is_libc(object) || standard_is_loader(object);
}

/* Returns whether the function itself takes a lock of the program, or waits otherwise. */
static bool waits_for_the_program(const char *symbol)
{
	const char *plain = symbol + strspn(symbol, "_");

	return standard_wait_of("libc.so.6", symbol) || !strcmp(plain, "syscall") ||
	       !strncmp(plain, "pthread_", strlen("pthread_")) ||
	       !strncmp(plain, "lll_", strlen("lll_"));
}

/* Returns whether the name is of a function of C++, and so of none of the C library. */
static bool is_of_cxx(const char *symbol)
{
	return strstr(symbol, "::") || !strncmp(symbol, "_Z", 2);
}

/*
 * Returns the name of the C library's function that the program, or another library, called, or
 * NULL: the caller knows it by the name that its users know, but may have called a function of
 * another library, which then went on to this one without a frame of its own.
 */
static const char *called(const struct meta *meta, const struct meta_stack *stack)
{
	const struct meta_frame *f, *outermost = NULL;
	uint32_t i = 0;

	while ((f = meta_frame_at(meta, stack, i)) && is_of_c_library(f->object)) {
		outermost = f;
		i++;
	}
	if (!f || !outermost || waits_for_the_program(outermost->symbol))
		return NULL;
	if (*f->calls && !is_of_cxx(f->calls))
		return f->calls;
	return *outermost->symbol ? outermost->symbol : NULL;
}

/* Returns whether the innermost frames, of libraries, are of a function that initializes something
 * once; C++ calls the last one for a static variable. Further out than a frame of the program it is
 * the initialization itself that waits. */
static bool is_once(const struct meta *meta, const struct meta_stack *stack)
{
	static const char *const names[] = { "pthread_once*", "call_once", "cxa_guard_acquire" };
	const struct meta_frame *f;

	for (uint32_t i = 0; (f = meta_frame_at(meta, stack, i)) && standard_is_library(f->object);
	     i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (standard_is_named(f->symbol + strspn(f->symbol, "_"), names[k]))
				return true;
	return false;
}

enum inside_lock inside_lock_of(const struct meta *meta, const struct meta_stack *stack)
{
	const char *symbol = called(meta, stack);

	if (is_once(meta, stack))
		return INSIDE_ONCE;
	if (!symbol || waits_for_the_program(symbol))
		return INSIDE_NONE;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (standard_is_named(symbol, rows[i].symbol) ||
		    standard_is_named(symbol + strspn(symbol, "_"), rows[i].symbol))
			return rows[i].lock;
	return INSIDE_OTHER;
}
