/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The transition graph of a recording (the ISPOT paper's section 5.8): what a thread does after
 * what, how often, and the fastest and slowest time between. A state is a function, or with
 * of_sequences an element of a row of calls from which repetitions are folded (sequence.h). A
 * transition is one step from an entry or exit of a state to the thread's next one:
 *
 *	call    entry of the caller to entry of the first call inside it
 *	next    exit of a call to entry of the next one beside it
 *	return  exit of the last call inside to exit of the caller
 *	begin, end  the first and last thing that a thread was seen to do; they have no time
 *
 * Memory: so many states and transitions; what is beyond is counted.
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

/* Times of the steps that have one: count may be more than timed. */
struct transition_times {
	uint64_t count, timed, total_ns, min_ns, max_ns;
};

struct transition_state {
	uint32_t symbol;
	char *name;		       /* from transitions_finish() on */
	struct transition_times times; /* from its entry to its exit */
	uint64_t entered, left;	       /* transitions that began at its entry, and at its exit */
};

struct transition {
	uint32_t from, to; /* indices of states; of what begins and ends only one counts */
	enum transition_kind kind;
	struct transition_times times;
	double share; /* of the ways to go on from there, after transitions_finish() */
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
	uint64_t beyond;     /* steps from or to what found no room */
};

/* Index of the state of that symbol, MAP_NONE without room. */
uint32_t transitions_state(struct transitions *t, uint32_t symbol);
/* A state, MAP_NONE being none, was passed; it took that long (TRANSITION_NOTIME: not known). */
void transitions_pass(struct transitions *t, uint32_t state, uint64_t ns);
/* A step. from or to MAP_NONE: it is not told apart. */
void transitions_add(struct transitions *t, enum transition_kind kind, uint32_t from, uint32_t to,
		     uint64_t ns);
/* Names the states, puts all in order. */
void transitions_finish(struct transitions *t, const struct meta *meta, const struct patterns *p);
void transitions_release(struct transitions *t);

#endif
