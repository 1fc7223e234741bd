/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by all programs of a recording: the configuration, the rings, the totals, the targets. */
#ifndef ISPOT_PROBES_BPF_COMMON_H
#define ISPOT_PROBES_BPF_COMMON_H

#include "kernel.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "wire.h"

const volatile struct wire_config config SEC(".rodata.config") = { 0 };
volatile struct wire_control control SEC(".data.control") = { 0 };

/*
 * There is one ring per CPU, so that no CPU waits for another one's lock; the recorder makes the
 * rings.
 */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536); /* only of this template: a page of any size */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_totals);
} totals SEC(".maps");

/*
 * The processes of the target: maps a tgid to the ns that its threads have run. A fork adds a
 * process, and the end of its last thread removes it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u64);
} targets SEC(".maps");

static __always_inline struct wire_totals *my_totals(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&totals, &zero);
}

static __always_inline __u64 *ran_of(__u32 tgid)
{
	return bpf_map_lookup_elem(&targets, &tgid);
}

static __always_inline bool is_target(__u32 tgid)
{
	return ran_of(tgid) != NULL;
}

struct no_programs {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};

/* Since 6.18, kernels require all programs of an array to be for the same kind of attachment. */
struct no_programs no_programs SEC(".maps");
struct no_programs no_sessions SEC(".maps");

/*
 * Since 6.13, kernels give a uprobe program that needs 64 bytes of stack or more a stack per CPU.
 * In a preemptible kernel, another thread's program may preempt it and overwrite that stack,
 * pointers included. A program with a tail call stays on the thread's own stack
 * (check_max_stack_depth() in kernel/bpf/verifier.c tests has_tail_call, which is set before dead
 * code is removed). This tail call is never made, which the verifier knows and the compiler does
 * not.
 */
static __always_inline void keep_thread_stack(void *ctx, void *no_programs_of_its_kind)
{
	__u64 never;

	asm volatile("%0 = 0" : "=r"(never));
	if (never)
		bpf_tail_call(ctx, no_programs_of_its_kind, 0);
}

extern void *bpf_rdonly_cast(const void *object, __u32 btf_id) __ksym __weak; /* kernel >= 6.2 */

#define CAST(type, pointer) \
	((struct type *)bpf_rdonly_cast((void *)(pointer), bpf_core_type_id_kernel(struct type)))

/*
 * Reads a member of an object of the kernel, or a member of what that points to. A plain load takes
 * a tenth of the time that the helper takes which older kernels need.
 */
#define READ(type, pointer, member) \
	(config.plain_loads ? CAST(type, pointer)->member : BPF_CORE_READ(pointer, member))
#define READ_VIA(type, pointer, via, member)                   \
	(config.plain_loads ? CAST(type, pointer)->via->member \
			    : BPF_CORE_READ(pointer, via, member))

static __always_inline void set_head_at(struct wire_head *h, __u32 kind, __u32 tid, __u32 tgid,
					__u64 time_ns)
{
	h->head = kind << WIRE_ID_BITS;
	h->time_ns = time_ns;
	h->tid = tid;
	h->tgid = tgid;
}

static __always_inline void set_head(struct wire_head *h, __u32 kind, __u32 tid, __u32 tgid)
{
	set_head_at(h, kind, tid, tgid, bpf_ktime_get_ns());
}

/*
 * Whether the time window of a budget is over. A window that began while ispot was calibrating does
 * not count against the target.
 */
static __always_inline bool thread_is_over(__u64 window_ns, __u64 now_ns, __u64 length_ns)
{
	return now_ns - window_ns > length_ns || window_ns < control.since_ns;
}

/*
 * Writes a record about lost records before the next record that finds room. Its time is that of
 * the latest lost record, because the record that follows has its time already and was not lost.
 */
static __always_inline void wire_tell_lost(void *ring, struct wire_totals *t)
{
	struct wire_lost r = { .lost = t->calls_lost + t->others_lost };

	set_head_at(&r.h, WIRE_LOST, 0, 0, t->refused_ns);
	if (!bpf_ringbuf_output(ring, &r, sizeof(r), BPF_RB_NO_WAKEUP))
		t->lost_told = r.lost;
}

/*
 * Writes into the ring of this CPU. The reader is woken each time that wakeup_bytes were written,
 * not for each record. Returns 0 if the record was written.
 */
static __always_inline long wire_put(struct wire_totals *t, void *record, __u64 size)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	__u64 flags = BPF_RB_NO_WAKEUP;

	if (!ring)
		return -1;
	if (t->lost_told != t->calls_lost + t->others_lost)
		wire_tell_lost(ring, t);
	t->since_wakeup += size;
	if (t->since_wakeup > config.wakeup_bytes) {
		t->since_wakeup = 0;
		flags = BPF_RB_FORCE_WAKEUP;
	}
	return bpf_ringbuf_output(ring, record, size, flags);
}

/* Counts atomically: a program may interrupt or preempt another one on the same CPU. */
#define COUNT(counter) __sync_fetch_and_add(&(counter), 1)

/*
 * Notes the time of a refused record; 0: the record has none. This is done before the record is
 * counted, as a program that interrupts this one may report the loss.
 */
static __always_inline void note_refused(struct wire_totals *t, __u64 time_ns)
{
	if (!time_ns)
		time_ns = bpf_ktime_get_ns();
	if (time_ns > t->refused_ns)
		t->refused_ns = time_ns;
}

static __always_inline void emit_more(struct wire_totals *t, void *record, __u64 size)
{
	COUNT(t->others);
	if (wire_put(t, record, size)) {
		note_refused(t, ((struct wire_head *)record)->time_ns);
		COUNT(t->others_lost);
	}
}

static __always_inline void emit_other(void *ctx, void *record, __u64 size)
{
	struct wire_totals *t = my_totals();

	if (t)
		emit_more(t, record, size);
}

#endif
