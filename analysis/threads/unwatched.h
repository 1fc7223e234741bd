/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stretches in which the recorder wrote no records of switches and wakeups, from a REC_SWITCHES_OFF
 * to a REC_SWITCHES_ON, because they would have cost more than the budget. What the threads did in
 * them is not known: they were not observed, and nothing that goes on into a stretch or out of it
 * is judged by what was seen of it alone.
 *
 * After a stretch the records are complete again, so the first one of each thread tells what the
 * thread did from the end of the stretch until then. A thread that slept before the stretch may
 * have slept through it, or have run and slept for another reason. The kernel's count of how often
 * the thread has left a CPU decides: if it is that of the thread's latest switch-out, the sleep is
 * the same. Until then the thread counts as asleep for the reason that it had.
 */
#ifndef ISPOT_ANALYSIS_THREADS_UNWATCHED_H
#define ISPOT_ANALYSIS_THREADS_UNWATCHED_H

#include <stdbool.h>
#include <stdint.h>

struct record;
struct thread;
struct threads;

/*
 * Takes a record before the threads do. In a stretch it ends what is known of threads that end;
 * after one it decides what the thread did until now, of which the record is the first one.
 */
void unwatched_meet(struct threads *th, const struct record *r);
/* Notes that the thread runs, as its entry or exit shows: a doubtful sleep has ended. */
void unwatched_runs(struct thread *t);

void unwatched_begin(struct threads *th, uint64_t time_ns);
void unwatched_end(struct threads *th, uint64_t time_ns, uint64_t switches);
/* A window of the recording opens here: stretches before it do not count. */
void unwatched_restart(struct threads *th, uint64_t time_ns);

/* Whether a record is of use in a stretch: those of births, ends, names, sets and sums are. */
bool unwatched_keeps(const struct record *r);

#endif
