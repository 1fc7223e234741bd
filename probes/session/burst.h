/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --burst ON/PERIOD: the probes are in place for ON of each PERIOD. In between they are removed
 * from the target, not only disabled: a disabled perf event leaves its breakpoint, and a BPF
 * program runs whether its event is enabled or not. A carrier is what puts breakpoints into an
 * address space (design fact 3), so closing the carriers takes the breakpoints out. The event with
 * the program stays open on the waiter. Programs are muted first and unmuted last, so that an edge
 * is at the same moment in all processes.
 */
#ifndef ISPOT_PROBES_SESSION_BURST_H
#define ISPOT_PROBES_SESSION_BURST_H

#include <stdint.h>

struct attach;
struct err;
struct recording;

struct burst {
	/* parts that it asks */
	struct attach *attach;
	uint64_t since_ns, until_ns; /* of the present phase */
	uint64_t on_ns, random;
	unsigned n; /* how often the probes returned */
};

/*
 * Returns a length between half and one and a half of ns, on average ns, so that a program with a
 * period of its own does not meet each pause in the same place. random: the state, changed.
 */
uint64_t session_varied_ns(uint64_t *random, uint64_t ns);
void session_burst_begin(struct burst *b, const struct recording *r); /* begins the first burst */
/* Called in each turn of the loop. */
int session_burst_step(struct burst *b, struct recording *r, struct err *err);
/* Returns how long a turn may sleep, which is no longer than timeout_ms. */
int session_burst_timeout_ms(const struct burst *b, const struct recording *r, int timeout_ms);
void session_burst_stop(struct burst *b, struct recording *r);

#endif
