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

/* The state of a row while it reads; only the member of the row's own kind is used. */
struct grouping {
	const struct grouping_by *by;
	struct keyed_rule rule;
	const char *const *keys, *const *no_keys; /* --key, --no-key */
	size_t n_keys, n_no_keys;
	bool of_sequences; /* transitions are between sequences, not functions */
	struct argkeys argkeys;
	struct callsites callsites;
	struct sections sections;
	struct sequences sequences;
	struct transitions transitions;
};

struct grouping_by {
	const char *name;
	bool alone; /* only the groups are ranked */
	/* Sets the rule and visitors; may read the recording, and rewinds it. NULL: no groups. */
	int (*begin)(struct grouping *g, struct trace_reader *r, struct result *result,
		     struct result_options *o, struct err *err);
	void (*end)(struct grouping *g, struct result *result); /* the blocks are there */
	void (*release)(struct grouping *g);
};

/* NULL: function. -EINVAL, exit status 2, naming all. */
int grouping_find(const char *name, const struct grouping_by **by, struct err *err);

/* result_read() with the groups of g->by; o is changed. */
int grouping_read(struct grouping *g, struct trace_reader *r, struct result_options *o,
		  struct result *result, struct err *err);
void grouping_release(struct grouping *g);

#endif
