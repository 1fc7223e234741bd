/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the cycle counter through a perf event of each CPU, as BPF programs cannot read the TSC.
 * The event counts from when it was opened; the recorder measures the value of the TSC at that
 * time.
 */
#ifndef ISPOT_PROBES_BPF_CYCLES_H
#define ISPOT_PROBES_BPF_CYCLES_H

#include "common.h"

/* [cpu] */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} cycle_events SEC(".maps");

/* [cpu]: value of the TSC when the event began */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} cycle_bases SEC(".maps");

/*
 * Returns 0 if the counter is unknown. If the program has moved to another CPU in between, reading
 * the event fails.
 */
static __always_inline __u64 cycles_now(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 *base = bpf_map_lookup_elem(&cycle_bases, &cpu);
	struct bpf_perf_event_value v;

	if (!base || !*base || bpf_perf_event_read_value(&cycle_events, cpu, &v, sizeof(v)))
		return 0;
	return *base + v.counter;
}

#endif
