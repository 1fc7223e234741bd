/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cycle counter, as a perf event of each CPU: programs cannot read the TSC themselves. The
 * event counts from when it was opened; what the TSC was then, the recorder has measured.
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

/* [cpu]: the TSC when its event began */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} cycle_bases SEC(".maps");

/* 0: not known. The program may have moved to another CPU in between: then the event refuses. */
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
