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
uint64_t clock_cycles(void); /* TSC or CNTVCT_EL0; 0: the machine has neither */
void clock_sleep_ns(uint64_t ns);

/* One moment on both clocks. cycles 0: there is no counter. */
struct clock_pair {
	uint64_t ns, cycles;
	uint64_t width_ns; /* how long the readings took, which bounds the error */
};

/*
 * Reads both clocks a few times and returns the pair that was read fastest, so that an interrupt
 * between the two readings does no harm. Takes about a microsecond.
 */
struct clock_pair clock_pair_now(void);

/*
 * Returns the cycles per ns between two pairs of one boot, a before b, or NAN if a pair has no
 * counter or a clock did not advance.
 */
double clock_pair_rate(const struct clock_pair *a, const struct clock_pair *b);

/*
 * Returns by how many ns the second pair is off the line through the other two, beyond what the
 * readings are known to: 0 if the counter of the CPU that it was read on goes as theirs. INFINITY:
 * the pairs tell nothing.
 */
double clock_pair_off_ns(const struct clock_pair *before, const struct clock_pair *between,
			 const struct clock_pair *after);

/*
 * Returns why cycles cannot be compared over time and CPUs, a clause in static memory, or NULL if
 * they can: the counter has one speed at every CPU frequency, and the counters of all CPUs agree.
 * That they do is the kernel's finding. In a virtual machine whose kernel does not use the TSC
 * itself, but reads the hypervisor's clock, which is computed from it, the CPUs are compared
 * here: at the first call the calling thread visits each that it may use, a few us.
 */
const char *clock_cycles_unstable(void);

/*
 * The same, decided from the CPU flag of a constant counter, the kernel's list of available clock
 * sources, and whether the CPUs that were compared here agree (NULL: they were not).
 */
const char *clock_unstable_by(bool constant, const char *available, const bool *agreeing);

/* Whether the clock source, as the kernel names it with a newline, is computed from the TSC. */
bool clock_is_from_tsc(const char *source);

#endif
