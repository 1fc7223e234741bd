/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scores of calls by something else than their function: their call site, an argument, the lock
 * they take, a sequence. Each (function, key) that occurs is a group; a group's number takes the
 * place of the function id in a struct sci of its own, and so everything that holds for functions
 * (sums, own minimum, floors, causes, verdict) holds for groups. A group's outermost calls are
 * those not inside another call of the same group.
 *
 * A rule says which group a call is of. Calls that stand for something else than one traced call
 * (the hold time of a lock, a sequence from its first to its last event) are made up by their
 * owner, a struct call with times, and put in by keyed_add().
 *
 * A function has at most KEYED_OF_FUNCTION keys, a recording KEYED_MAX; calls of the keys that come
 * later share one group of their function, in_rest of them.
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
	KEYED_WITHOUT, /* in the group of the function's calls without a key */
	KEYED_KEY,
};

struct keyed_group {
	uint32_t function;
	enum keyed_has has;
	bool rest;    /* of the keys beyond the bounds */
	uint64_t key; /* KEYED_KEY and not rest */
	char *name;   /* the key as people read it, after keyed_build(); NULL: it has none */
};

struct keyed_rule {
	enum block_kind kind;
	void *ctx;
	/*
	 * Finds the key of a call that ended, or that is open around one; args and parents are
	 * known.
	 */
	enum keyed_has (*key)(void *ctx, const struct thread *t, const struct call *c,
			      uint64_t *key);
	/* Appends what the blocks of the group are told apart by; nothing: they have no key. Not
	 * asked for the rest. */
	void (*name)(void *ctx, const struct keyed_group *g, struct text *name);
};

struct keyed {
	struct keyed_rule rule;
	struct sci sci;		  /* its ids are groups */
	struct callstacks stacks; /* the same */
	struct {
		VEC(struct keyed_group)
	} groups;
	struct map group_of; /* hash of function and key, probed upwards -> group */
	struct {
		VEC(struct slot)
	} slots;	    /* thread and group; number 0 is not used */
	struct map slot_of; /* thread << 32 | group -> slot */
	uint32_t *n_keys;   /* [function id] */
	uint64_t in_rest;   /* calls of keys beyond the bounds */
	struct {
		uint32_t thread, group, slot;
	} recent;		  /* the pair that came last */
	struct call_group latest; /* of the call that ended last */
};

/* rule is copied. calls and meta must outlive it; they need not be initialised yet. */
void keyed_init(struct keyed *k, const struct keyed_rule *rule, struct calls *calls,
		const struct meta *meta);
/* Every call that ends is put into the group that the rule says. */
struct call_visitor keyed_visitor(struct keyed *k);
void keyed_release(struct keyed *k);

/* For owners of made-up calls, instead of the visitor. The group of (function, key). */
uint32_t keyed_group(struct keyed *k, uint32_t function, enum keyed_has has, uint64_t key);
/* recursive: inside another call of the group. */
void keyed_add(struct keyed *k, const struct thread *t, uint32_t group, bool recursive,
	       const struct call *c);

/*
 * After calls_end(): a block per group, appended. functions: the scores by function, for what is
 * known per function only (lost records). The blocks borrow names from k.
 */
void keyed_build(struct keyed *k, const struct sci *functions, const struct block_options *o,
		 struct blocks *blocks);

#endif
