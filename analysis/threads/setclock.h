/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a set of probes has been on, in a process: REC_SET_ON and REC_SET_OFF as a clock that
 * runs while the set is on. A thread's observed time is the clock at its end less the clock at
 * its birth. A process that is named by a record gets its own clock; all others share that of
 * process 0.
 */
#ifndef ISPOT_ANALYSIS_THREADS_SETCLOCK_H
#define ISPOT_ANALYSIS_THREADS_SETCLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct threads;

struct set_clock {
	uint32_t set; /* index */
	uint32_t tgid;
	bool on, named; /* named: a record spoke of it; until then it counts as on */
	uint64_t total_ns, since_ns;
	uint64_t paused_ns; /* off between two times on */
	bool was_on;
	uint64_t first_on_ns; /* 0: not seen to be switched on */
};

void setclocks_init(struct threads *th);
uint64_t setclock_read(struct threads *th, uint32_t set, uint32_t tgid, uint64_t time_ns);
/* Whether any set is on in the process now, or there is none. */
bool setclocks_any_on(struct threads *th, uint32_t tgid);
/* When it was first switched on; 0: it was on from the start, as far as the records say. */
uint64_t setclock_first_on_ns(const struct threads *th, uint32_t set);
/* How long the set was off after it had been on, before it was on again (or the end). */
uint64_t setclock_paused_ns(struct threads *th, uint32_t set, uint64_t end_ns);
/* A window opens: pauses before it do not count. */
void setclocks_restart(struct threads *th, uint64_t time_ns);
/* The part of [from, to] in which the set was on, to being now. */
uint64_t setclock_overlap(struct threads *th, uint32_t set, uint32_t tgid, uint64_t from_ns,
			  uint64_t to_ns);
/* The part of [from, to] in which the function's own probes were out, for what they cost, while its
 * set was on. */
uint64_t setclocks_out_ns(const struct threads *th, uint32_t id, uint32_t tgid, uint64_t from_ns,
			  uint64_t to_ns);
void setclock_switch(struct threads *th, uint32_t set_id, uint32_t tgid, bool on, uint64_t time_ns);

#endif
