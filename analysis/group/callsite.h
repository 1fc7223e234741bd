/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Groups calls by call site: a rule for keyed.h. The call site is found from the return address
 * that was recorded at the entry (ARG_CALLER: a stack of the call site and of the functions that it
 * was inlined into). The same call site in several processes is one site.
 */
#ifndef ISPOT_ANALYSIS_GROUP_CALLSITE_H
#define ISPOT_ANALYSIS_GROUP_CALLSITE_H

#include <stdint.h>

#include "analysis/score/keyed.h"
#include "base/hash.h"
#include "base/vec.h"

struct callsites {
	const struct meta *meta;
	struct map of_stack; /* stack id -> index in all */
	struct map of_frame; /* frame of the call site -> index in all */
	struct map on_line;  /* hash of function, file and line -> number of call sites there */
	struct {
		VEC(uint32_t)
	} all; /* frames of the call sites; MAP_NONE: not known */
};

void callsites_init(struct callsites *s, const struct meta *meta);
/* Returns the index of a call's site, or MAP_NONE if it was not recorded. */
uint32_t callsites_of(struct callsites *s, const struct call *c);
/* Returns the site for the stack of a sleep: where the program called the library that sleeps.
 * passes(symbol): the function only passes the wait on, so its caller is used, as it is of a
 * standard library's function that is compiled into the program. */
uint32_t callsites_of_wait(struct callsites *s, uint32_t stack, bool (*passes)(const char *symbol));
/* Whether the call comes from a standard library, not from code that the user wrote. */
bool callsites_in_library(const struct callsites *s, uint32_t site);
/* Returns the site of a place in the source, with any function called there, or MAP_NONE. */
uint32_t callsites_at(struct callsites *s, const char *symbol, size_t n, const char *file,
		      uint32_t line);
void callsites_name(const struct callsites *s, uint32_t site, struct text *name);
struct keyed_rule callsites_rule(struct callsites *s);
/* Sets the places of the blocks of k's groups. Called after keyed_build(). */
void callsites_place(const struct callsites *s, const struct keyed *k, struct blocks *blocks);
void callsites_release(struct callsites *s);

#endif
