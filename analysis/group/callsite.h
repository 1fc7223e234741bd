/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls by where they come from: a rule for keyed.h whose key is the place of the call, from the
 * return address that was recorded with the entry (ARG_CALLER: a stack of the calling place and of
 * the functions it was inlined into). The same place in several processes is one site.
 */
#ifndef ISPOT_ANALYSIS_GROUP_CALLSITE_H
#define ISPOT_ANALYSIS_GROUP_CALLSITE_H

#include <stdint.h>

#include "analysis/score/keyed.h"
#include "base/hash.h"
#include "base/vec.h"

struct callsites {
	const struct meta *meta;
	struct map of_stack; /* stack id -> index of all */
	struct map of_frame; /* frame of the calling place -> index of all */
	struct map on_line;  /* hash of its function, file and line -> how many places are there */
	struct {
		VEC(uint32_t)
	} all; /* frames of the calling places; MAP_NONE: not known */
};

void callsites_init(struct callsites *s, const struct meta *meta);
/* The number of a call's site, MAP_NONE: not recorded; and what it is called. */
uint32_t callsites_of(struct callsites *s, const struct call *c);
/*
 * The same of a stack that a thread went to sleep with: where the program called the library that
 * sleeps. passes: the function with that symbol only passes the wait on.
 */
uint32_t callsites_of_wait(struct callsites *s, uint32_t stack, bool (*passes)(const char *symbol));
/* The same of a place by its name in the source, whoever was called there. */
uint32_t callsites_at(struct callsites *s, const char *symbol, size_t n, const char *file,
		      uint32_t line);
void callsites_name(const struct callsites *s, uint32_t site, struct text *name);
struct keyed_rule callsites_rule(struct callsites *s);
/* After keyed_build(): tells the blocks of k's groups their places in the source. */
void callsites_place(const struct callsites *s, const struct keyed *k, struct blocks *blocks);
void callsites_release(struct callsites *s);

#endif
