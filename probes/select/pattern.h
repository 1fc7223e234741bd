/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grammar of -F: patterns of functions, markers and USDT probes. */
#ifndef ISPOT_PROBES_SELECT_PATTERN_H
#define ISPOT_PROBES_SELECT_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct err;

enum pattern_kind { PATTERN_NAME, PATTERN_GLOB, PATTERN_REGEX };

struct pattern {
	char *typed;
	char *object; /* NULL: none given */
	char *name;
	char *arguments;
	enum pattern_kind kind;
	enum { PATTERN_OF_FUNCTIONS, PATTERN_OF_MARKERS, PATTERN_OF_USDT } of;
	char *end; /* of a USDT pair; object is its provider, name its begin */
	bool excludes;
	regex_t regex; /* compiled for PATTERN_REGEX only */
	char *token; /* part of name that every mangled name it can mean contains, NULL: none known
		      */
	bool in_executable; /* matched there: libraries are not asked any more */
	bool matched;
	char *impossible; /* why a function of this name cannot be traced, NULL: none met */
};

struct patterns {
	VEC(struct pattern)
};

/* The words of -F as they are typed, heap; what an @FILE stands for is in its place. */
struct pattern_words {
	VEC(char *)
};

/* Errors, exit status 2: empty name, bad regex, a number (perf's frequency: says so), @FILE
 * missing. */
int patterns_parse(struct patterns **p, const char *const *words, size_t n, struct err *err);
void patterns_free(struct patterns *p);
/* Replaces each @FILE by its patterns, for a recorder with a grammar of its own, as that of Java
 * methods. Other words stay as they are. Errors: those of patterns_parse() for @FILE. */
int pattern_words_expand(struct pattern_words *all, const char *const *words, size_t n,
			 struct err *err);
void pattern_words_release(struct pattern_words *all);
/* How many choose functions. 0: no -F, or only exclusions, which patterns_exclude() answers. */
size_t patterns_n(const struct patterns *p);
/* The same of words as -F has them; none of those that @FILE holds is looked at. */
bool patterns_only_exclude(const char *const *words, size_t n);
/* Whether any of them chooses markers or static probes. */
bool patterns_choose_markers(const struct patterns *p);
/* Each of them found something: none waits for an object that is mapped later. */
bool patterns_all_matched(const struct patterns *p);

#endif
