/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every kind of cause, one row each, with all the texts about it: for the report and its slow
 * calls, for outliers and for imbalance. To add a cause, add a row to kind.c, and the code that
 * finds it (rules.c for a block, analysis/outlier/cause.c for an execution,
 * analysis/imbalance/count for a late thread).
 */
#ifndef ISPOT_ANALYSIS_CAUSE_KIND_H
#define ISPOT_ANALYSIS_CAUSE_KIND_H

#include <stdbool.h>
#include <stddef.h>

struct block;

/* Kinds that the figures of outliers draw in the same color. */
enum cause_group {
	CAUSE_WAIT, /* any wait that has no group below */
	CAUSE_PATH,
	CAUSE_LOCK,
	CAUSE_IO,
	CAUSE_FAULT,
	CAUSE_CPU,
	CAUSE_PAUSE,
	CAUSE_FIRST,
	CAUSE_UNKNOWN,
};

#define CAUSE_ADVICES 4

struct cause_kind {
	const char *kind;
	enum cause_group group;
	const char *name;  /* on screens; NULL: the kind itself */
	const char *story; /* begins the report's sentence, before " in cache_get costs …" */
	bool plural;	   /* "cost" follows instead of "costs" */
	bool needs_cpu;	   /* threads that wait less for it gain only if there is a CPU for them */
	const char *idle;  /* said about an idle block with this cause; NULL: never */
	const char
		*uneven; /* what it is where threads differ in it; NULL: they are not told by it */
	const char *counted; /* for the same, the verb for how often it happened to a thread */
	struct {
		const char *text; /* what to try; NULL: no more */
		bool (*unless)(
			const struct block *b); /* it does not help these; NULL: it helps all */
	} advice[CAUSE_ADVICES];
};

extern const struct cause_kind cause_kinds[];
extern const size_t cause_kinds_n;

/* Returns NULL if the kind is unknown. */
const struct cause_kind *cause_kind_find(const char *kind);
/*
 * Returns the row that fits the block: a condition-wait may be at a condition variable, or may be
 * another kind of wait for a thread.
 */
const struct cause_kind *cause_kind_of(const struct block *b, const char *kind);

/* Returns the name of the block's cause on screens, or the kind if the cause has no name. */
const char *cause_name(const struct block *b, const char *kind);

/* Returns whether less of that cause helps the block only if CPUs are free. */
bool cause_needs_cpu(const struct block *b, const char *kind);

/* Returns the n-th advice against that cause of the block, from 0, or NULL if there are no more. */
const char *cause_advice(const struct block *b, const char *kind, size_t n);

/*
 * The share from which it is clear which threads have the CPUs that the block's threads wait for;
 * below it, both kinds are named.
 */
#define CAUSE_CLEAR 0.75
bool cause_cpus_crowded(const struct block *b); /* mainly the program's own threads */
/* mainly other programs, or the program may not use all CPUs */
bool cause_cpus_taken(const struct block *b);
/* Most of the block's run queue time begins with giving up the CPU, only to look again. */
bool cause_gives_up(const struct block *b);

#endif
