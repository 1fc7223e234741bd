/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scores of calls that are grouped by something other than their function: their call site, an
 * argument, the lock that they take, a sequence. Each (function, key) that occurs is a group. The
 * number of the group takes the place of the function id in a struct sci of its own, so everything
 * that is computed for functions (sums, own minimum, noise floor, causes, verdict) is computed for
 * groups. A group's outermost calls are those that are not inside another call of the same group.
 *
 * A rule gives the group of a call. Calls that stand for something other than one traced call (the
 * hold time of a lock, a sequence from its first to its last event) are made up by their owner, a
 * struct call with times, and added by keyed_add().
 *
 * A function has at most KEYED_OF_FUNCTION keys, a recording KEYED_MAX. Calls with further keys
 * share one group of their function (in_rest counts them).
 */
#ifndef ISPOT_ANALYSIS_SCORE_KEYED_H
#define ISPOT_ANALYSIS_SCORE_KEYED_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/score/block.h"
#include "analysis/score/callstack.h"
#include "analysis/score/sci.h"
#include "base/hash.h"

#define KEYED_MAX	  16384
#define KEYED_OF_FUNCTION 4096

enum keyed_has {
	KEYED_SKIP,    /* the call is in no group */
	KEYED_WITHOUT, /* the call is in the group of the function's calls without a key */
	KEYED_KEY,
};

struct keyed_group {
	uint32_t function;
	enum keyed_has has;
	bool rest;    /* the group of all keys beyond the bounds */
	uint64_t key; /* valid if has is KEYED_KEY and rest is false */
	char *name;   /* printable key, set by keyed_build(); NULL: none */
};

struct keyed_rule {
	enum block_kind kind;
	void *ctx;
	/* Returns the key of a call that has ended, or of an open call around one. Its args and
	 * parents are known. */
	enum keyed_has (*key)(void *ctx, const struct thread *t, const struct call *c,
			      uint64_t *key);
	/* Appends the printable key of the group, or nothing if it has none. Not called for groups
	 * with rest. */
	void (*name)(void *ctx, const struct keyed_group *g, struct text *name);
};

struct keyed {
	struct keyed_rule rule;
	struct sci sci;		  /* its ids are numbers of groups */
	struct callstacks stacks; /* its ids are numbers of groups */
	struct {
		VEC(struct keyed_group)
	} groups;
	struct map group_of; /* hash of function and key -> group; the next free key on a
			      * collision */
	struct {
		VEC(struct slot)
	} slots;	    /* [slot]: thread and group; slot 0 is not used */
	struct map slot_of; /* thread << 32 | group -> slot */
	uint32_t *n_keys;   /* [function id] */
	uint64_t in_rest;   /* calls of keys beyond the bounds */
	struct {
		uint32_t thread, group, slot;
	} recent;		  /* the thread and group of the latest call, with their slot */
	struct call_group latest; /* group of the call that ended last */
};

/* Copies rule. calls and meta must outlive k; they need not be initialised yet. */
void keyed_init(struct keyed *k, const struct keyed_rule *rule, struct calls *calls,
		const struct meta *meta);
/* The visitor adds every call that ends to the group that the rule returns. */
struct call_visitor keyed_visitor(struct keyed *k);
void keyed_release(struct keyed *k);

/* For owners of made-up calls, who do not use the visitor: returns the group of (function, key). */
uint32_t keyed_group(struct keyed *k, uint32_t function, enum keyed_has has, uint64_t key);
/* Adds a call to a group. recursive: it is inside another call of the group. */
void keyed_add(struct keyed *k, const struct thread *t, uint32_t group, bool recursive,
	       const struct call *c);

/* Appends a block for each group. Called after calls_end(). functions: the sums by function, for
 * what is known only by function (dropped events). The blocks borrow names from k. */
void keyed_build(struct keyed *k, const struct sci *functions, const struct block_options *o,
		 struct blocks *blocks);

#endif
