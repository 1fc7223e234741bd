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

/* "cache_get calls lock", "lock then work", "work returns to cache_get", "threads begin with f",
 * printable. Names that do not fit so many columns lose their middles. */
void report_transition_title(const struct transitions *t, const struct transition *one,
			     size_t columns, struct text *out);
/* "120ns–1.0ms", "" where no step has a time. */
void report_transition_range(const struct transition_times *times, struct text *out);
/* The mean of those that have a time; TRANSITION_NOTIME: none has. */
uint64_t report_transition_mean(const struct transition_times *times);

/* top: so many transitions, 0: all; every state is there. To be freed. */
struct json *report_transitions_json(const struct transitions *t, uint64_t top);
void report_transitions_csv(const struct view *v, struct text *out);

#endif
