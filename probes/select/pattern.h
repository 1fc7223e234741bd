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
	char *end; /* the end of a USDT pair, of which object is the provider and name the begin */
	bool excludes;
	regex_t regex; /* compiled only for PATTERN_REGEX */
	char *token;   /* part of name that each match's mangled name contains; NULL: unknown */
	bool in_executable; /* the executable has a match, so libraries are not searched */
	bool matched;
	char *impossible; /* why a function of this name cannot be traced; NULL: none was met */
};

struct patterns {
	VEC(struct pattern)
};

/* The words of -F as the user wrote them, on the heap; each @FILE is replaced by its patterns. */
struct pattern_words {
	VEC(char *)
};

/*
 * Parses the words of -F. Errors have exit status 2: an empty name, a bad regular expression, a
 * number (which is a frequency in perf; the sentence says so), or an @FILE that cannot be read.
 */
int patterns_parse(struct patterns **p, const char *const *words, size_t n, struct err *err);
void patterns_free(struct patterns *p);
/*
 * Replaces each @FILE by its patterns, for a recorder with a grammar of its own, such as Java
 * methods. Other words stay as they are. Errors are those of patterns_parse() for @FILE.
 */
int pattern_words_expand(struct pattern_words *all, const char *const *words, size_t n,
			 struct err *err);
void pattern_words_release(struct pattern_words *all);
/*
 * Returns how many patterns choose functions. 0: there is no -F, or all patterns exclude functions
 * (patterns_exclude()).
 */
size_t patterns_n(const struct patterns *p);
/* Whether all words of -F exclude functions; an @FILE counts as a word that does not. */
bool patterns_only_exclude(const char *const *words, size_t n);
/* Whether any pattern chooses markers or static probes. */
bool patterns_choose_markers(const struct patterns *p);
/* Whether every pattern matched something, so that none waits for an object to be mapped. */
bool patterns_all_matched(const struct patterns *p);

#endif
