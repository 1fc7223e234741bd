/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What pattern.c (grammar), match.c (one name), select.c (objects) and missing.c (errors) share. */
#ifndef ISPOT_PROBES_SELECT_SELECT_INTERNAL_H
#define ISPOT_PROBES_SELECT_SELECT_INTERNAL_H

#include <regex.h>

#include "probes/select/select.h"

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

/* match.c */
void pattern_prepare(struct pattern *p); /* finds the token */
bool pattern_matches_object(const struct pattern *p, struct dso *dso);
bool pattern_matches_function(const struct pattern *p, struct dso *dso,
			      const struct dso_function *f);
/* Where only the names are known: of a file and of a symbol in it. */
bool pattern_matches_names(const struct pattern *p, const char *path, const char *symbol);
/* Indices into dso_functions() of all that match, default versions only where there is a choice. */
struct hits {
	VEC(uint32_t)
};
void pattern_match(const struct pattern *p, struct dso *dso, struct hits *hits);
/* "std::__cxx11::list<int>::push[abi:cxx11]" -> "std::list::push", into a new string. */
char *name_without_templates(const char *bare);

const char *object_base_name(const struct dso *dso);

#endif
