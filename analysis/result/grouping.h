/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The groupings that `report --by` can rank: functions, threads, and groups of calls by a rule for
 * keyed.h, one row each. A grouping reads the recording into a result that holds the groups'
 * blocks.
 */
#ifndef ISPOT_ANALYSIS_RESULT_GROUPING_H
#define ISPOT_ANALYSIS_RESULT_GROUPING_H

#include "analysis/group/argkey.h"
#include "analysis/group/callsite.h"
#include "analysis/lock/section.h"
#include "analysis/score/keyed.h"
#include "analysis/sequence/sequence.h"

struct err;
struct result;
struct result_options;
struct trace_reader;

/* The state of a grouping while it reads; only the member for the kind of grouping is used. */
struct grouping {
	const struct grouping_by *by;
	struct keyed_rule rule;
	const char *const *keys, *const *no_keys; /* --key, --no-key */
	size_t n_keys, n_no_keys;
	bool of_sequences;	     /* transitions are between sequences, not functions */
	const struct result *totals; /* the division by functions; NULL: these are read now */
	struct argkeys argkeys;
	struct callsites callsites;
	struct sections sections;
	struct keyed lock_waits; /* with keys: numbers of locks and places for sections */
	bool has_locks;
	struct sequences sequences;
	struct transitions transitions;
};

struct grouping_by {
	const char *name;
	bool alone; /* only the groups are ranked */
	/*
	 * Sets the rule and the visitors. It may read the recording, and rewinds it then. NULL: the
	 * grouping has no groups.
	 */
	int (*begin)(struct grouping *g, struct trace_reader *r, struct result *result,
		     struct result_options *o, struct err *err);
	/* is called when the blocks are built */
	void (*end)(struct grouping *g, struct result *result);
	void (*release)(struct grouping *g);
};

/*
 * Finds a grouping by its name; NULL means function. -EINVAL, with exit status 2 and a message that
 * names all groupings: there is none of that name.
 */
int grouping_find(const char *name, const struct grouping_by **by, struct err *err);

/* Reads as result_read() does, with the groups of g->by; changes o. */
int grouping_read(struct grouping *g, struct trace_reader *r, struct result_options *o,
		  struct result *result, struct err *err);
void grouping_release(struct grouping *g);

#endif
