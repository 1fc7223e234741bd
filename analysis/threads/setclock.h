/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a set of probes has been on in a process: a clock that runs from REC_SET_ON to
 * REC_SET_OFF. A thread's observed time is the clock at its end minus the clock at its start. A
 * process that a record names gets its own clock; all others share that of process 0. In a
 * recording with fewer calls than CALLS_MIN, or one of less than four seconds with probes for less
 * than half of it and than a second, all sets count as on from its begin to its end.
 */
#ifndef ISPOT_ANALYSIS_THREADS_SETCLOCK_H
#define ISPOT_ANALYSIS_THREADS_SETCLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CALLS_MIN 100 /* of fewer timed calls, the fastest may still be a slow one */

struct threads;

struct set_clock {
	uint32_t set; /* index of the set */
	uint32_t tgid;
	bool on, named; /* named: a record has named the set; until then it counts as on */
	uint64_t total_ns, since_ns;
	uint64_t paused_ns; /* time off between two periods on */
	bool was_on;
	uint64_t first_on_ns; /* 0: no record of the first time */
};

void setclocks_init(struct threads *th);
uint64_t setclock_read(struct threads *th, uint32_t set, uint32_t tgid, uint64_t time_ns);
bool setclock_is_off(const struct threads *th, uint32_t set, uint32_t tgid);
/* Whether any set is on in the process now, or there are no sets. */
bool setclocks_any_on(struct threads *th, uint32_t tgid);
/*
 * Returns when the set was first switched on, or 0 if it was on from the start as far as the
 * records say.
 */
uint64_t setclock_first_on_ns(const struct threads *th, uint32_t set);
/*
 * Returns how long the set was off after it had been on, until it was on again or the recording
 * ended.
 */
uint64_t setclock_paused_ns(struct threads *th, uint32_t set, uint64_t end_ns);
/* Opens a window: pauses before it do not count. */
void setclocks_restart(struct threads *th, uint64_t time_ns);
/* Returns the part of [from, to] in which the set was on; to is now. */
uint64_t setclock_overlap(struct threads *th, uint32_t set, uint32_t tgid, uint64_t from_ns,
			  uint64_t to_ns);
/*
 * Returns the part of [from, to] in which the function's own probes were out because of their cost,
 * while its set was on.
 */
uint64_t setclocks_out_ns(const struct threads *th, uint32_t id, uint32_t tgid, uint64_t from_ns,
			  uint64_t to_ns);
void setclock_switch(struct threads *th, uint32_t set_id, uint32_t tgid, bool on, uint64_t time_ns);

#endif
