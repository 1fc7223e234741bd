/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tells whether a pattern means a function. A big C++ program has 10^5 symbols, and demangling
 * costs 1 us each. So symbols are looked up by binary search, and mangled names are first searched
 * for the pattern's longest identifier, which mangling leaves readable.
 */

#include "probes/select/match.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "symbol/demangle.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

/* Suffixes of copies of a whole function that the compiler makes. .part and .cold are pieces. */
static const char *const clone_suffixes[] = { ".constprop.", ".isra.", ".lto_priv.", ".llvm.",
					      ".localalias" };

/* Words in demangled names that mangled names abbreviate ("St", "Ss", "b", "cl"). */
static const char abbreviated[] =
	"std string allocator basic_string basic_istream basic_ostream basic_iostream istream "
	"ostream iostream char_traits operator anonymous namespace unnamed lambda clone new delete "
	"bool char short int long float double void unsigned signed wchar_t char8_t char16_t "
	"char32_t auto decltype const volatile str usize isize u8 u16 u32 u64 u128 i8 i16 i32 i64 "
	"i128 f32 f64 as dyn impl self closure shim vtable typeinfo";

static bool is_identifier_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_identifier(const char *s)
{
	while (is_identifier_byte(*s))
		s++;
	return !*s;
}

static size_t clone_suffix_at(const char *symbol)
{
	const char *dot = strchr(symbol, '.');

	for (size_t i = 0; dot && i < sizeof(clone_suffixes) / sizeof(clone_suffixes[0]); i++) {
		if (!strncmp(dot, clone_suffixes[i], strlen(clone_suffixes[i])))
			return (size_t)(dot - symbol);
	}
	return strlen(symbol);
}

static bool is_whole_clone(const char *symbol, const char *name)
{
	size_t n = clone_suffix_at(symbol);

	return symbol[n] && strlen(name) == n && !strncmp(symbol, name, n);
}

static bool is_cold_part(const char *symbol)
{
	size_t n = strlen(symbol);

	return (n > 5 && !strcmp(symbol + n - 5, ".cold")) || strstr(symbol, ".cold.");
}

/*
 * Returns the longest identifier of a literal or glob outside of <…>, (…) and […], or NULL if it
 * has none or mangling may abbreviate it.
 */
static char *find_token(const char *name)
{
	size_t best = 0, n;
	const char *at = NULL;
	char *token;
	int depth = 0;

	for (const char *s = name; *s; s += n ? n : 1) {
		for (n = 0; is_identifier_byte(s[n]);)
			n++;
		depth += !n && strchr("<([", *s) != NULL;
		depth -= !n && depth > 0 && strchr(">)]", *s) != NULL;
		if (n > best && !depth) {
			best = n;
			at = s;
		}
	}
	token = at ? xstrndup(at, best) : NULL;
	if (token && strstr(abbreviated, token)) {
		free(token);
		token = NULL;
	}
	return token;
}

void pattern_prepare(struct pattern *p)
{
	if (p->kind == PATTERN_NAME &&
	    is_identifier(p->name)) /* a function in no namespace: "_Z3fooi" */
		p->token = xasprintf("%zu%s", strlen(p->name), p->name);
	else if (p->kind != PATTERN_REGEX)
		p->token = find_token(p->name);
}

/* Inline namespaces of libraries, which users do not write. */
static size_t inline_namespace(const char *s)
{
	static const char *const names[] = { "__cxx11::", "__1::", "__ndk1::", "__debug::" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(s, names[i], strlen(names[i])))
			return strlen(names[i]);
	}
	return 0;
}

/*
 * Skips the name of an operator like "operator<", "operator->" or "operator()", whose signs are no
 * brackets.
 */
static const char *skip_operator(const char *s)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;

	if (strncmp(s, word, n) != 0 || is_identifier_byte(s[n]))
		return s;
	s += n;
	if (!strncmp(s, "()", 2) || !strncmp(s, "[]", 2))
		return s + 2;
	return s + strspn(s, "<>=-!+*/%&|^~,");
}

char *name_without_templates(const char *bare)
{
	char *out = xmalloc(strlen(bare) + 1), *to = out;
	int depth = 0;

	for (const char *s = bare; *s;) {
		const char *behind = depth ? s : skip_operator(s);
		size_t hidden = !depth && s > bare && s[-1] == ':' ? inline_namespace(s) : 0;

		if (hidden) {
			s += hidden;
			continue;
		}
		if (behind != s) {
			while (s < behind)
				*to++ = *s++;
			continue;
		}
		depth += *s == '<' || *s == '[';
		if (!depth)
			*to++ = *s;
		depth -= (*s == '>' || *s == ']') && depth > 0;
		s++;
	}
	*to = '\0';
	return out;
}

static bool matches_text(const struct pattern *p, const char *s)
{
	switch (p->kind) {
	case PATTERN_REGEX:
		return regexec(&p->regex, s, 0, NULL, 0) == 0;
	case PATTERN_GLOB: /* compared literally, too: "operator[]", "f[abi:cxx11](char*)" */
		return !strcmp(p->name, s) || fnmatch(p->name, s, 0) == 0;
	default:
		return !strcmp(p->name, s);
	}
}

/* Turns "f(int) [clone .isra.0]" into "f(int)", unless the clone is a piece of a function. */
static void cut_clone(char *name)
{
	char *clone = strstr(name, " [clone ");

	if (clone && !strstr(clone, ".part") && !strstr(clone, ".cold"))
		*clone = '\0';
}

static bool matches_cut(const struct pattern *p, char *name)
{
	bool found;

	cut_clone(name);
	found = matches_text(p, name);
	free(name);
	return found;
}

static bool matches_demangled(const struct pattern *p, struct dso *dso,
			      const struct dso_function *f)
{
	const char *full = dso_function_name(dso, f), *bare = dso_function_bare_name(dso, f);
	char *whole;

	if (matches_text(p, full) || matches_text(p, bare))
		return true;
	if (strstr(full, " [clone ") && matches_cut(p, xstrdup(full)))
		return true;
	if (!strpbrk(bare, "<[") && !strstr(bare, "::__"))
		return false;
	whole = xstrdup(bare); /* without the mark of a clone, which has brackets */
	cut_clone(whole);
	bare = name_without_templates(whole);
	free(whole);
	return matches_cut(p, (char *)bare);
}

static bool matches_mangled_name(const struct pattern *p, struct dso *dso,
				 const struct dso_function *f)
{
	if (!symbol_is_mangled(f->symbol) || (p->token && !strstr(f->symbol, p->token)))
		return false;
	return matches_demangled(p, dso, f);
}

static bool matches_symbol(const struct pattern *p, const char *symbol)
{
	char *whole;
	size_t n;

	if (p->kind == PATTERN_NAME)
		return !strcmp(p->name, symbol) || is_whole_clone(symbol, p->name);
	if (matches_text(p, symbol))
		return true;
	n = clone_suffix_at(symbol);
	if (!symbol[n])
		return false;
	whole = xstrndup(symbol, n);
	return matches_cut(p, whole);
}

/* A cold part, which only its function jumps to, matches only if the pattern names it. */
static bool is_unasked_part(const struct pattern *p, const struct dso_function *f)
{
	return is_cold_part(f->symbol) && !strstr(p->name, ".cold");
}

bool pattern_matches_function(const struct pattern *p, struct dso *dso,
			      const struct dso_function *f)
{
	return !is_unasked_part(p, f) &&
	       (matches_symbol(p, f->symbol) || matches_mangled_name(p, dso, f));
}

/* Whether this is an old version of a symbol that also has a default version. */
static bool is_shadowed(struct dso *dso, const struct dso_function *all, uint32_t i)
{
	const uint32_t *same;

	if (all[i].default_version)
		return false;
	return dso_find(dso, all[i].symbol, &same) && all[same[0]].default_version;
}

static void add_range(const struct pattern *p, const struct dso_function *all,
		      const uint32_t *range, size_t n, struct hits *hits)
{
	for (size_t i = 0; i < n; i++) {
		if (matches_symbol(p, all[range[i]].symbol))
			*vec_add(hits) = range[i];
	}
}

void pattern_match(const struct pattern *p, struct dso *dso, struct hits *hits)
{
	const struct dso_function *all;
	size_t n = dso_functions(dso, &all), kept = 0;
	const uint32_t *range;

	if (p->kind == PATTERN_NAME) {
		size_t found = dso_find(dso, p->name, &range);

		add_range(p, all, range, found, hits);
		found = dso_find_clones(dso, p->name, &range);
		add_range(p, all, range, found, hits);
	}
	for (size_t i = 0; i < n; i++) {
		if (p->kind == PATTERN_NAME
			    ? !is_unasked_part(p, &all[i]) && matches_mangled_name(p, dso, &all[i])
			    : pattern_matches_function(p, dso, &all[i]))
			*vec_add(hits) = (uint32_t)i;
	}
	vec_for_each (hits, uint32_t, hit) {
		if (!is_shadowed(dso, all, *hit))
			hits->data[kept++] = *hit;
	}
	hits->n = kept;
}

const char *object_base_name(const struct dso *dso)
{
	return text_base_name(dso_path(dso));
}

/*
 * Matches without suffix and version: "libc" means libc.so.6 and libc-2.31.so; "libfoo-1.2" means
 * libfoo-1.2.so.3.
 */
static bool matches_short(const char *object, const char *base)
{
	const char *so = strstr(base, ".so"), *dash;
	char stem[NAME_MAX + 1];

	if (!so || (size_t)(so - base) >= sizeof(stem))
		return false;
	memcpy(stem, base, (size_t)(so - base));
	stem[so - base] = '\0';
	if (fnmatch(object, stem, 0) == 0)
		return true;
	dash = strrchr(stem, '-');
	if (!dash || !isdigit((unsigned char)dash[1]))
		return false;
	stem[dash - stem] = '\0';
	return fnmatch(object, stem, 0) == 0;
}

static bool matches_base(const char *object, const char *path)
{
	const char *base = text_base_name(path);

	return !strcmp(object, base) || fnmatch(object, base, 0) == 0 ||
	       matches_short(object, base);
}

static bool matches_demangled_names(const struct pattern *p, const char *symbol)
{
	char *full = demangle(symbol), *bare = demangle_bare(symbol);
	char *whole = name_without_templates(bare);
	bool found = matches_text(p, full) || matches_text(p, bare) || matches_text(p, whole);

	free(full);
	free(bare);
	free(whole);
	return found;
}

bool pattern_matches_names(const struct pattern *p, const char *path, const char *symbol)
{
	if (p->of != PATTERN_OF_FUNCTIONS)
		return false;
	if (p->object && !(strchr(p->object, '/') ? !fnmatch(p->object, path, 0)
						  : matches_base(p->object, path)))
		return false;
	return matches_symbol(p, symbol) ||
	       (symbol_is_mangled(symbol) && matches_demangled_names(p, symbol));
}

bool pattern_matches_object(const struct pattern *p, struct dso *dso)
{
	char real[PATH_MAX];
	struct stat st;

	if (!p->object)
		return true;
	if (strchr(p->object, '/')) {
		if (!stat(p->object, &st))
			return st.st_dev == dso_device(dso) && st.st_ino == dso_inode(dso);
		return fnmatch(p->object, dso_path(dso), 0) == 0;
	}
	if (matches_base(p->object, dso_path(dso)))
		return true;
	/*
	 * "python3.11" also means the program that was started as python3, and the other way round
	 */
	return realpath(dso_path(dso), real) && matches_base(p->object, real);
}
