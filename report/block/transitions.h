/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transition graph (analysis/sequence/transition.h) in words, as JSON and as CSV. */
#ifndef ISPOT_REPORT_BLOCK_TRANSITIONS_H
#define ISPOT_REPORT_BLOCK_TRANSITIONS_H

#include <stddef.h>
#include <stdint.h>

struct json;
struct text;
struct transition;
struct transition_times;
struct transitions;
struct view;

/*
 * Adds "cache_get calls lock", "lock then work", "work returns to cache_get" or "threads begin with
 * f", made printable. Names too long for the columns are shortened in the middle.
 */
void report_transition_title(const struct transitions *t, const struct transition *one,
			     size_t columns, struct text *out);
/* Adds "120ns–1.0ms", or nothing if no step has a time. */
void report_transition_range(const struct transition_times *times, struct text *out);
/* Returns the mean of the steps that have a time, or TRANSITION_NOTIME if none has. */
uint64_t report_transition_mean(const struct transition_times *times);

/*
 * top limits the transitions; 0: all of them. States are never left out. The caller frees the
 * result.
 */
struct json *report_transitions_json(const struct transitions *t, uint64_t top);
void report_transitions_csv(const struct view *v, struct text *out);

#endif
