/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dictionary of consecutive sequences (ispot-sci(7), SEQUENCES; the idea is from Trahay et al.,
 * PDP 2015): which rows of sibling calls repeat. A symbol is a function (its id) or a pattern,
 * which is a row of symbols. A run of equal symbols is one element, whatever its length, so that a
 * loop with a varying number of iterations stays one pattern; the lengths that occurred are kept in
 * the element.
 *
 * Loops are patterns that occurred twice in a row. Pairs are patterns of two elements that occurred
 * twice anywhere. Pairs are found in rows whose loops have been folded, and nest to rows of any
 * length (the paper's meta-events).
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_PATTERN_H
#define ISPOT_ANALYSIS_SEQUENCE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct text;

#define PATTERN_ELEMENTS 64   /* elements of a loop's iteration */
#define PATTERN_LOOPS	 2048 /* further loops are not learnt */
#define PATTERN_PAIRS	 2048
#define PATTERN_NONE	 MAP_NONE

struct pattern_element {
	uint32_t symbol;
	uint32_t least, most;	  /* range of its repetitions; most 0: none yet */
	uint64_t times, repeated; /* occurrences; those with more than one repetition */
	double lost_ns;		  /* own lost time of its calls in the pattern (owner.h) */
};

struct pattern {
	bool hidden; /* excluded from searches for now */
	bool choice; /* stands for one of its elements, which are the forms of an iteration
		      * (turns.h) */
	bool more;   /* of a choice: there were further forms */
	uint32_t n;  /* 1: the pattern was replaced by its only element */
	struct pattern_element *elements;
	/* Set while measuring: how often it occurred, and how often as a single element of
	 * parent. */
	uint64_t seen, in_parent;
	uint32_t parent; /* PATTERN_NONE: no parent, or several */
};

struct patterns {
	uint32_t n_functions;
	struct {
		VEC(struct pattern)
	} all;		    /* [symbol - n_functions] */
	struct map loop_of; /* hash of the elements -> symbol; the next free key on a collision */
	struct map pair_of; /* left << 32 | right -> symbol */
	struct {
		VEC(uint64_t)
	} lengths; /* [symbol]: bit k - 1: a loop of k elements ends with this symbol */
	uint32_t n_loops, n_pairs, longest;
	uint32_t version; /* counts changes of the loops */
	uint64_t refused; /* patterns that were not added for lack of room */
};

void patterns_init(struct patterns *p, uint32_t n_functions);
void patterns_release(struct patterns *p);

/* Returns the pattern of a symbol, or NULL for a function. */
static inline struct pattern *pattern_of(const struct patterns *p, uint32_t symbol)
{
	return symbol < p->n_functions ? NULL : &p->all.data[symbol - p->n_functions];
}

/* Add a pattern that must not exist yet. Return its symbol, or PATTERN_NONE if there is no room. */
uint32_t patterns_add_loop(struct patterns *p, const uint32_t *symbols, uint32_t n);
uint32_t patterns_add_pair(struct patterns *p, uint32_t left, uint32_t right);
/* Add a choice without forms and with room for this many, and a form, which is a row of symbols. */
uint32_t patterns_add_choice(struct patterns *p, uint32_t room);
uint32_t patterns_add_form(struct patterns *p, const uint32_t *symbols, uint32_t n);
/* Adds a form to a choice. Returns false if there is no room. */
bool patterns_choose(struct patterns *p, uint32_t choice, uint32_t form, uint32_t room);
uint32_t patterns_pair(const struct patterns *p, uint32_t left, uint32_t right);
/* Returns a loop whose elements are the last *k of the n symbols, or PATTERN_NONE. */
uint32_t patterns_loop(const struct patterns *p, const uint32_t *symbols, uint32_t n, uint32_t *k);
/*
 * Returns the depth at which symbol repeats the end of the pattern below: 1 if it equals the last
 * element, 2 if it equals the last element of that, and so on up to most; 0 if it repeats none. A
 * symbol that follows a row and equals its end is one more repetition of it.
 */
uint32_t patterns_repeats(const struct patterns *p, uint32_t below, uint32_t symbol, uint32_t most);

/* Returns the symbol that stands for this one since loops were rewritten. */
uint32_t patterns_resolve(const struct patterns *p, uint32_t symbol);
/* Rewrites loops that were learnt before a loop inside them: they get the new loop as an element,
 * and loops that become equal are merged. Symbols stay valid, see patterns_resolve(). */
void patterns_rewrite(struct patterns *p, uint32_t loop);
/* Builds the dictionary again when all loops are known, and before any pair is: shortest loops
 * first, each folded by those before it. Old symbols are not valid any more. */
void patterns_normalise(struct patterns *p);

void pattern_count(struct pattern_element *e, uint32_t repetitions);
/* Appends the name of a symbol: "a b", "a (b c)×n d", "a×3 b". Repetitions that occur in less than
 * one of a hundred cases are not written. name(ctx, id) returns the name of a function. */
void patterns_name(const struct patterns *p, uint32_t symbol,
		   const char *(*name)(void *ctx, uint32_t id), void *ctx, struct text *out);
void pattern_element_name(const struct patterns *p, const struct pattern_element *e,
			  const char *(*name)(void *ctx, uint32_t id), void *ctx, struct text *out);
/* Whether the pattern always occurred as a single element of one longer pattern, which makes it
 * redundant. */
bool pattern_is_part(const struct pattern *p);

#endif
