/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of counted.c: the control-flow graph of a run. */
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
	struct part_key key; /* section MAP_NONE: in no section, or not known yet. group: with
			      * callgrind, the number of the thread's earlier parts of this
			      * section */
	enum section_kind kind;
	uint32_t name, since; /* indices of run->names */
	double time;
	struct counted_counts counts;
};

/* Finds the nodes, which are the branches of the run. */
void counted_graph_init(struct counted *c);
/* Adds the counts of a dump's events, and returns its time. Code that waits for other threads is
 * left out. */
double counted_graph_dump(struct counted *c, const struct counts_dump *d,
			  struct counted_counts *counts);
/* Finds the edges that close a loop. Called after the last dump. */
void counted_graph_finish(struct counted *c);
/* Return whether the instruction is a return or a call; false if it cannot be read. dso NULL: no
 * file. */
bool counted_is_return(struct dso *dso, uint64_t address);
bool counted_is_call(struct dso *dso, uint64_t address);
/* Whether the place is in code that waits for other threads, or that is no work of the program. */
bool counted_waits(const struct counts *run, uint32_t place);
/* Whether name matches one of the patterns, an array that ends with NULL. "*" matches any text. */
bool counted_matches(const char *const *patterns, const char *name);

#endif
