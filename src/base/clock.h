/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time. Everything ispot stamps is CLOCK_MONOTONIC in ns (bpf_ktime_get_ns, perf clockid), so
 * that records of probes, scheduler and samples compare. Cycles are a conversion stored beside.
 */
#ifndef ISPOT_BASE_CLOCK_H
#define ISPOT_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */
uint64_t clock_cpu_ns(void); /* CPU time of this thread */
uint64_t clock_cycles(void); /* TSC or CNTVCT_EL0; 0 where there is none to read */
void clock_sleep_ns(uint64_t ns);

#endif
