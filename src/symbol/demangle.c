/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/demangle.h"

#include <setjmp.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/mem.h"
#include "base/text.h"

/*
 * A mangled name of 200 bytes can stand for terabytes, as each substitution doubles the output. So
 * the demanglers write through a callback, which ends them once the output is longer than any real
 * name.
 */
#define DEMANGLED_MAX (64 * 1024)

struct sink {
	struct text text;
	jmp_buf too_long;
};

static void sink_add(const char *s, size_t n, void *opaque)
{
	struct sink *sink = opaque;

	if (sink->text.n + n > DEMANGLED_MAX)
		longjmp(sink->too_long, 1); /* libiberty keeps its state in alloca() */
	text_addn(&sink->text, s, n);
}

static bool run(struct sink *sink, const char *symbol, int options)
{
	if (setjmp(sink->too_long))
		return false;
	/* Rust first: its old scheme looks like C++ with a hash at the end. */
	if (rust_demangle_callback(symbol, options, sink_add, sink))
		return true;
	sink->text.n = 0;
	return cplus_demangle_v3_callback(symbol, options, sink_add, sink);
}

static char *demangle_with(const char *symbol, int options)
{
	struct sink sink = { 0 };
	char *name;

	if (symbol_is_mangled(symbol) && run(&sink, symbol, options) && sink.text.n)
		name = xstrndup(sink.text.s, sink.text.n);
	else
		name = xstrdup(symbol);
	text_release(&sink.text);
	return name;
}

char *demangle(const char *symbol)
{
	return demangle_with(symbol, DMGL_PARAMS | DMGL_ANSI);
}

char *demangle_bare(const char *symbol)
{
	return demangle_with(symbol, DMGL_NO_OPTS);
}

bool symbol_is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R');
}

static bool run_rust(struct sink *sink, const char *symbol)
{
	if (setjmp(sink->too_long))
		return false;
	return rust_demangle_callback(symbol, DMGL_NO_OPTS, sink_add, sink);
}

bool symbol_is_rust(const char *symbol)
{
	struct sink sink = { 0 };
	bool rust = symbol_is_mangled(symbol) && run_rust(&sink, symbol);

	text_release(&sink.text);
	return rust;
}

bool symbol_is_cxx(const char *symbol)
{
	return symbol[0] == '_' && symbol[1] == 'Z' && !symbol_is_rust(symbol);
}
