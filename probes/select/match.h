/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The meaning of one pattern: which objects it means, and which functions of an object. */
#ifndef ISPOT_PROBES_SELECT_MATCH_H
#define ISPOT_PROBES_SELECT_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct dso;
struct dso_function;
struct pattern;

void pattern_prepare(struct pattern *p); /* finds the token */
bool pattern_matches_object(const struct pattern *p, struct dso *dso);
bool pattern_matches_function(const struct pattern *p, struct dso *dso,
			      const struct dso_function *f);
/* The same if only the names of a file and of a symbol in it are known. */
bool pattern_matches_names(const struct pattern *p, const char *path, const char *symbol);

/* Indices into dso_functions() of all matches; of several versions, only the default one. */
struct hits {
	VEC(uint32_t)
};

void pattern_match(const struct pattern *p, struct dso *dso, struct hits *hits);
/* Turns "std::__cxx11::list<int>::push[abi:cxx11]" into a new string "std::list::push". */
char *name_without_templates(const char *bare);

const char *object_base_name(const struct dso *dso);

#endif
