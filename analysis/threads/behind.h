/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waits for a lock whose holder waits for work. Workers that take tasks from one queue often hold
 * its lock while they wait for the next task, so that the others queue for the lock: all of them
 * are idle, and a shorter critical section gains nothing.
 *
 * When a thread is released from a futex, the two latest sleeps of the releaser say how much of the
 * time it slept itself, and where. Only the time since the futex was released before that counts:
 * before, another thread may have had the lock, while the releaser slept without it. Whether work
 * is handed out there is known at the end of a recording. A releaser that had queued for the same
 * lock was behind others for as long: what they did is taken to be what the lock's other holders
 * did.
 */
#ifndef ISPOT_ANALYSIS_THREADS_BEHIND_H
#define ISPOT_ANALYSIS_THREADS_BEHIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

#define BEHIND_MAX 65536 /* rows; further ones are dropped */
#define BEHIND_ANY UINT32_MAX

/* How long threads slept at a futex while whoever released them slept at another one. */
struct behind_row {
	uint32_t word, at; /* at: BEHIND_ANY: whatever the releaser did */
	uint64_t ns;
	/* With BEHIND_ANY: how long threads slept in all; when one was last released. */
	uint64_t waited_ns, released_ns;
};

struct behind {
	struct {
		VEC(struct behind_row)
	} rows;
	struct map row_of;
	size_t n_words;
	double *given_ns; /* at the end: by word where work is handed out */
};

/* A sleep that has ended. */
struct past_sleep {
	uint64_t since_ns, woken_ns;
	uint32_t word; /* BEHIND_ANY: it was no futex */
};

/* The sleep, at a futex, was ended by a thread whose latest sleeps were own[]. */
void behind_add(struct behind *b, const struct past_sleep *s, const struct past_sleep own[2]);

/* A futex, as it is classified at the end of the recording. */
struct behind_word {
	bool is_lock, is_work; /* work: it is handed out there */
	uint32_t twin;	       /* the first word of the same condition, or itself */
	double part;	       /* of a lock, set: of its waits, in which holders wait for work */
};
void behind_judge(struct behind *b, struct behind_word *words, size_t n);
/* After that: how long threads slept at locks whose holders waited for work at the futex. */
double behind_given_ns(const struct behind *b, uint32_t word);
void behind_release(struct behind *b);

#endif
