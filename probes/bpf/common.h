/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every program of a recording uses: the configuration, the rings, the totals, the targets. */
#ifndef ISPOT_PROBES_BPF_COMMON_H
#define ISPOT_PROBES_BPF_COMMON_H

#include "kernel.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "wire.h"

const volatile struct wire_config config SEC(".rodata.config") = { 0 };
volatile struct wire_control control SEC(".data.control") = { 0 };

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_totals);
} totals SEC(".maps");

/* Processes of the target: tgid -> 1. Grows by forks, shrinks when a process's last thread ends. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

static __always_inline struct wire_totals *my_totals(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&totals, &zero);
}

static __always_inline bool is_target(__u32 tgid)
{
	return bpf_map_lookup_elem(&targets, &tgid) != NULL;
}

extern void *bpf_rdonly_cast(const void *object, __u32 btf_id) __ksym __weak; /* kernel >= 6.2 */

#define CAST(type, pointer) \
	((struct type *)bpf_rdonly_cast((void *)(pointer), bpf_core_type_id_kernel(struct type)))

static __always_inline void emit_other(void *ctx, void *record, __u64 size)
{
	struct wire_totals *t = my_totals();

	if (!t)
		return;
	t->others++;
	if (bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, record, size))
		t->others_lost++;
}

static __always_inline void set_head(struct wire_head *h, __u32 kind, __u32 tid, __u32 tgid)
{
	h->head = kind << WIRE_ID_BITS;
	h->time_ns = bpf_ktime_get_ns();
	h->tid = tid;
	h->tgid = tgid;
}

#endif
