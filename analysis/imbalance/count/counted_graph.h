/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The control-flow graph of a run, for counted.c. */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_GRAPH_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_GRAPH_H

#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/count/part_key.h"

struct dso;

/* One event's count in one dump. */
struct counted_count {
	uint32_t event;
	double count;
};

struct counted_counts {
	VEC(struct counted_count)
};

/* A dump that ends a thread's part of an instance. */
struct counted_dump {
	struct part_key key; /* section MAP_NONE: it is of none, or not yet known. group: with
			     callgrind, how often the thread was in that section before */
	enum section_kind kind;
	uint32_t name, since; /* of run->names */
	double time;
	struct counted_counts counts;
};

/* Finds the nodes: branches of the run. */
void counted_graph_init(struct counted *c);
/* Events of a dump, made if they are new; its time. What runs in waiting code is left out. */
double counted_graph_dump(struct counted *c, const struct counts_dump *d,
			  struct counted_counts *counts);
/* Once all dumps are read: which edges close a loop. */
void counted_graph_finish(struct counted *c);
/* Returns what the instruction there is; false where its bytes cannot be read (NULL: no file). */
bool counted_is_return(struct dso *dso, uint64_t address);
bool counted_is_call(struct dso *dso, uint64_t address);
/* Whether the place is in code that waits for other threads or belongs to no thread's work. */
bool counted_waits(const struct counts *run, uint32_t place);
/* name matches one of the patterns (NULL-terminated, "*" matches anything). */
bool counted_matches(const char *const *patterns, const char *name);

#endif
