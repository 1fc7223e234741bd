/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/meta/wrapper.h"

#include <string.h>

#include "base/text.h"
#include "trace/meta/meta.h"

bool meta_frame_in_header(const struct meta_frame *f)
{
	static const char *const roots[] = { "/usr/include/", "/usr/local/include/",
					     "/usr/lib/gcc/", "/usr/lib/llvm" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (!strncmp(f->file, roots[i], strlen(roots[i])))
			return true;
	return strstr(f->file, "/include/c++/") != NULL;
}

static bool begins_with(const char *s, const char *begin)
{
	return !strncmp(s, begin, strlen(begin));
}

/* Returns the first of the characters outside of all brackets, or the end. */
static const char *outside_brackets(const char *s, const char *characters)
{
	int depth = 0;

	for (; *s; s++) {
		if (!depth && strchr(characters, *s))
			return s;
		if (strchr("<([{", *s))
			depth++;
		else if (strchr(">)]}", *s) && depth && !(*s == '>' && s[-1] == '-'))
			depth--;
	}
	return s;
}

/* C++ has parameters behind the name; Rust has none. */
static bool has_parameters(const char *symbol)
{
	return *outside_brackets(symbol, "(") != '\0';
}

/* Returns the name itself: a template of C++ has the type of its result before it. */
static const char *behind_result(const char *symbol)
{
	const char *end = outside_brackets(symbol, "("), *name = symbol;

	for (const char *s = symbol; (s = outside_brackets(s, " ")) < end && *s; s++)
		name = s + 1;
	return name;
}

static bool is_std_path(const char *path, bool rust)
{
	while (*path == '&' || *path == '*' || begins_with(path, "mut ") ||
	       begins_with(path, "dyn "))
		path += *path == '&' || *path == '*' ? 1 : 4;
	return begins_with(path, "std::") || begins_with(path, "__gnu_cxx::") ||
	       (rust && (begins_with(path, "core::") || begins_with(path, "alloc::")));
}

/* A parameter of a generic function, "T", which stands for any type. */
static bool is_any_type(const char *type, size_t n)
{
	return !memchr(type, ':', n);
}

/* "<Type>::function" or "<Type as Trait>::function" of Rust: the program's, if the type or the
 * trait is. */
static bool is_std_impl(const char *symbol)
{
	const char *type = symbol + 1, *end = outside_brackets(type, " >"), *as = " as ";

	if (!begins_with(end, as))
		return is_std_path(type, true);
	return (is_std_path(type, true) || is_any_type(type, (size_t)(end - type))) &&
	       is_std_path(end + strlen(as), true);
}

bool meta_symbol_in_std(const char *symbol)
{
	if (*symbol == '<')
		return is_std_impl(symbol);
	if (begins_with(symbol, "_ZNSt") || begins_with(symbol, "_ZSt") ||
	    begins_with(symbol, "java.util.concurrent."))
		return true;
	return is_std_path(behind_result(symbol), !has_parameters(symbol));
}

bool meta_frame_is_wrapper(const struct meta_frame *f)
{
	return meta_frame_in_header(f) || meta_symbol_in_std(f->symbol);
}

/* Returns what is behind the name of the function that runs a closure, or NULL: it is another. */
static const char *behind_short_backtrace(const char *symbol)
{
	static const char name[] = "::__rust_begin_short_backtrace";
	const char *at = strstr(symbol, name);

	return at ? at + strlen(name) : NULL;
}

bool meta_symbol_begins_thread(const char *symbol)
{
	return behind_short_backtrace(symbol) != NULL;
}

bool meta_add_closure(const char *symbol, struct text *out)
{
	const char *generic = behind_short_backtrace(symbol);
	const char *type = generic && begins_with(generic, "::<") ? generic + 3 : "";
	size_t n = (size_t)(outside_brackets(type, ",>") - type);

	if (!n || begins_with(type, "fn("))
		return false;
	text_addn(out, type, n);
	return true;
}

void meta_add_function(const char *symbol, struct text *out)
{
	if (!meta_symbol_begins_thread(symbol))
		text_add(out, symbol);
	else if (!meta_add_closure(symbol, out))
		text_add(out, "a closure");
}
