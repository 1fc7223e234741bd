/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time. Everything ispot stamps is CLOCK_MONOTONIC in ns (bpf_ktime_get_ns, perf clockid), so
 * that records of probes, scheduler and samples compare. The cycle counter (TSC, CNTVCT_EL0) is
 * read beside it: pairs of both clocks, taken at the ends of a recording or as often as wanted,
 * convert one into the other as long as the counter is stable.
 */
#ifndef ISPOT_BASE_CLOCK_H
#define ISPOT_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */
uint64_t clock_cpu_ns(void); /* CPU time of this thread */
uint64_t clock_cycles(void); /* TSC or CNTVCT_EL0; 0 where there is none to read */
void clock_sleep_ns(uint64_t ns);

/* One moment on both clocks. cycles 0: there is no counter. */
struct clock_pair {
	uint64_t ns, cycles;
	uint64_t width_ns; /* the moment is known so well */
};

/* Takes about a microsecond: the narrowest of some tries, so that an interrupt does no harm. */
struct clock_pair clock_pair_now(void);

/*
 * Cycles per ns between two pairs of one boot, a before b. NAN: one has no counter, or a clock did
 * not go forward.
 */
double clock_pair_rate(const struct clock_pair *a, const struct clock_pair *b);

/* When the counter was there, on the line through both pairs; a rate is known. In between and
 * beyond. */
uint64_t clock_pair_ns(const struct clock_pair *a, const struct clock_pair *b, uint64_t cycles);

/*
 * Why cycles do not compare over time and CPUs, a clause in static memory; NULL: the counter goes
 * at one speed whatever the processor does, and the kernel found the CPUs to agree.
 */
const char *clock_cycles_unstable(void);

/* What that goes by: the processor's promise, and the kernel's list of clocks it may use. */
const char *clock_unstable_by(bool constant, const char *available);

#endif
