/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every kind of cause, one row a kind, with all that is said of it: by the report and its slow
 * calls, by outliers and by imbalance. To add a cause: a row in kind.c, and the code that finds it
 * (rules.c for a block, analysis/outlier/cause.c for an execution, analysis/imbalance/count for a
 * late thread).
 */
#ifndef ISPOT_ANALYSIS_CAUSE_KIND_H
#define ISPOT_ANALYSIS_CAUSE_KIND_H

#include <stdbool.h>
#include <stddef.h>

struct block;

/* Kinds that the figures of outliers draw alike. */
enum cause_group {
	CAUSE_WAIT, /* of another sort than these */
	CAUSE_PATH,
	CAUSE_LOCK,
	CAUSE_IO,
	CAUSE_FAULT,
	CAUSE_CPU,
	CAUSE_PAUSE,
	CAUSE_FIRST,
	CAUSE_UNKNOWN,
};

#define CAUSE_ADVICES 2

struct cause_kind {
	const char *kind;
	enum cause_group group;
	const char *name;  /* on screens; the kind itself where it is NULL */
	const char *story; /* begins the report's sentence; " in cache_get costs …" follows */
	bool plural;	   /* "cost" follows */
	const char *idle;  /* said of a block whose time it is, none of it lost; NULL: no such */
	const char
		*uneven; /* what it is where threads differ in it; NULL: they are not told by it */
	const char *counted; /* the same, how often it "happened" to one of them */
	struct {
		const char *text; /* what to try; NULL: no more */
		bool (*unless)(
			const struct block *b); /* it does not help these; NULL: it helps all */
	} advice[CAUSE_ADVICES];
};

extern const struct cause_kind cause_kinds[];
extern const size_t cause_kinds_n;

/* NULL: not a kind of the contract. */
const struct cause_kind *cause_kind_find(const char *kind);
/* The row that fits the block: a condition-wait may be at a condition variable, or for another
 * thread in another way. */
const struct cause_kind *cause_kind_of(const struct block *b, const char *kind);

/* The name of that cause of the block on screens; without a name, the kind. */
const char *cause_name(const struct block *b, const char *kind);

/* The n-th thing to try against that cause of the block, from 0; NULL: there are no more. */
const char *cause_advice(const struct block *b, const char *kind, size_t n);

/*
 * Which threads have the CPUs that the block's threads wait for: it is clear from this share on,
 * else both are named.
 */
#define CAUSE_CLEAR 0.75
bool cause_cpus_crowded(const struct block *b); /* the program's own threads */
bool cause_cpus_taken(const struct block *b);	/* others, or it may not use all of them */

#endif
