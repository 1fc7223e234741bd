/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The choice itself, apart from where its facts come from: what exit_choose() asks the object,
 * as plain data, so that every row has its test.
 */
#ifndef ISPOT_PROBES_PLACE_EXITMECH_FACTS_H
#define ISPOT_PROBES_PLACE_EXITMECH_FACTS_H

#include <stdbool.h>

#include "probes/place/exitmech.h"

struct exit_facts {
	const struct target_traits *traits;
	const char *symbol;
	const char *object; /* base name of its file */
	bool static_object; /* libc may be linked into it */
	bool cxx_or_rust;   /* by its compile unit or its mangling */
	bool go;
	const struct placement *place;
	unsigned kernel_version;
};

void exit_choose_by_facts(const struct exit_facts *facts, struct exit_choice *choice);

/* One import of one object; object is its base name. */
void target_traits_import(struct target_traits *traits, const char *object, const char *name);

/* Is object, a base name, stem.so, stem.so.6 or stem-2.31.so? */
bool exit_object_is(const char *object, const char *stem);

#endif
