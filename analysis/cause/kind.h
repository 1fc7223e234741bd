/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of each kind of cause, one row a kind. */
#ifndef ISPOT_ANALYSIS_CAUSE_KIND_H
#define ISPOT_ANALYSIS_CAUSE_KIND_H

#include <stdbool.h>
#include <stddef.h>

struct block;

struct cause_kind {
	const char *kind;
	const char *story; /* begins the report's sentence; " in cache_get: …" follows */
	const char *idle;  /* said of a block whose time it is, none of it lost; NULL: no such */
};

/* NULL: not a kind of the contract. */
const struct cause_kind *cause_kind_find(const char *kind);

/* The n-th thing to try against that cause of the block, from 0; NULL: there are no more. */
const char *cause_advice(const struct block *b, const char *kind, size_t n);

/* Who has the CPUs that the block's threads wait for: clear from this part on, else it is both. */
#define CAUSE_CLEAR 0.75
bool cause_cpus_crowded(const struct block *b); /* the program's own threads */
bool cause_cpus_taken(const struct block *b);	/* others, or it may not use all of them */

#endif
