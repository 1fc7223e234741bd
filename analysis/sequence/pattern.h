/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dictionary of consecutive sequences (ispot-sci(7), SEQUENCES; the idea is from Trahay et
 * al., PDP 2015): which rows of sibling calls repeat. A symbol is a function (its id) or a pattern,
 * a row of symbols. A run of equal symbols is one element whatever its length, so that a loop
 * whose number of iterations varies stays one pattern; the lengths seen are kept beside it.
 *
 * Loops are patterns that were seen twice in a row. Pairs are patterns of two elements that were
 * seen twice anywhere; they apply to what is left when the loops are folded, and so grow to rows
 * of any length (the paper's meta-events).
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_PATTERN_H
#define ISPOT_ANALYSIS_SEQUENCE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct text;

#define PATTERN_ELEMENTS 64   /* of a loop's iteration */
#define PATTERN_LOOPS	 2048 /* and so many loops are told apart */
#define PATTERN_PAIRS	 2048
#define PATTERN_NONE	 MAP_NONE

struct pattern_element {
	uint32_t symbol;
	uint32_t least, most;	  /* repetitions seen; most 0: none yet */
	uint64_t times, repeated; /* seen; of these more than once in a row */
};

struct pattern {
	bool hidden; /* not to be found just now */
	bool choice; /* one of its elements, which may be of several forms (turns.h) */
	bool more;   /* of a choice: there were other forms */
	uint32_t n;  /* 1: turned out to be another one, its element */
	struct pattern_element *elements;
	/* From measuring: how often it was seen, and how often as one single element of parent. */
	uint64_t seen, in_parent;
	uint32_t parent; /* PATTERN_NONE: none or several */
};

struct patterns {
	uint32_t n_functions;
	struct {
		VEC(struct pattern)
	} all;		    /* symbol n_functions + index */
	struct map loop_of; /* hash of the elements, probed upwards -> symbol */
	struct map pair_of; /* left << 32 | right -> symbol */
	struct {
		VEC(uint64_t)
	} lengths; /* [symbol]: bit k - 1: a loop of k elements ends with it */
	uint32_t n_loops, n_pairs, longest;
	uint32_t version; /* counts changes of the loops */
	uint64_t refused; /* repetitions that found no room */
};

void patterns_init(struct patterns *p, uint32_t n_functions);
void patterns_release(struct patterns *p);

/* NULL for a function. */
static inline struct pattern *pattern_of(const struct patterns *p, uint32_t symbol)
{
	return symbol < p->n_functions ? NULL : &p->all.data[symbol - p->n_functions];
}

/* Symbol of the new loop, PATTERN_NONE without room. It must not be there yet. */
uint32_t patterns_add_loop(struct patterns *p, const uint32_t *symbols, uint32_t n);
uint32_t patterns_add_pair(struct patterns *p, uint32_t left, uint32_t right);
/* A choice, with room for so many forms, of which it has none yet; and the row of a form. */
uint32_t patterns_add_choice(struct patterns *p, uint32_t room);
uint32_t patterns_add_form(struct patterns *p, const uint32_t *symbols, uint32_t n);
/* The form is one of the choice's, if there is room. */
bool patterns_choose(struct patterns *p, uint32_t choice, uint32_t form, uint32_t room);
uint32_t patterns_pair(const struct patterns *p, uint32_t left, uint32_t right);
/* The loop whose elements are the last *k of the n symbols, PATTERN_NONE: there is none. */
uint32_t patterns_loop(const struct patterns *p, const uint32_t *symbols, uint32_t n, uint32_t *k);
/*
 * Last element of below that symbol repeats, as its depth: 1 the last element, 2 the last of that,
 * and so on to most; 0: it repeats none. What follows a row and equals its end belongs to it.
 */
uint32_t patterns_repeats(const struct patterns *p, uint32_t below, uint32_t symbol, uint32_t most);

/* Returns the symbol that stands for this one since loops were rewritten. */
uint32_t patterns_resolve(const struct patterns *p, uint32_t symbol);
/*
 * Loops may have been learnt before one inside them was: they get the new loop as an element, and
 * those that are the same then become one. Symbols stay valid, see patterns_resolve().
 */
void patterns_rewrite(struct patterns *p, uint32_t loop);
/*
 * When all loops are known, and before any pair: makes the dictionary anew, shortest loops first,
 * each in terms of those before it. Old symbols are not valid any more.
 */
void patterns_normalise(struct patterns *p);

void pattern_count(struct pattern_element *e, uint32_t repetitions);
/*
 * "a b", "a (b c)×n d", "a×3 b"; an element that is repeated in less than one of a hundred is
 * written as if it never were. name(ctx, id) names a function.
 */
void patterns_name(const struct patterns *p, uint32_t symbol,
		   const char *(*name)(void *ctx, uint32_t id), void *ctx, struct text *out);
void pattern_element_name(const struct patterns *p, const struct pattern_element *e,
			  const char *(*name)(void *ctx, uint32_t id), void *ctx, struct text *out);
/* Every time it was seen it was a part, not repeated, of one longer pattern: that says it all. */
bool pattern_is_part(const struct pattern *p);

#endif
