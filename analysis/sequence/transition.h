/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The transition graph of a recording (the ISPOT paper's section 5.8): which step of a thread
 * follows which, how often, and the shortest and longest time between. A state is a function, or
 * with of_sequences an element of a row of calls whose repetitions are folded (sequence.h). A
 * transition is one step from an entry or exit of a state to the thread's next entry or exit:
 *
 *	call        entry of the caller to entry of the first call inside it
 *	next        exit of a call to entry of the next call at the same level
 *	return      exit of the last call inside to exit of the caller
 *	begin, end  the first and last element of a thread; they have no time
 *
 * Memory: TRANSITION_STATES and TRANSITIONS_MOST; further ones are only counted.
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_TRANSITION_H
#define ISPOT_ANALYSIS_SEQUENCE_TRANSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct meta;
struct patterns;

#define TRANSITION_STATES 4096
#define TRANSITIONS_MOST  32768
#define TRANSITION_NOTIME UINT64_MAX

enum transition_kind {
	TRANSITION_CALL,
	TRANSITION_NEXT,
	TRANSITION_RETURN,
	TRANSITION_BEGIN,
	TRANSITION_END,
};

/* Times of a transition or state. count may be larger than timed, because some have no known
 * time. */
struct transition_times {
	uint64_t count, timed, total_ns, min_ns, max_ns;
};

struct transition_state {
	uint32_t symbol;
	char *name;		       /* set by transitions_finish() */
	struct transition_times times; /* times from entry to exit */
	uint64_t entered, left;	       /* transitions from its entry, and from its exit */
};

struct transition {
	uint32_t from, to; /* indices in states; equal for begin and end */
	enum transition_kind kind;
	struct transition_times times;
	double share; /* share of the transitions from the same entry or exit; set by
		       * transitions_finish() */
};

struct transitions {
	bool of_sequences;
	struct {
		VEC(struct transition_state)
	} states;
	struct {
		VEC(struct transition)
	} all;		     /* after transitions_finish(): most frequent first */
	struct map state_of; /* symbol -> index */
	struct map at;	     /* from, to, kind -> index */
	uint64_t beyond;     /* transitions that were not added for lack of room */
};

/* Returns the state of a symbol, which is added if it is new, or MAP_NONE if there is no room. */
uint32_t transitions_state(struct transitions *t, uint32_t symbol);
/* Counts a pass through a state (MAP_NONE: none). ns: its time; TRANSITION_NOTIME: not known. */
void transitions_pass(struct transitions *t, uint32_t state, uint64_t ns);
/* Counts a transition. from or to MAP_NONE: there was no room for the state. */
void transitions_add(struct transitions *t, enum transition_kind kind, uint32_t from, uint32_t to,
		     uint64_t ns);
/* Names the states, sets shares and sorts the transitions. */
void transitions_finish(struct transitions *t, const struct meta *meta, const struct patterns *p);
void transitions_release(struct transitions *t);

#endif
