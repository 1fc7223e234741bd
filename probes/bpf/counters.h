/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters of calls: their values follow the record of the entry and that of the exit.
 *
 * The counts that the kernel keeps in the task cost a load each, at every call, and are written
 * only after a change. They never decrease, so one sum of them in each CPU's totals reveals a
 * change.
 *
 * The other counters are perf events, one group on each CPU, whose values are those of the CPU.
 * What other threads count while a call is off its CPU is subtracted at the switches, where the
 * thread's sums are updated. The sums are in a hash by thread rather than in task storage, because
 * `next` of a raw tracepoint is not a typed pointer, and 5.10 has neither.
 */
#ifndef ISPOT_PROBES_BPF_COUNTERS_H
#define ISPOT_PROBES_BPF_COUNTERS_H

#include "common.h"

/* [cpu * WIRE_COUNTERS_MAX + counter] */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} counter_events SEC(".maps");

#define COUNTED_DEPTH 8 /* counted calls of a thread that can be open at once */

struct counting {
	__u64 sum[WIRE_COUNTERS_MAX];  /* the thread's own counts, up to `seen` */
	__u64 seen[WIRE_COUNTERS_MAX]; /* value of the CPU's counter at that time */
	__u32 on_cpu;		       /* the thread has not left the CPU since then */
	__u32 depth;	       /* if config.count_period is set: counted calls that are open */
	__u64 sectors_written; /* by the thread itself (disk.h) */
	__u64 sp[COUNTED_DEPTH];
	__u32 id[COUNTED_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct counting);
} counting SEC(".maps");

struct task_io_accounting {
	__u64 read_bytes;
} __core;

struct task_struct___counted {
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	struct sched_entity se;
	struct task_io_accounting ioac;
} __core;

/* Loads fields directly if the kernel allows it: a read through the helper takes 15 ns. */
#define TASK_FIELD(task, field) (config.plain_loads ? (task)->field : BPF_CORE_READ(task, field))

/*
 * Returns the sectors that were read from block devices for this task, whichever task waited for
 * them, or 0 if the kernel does not count them.
 */
static __always_inline __u64 sectors_read(struct task_struct___counted *task)
{
	if (!bpf_core_field_exists(task->ioac.read_bytes))
		return 0;
	return TASK_FIELD(task, ioac.read_bytes) >> 9;
}

/* Most often no thread has written, and the lookup is skipped. */
static __always_inline __u64 sectors_written(__u32 tid)
{
	struct counting *c = control.written ? bpf_map_lookup_elem(&counting, &tid) : NULL;

	return c ? c->sectors_written : 0;
}

static __always_inline __u64 task_counter(struct task_struct___counted *task, __u32 which,
					  __u64 written)
{
	switch (which) {
	case WIRE_TASK_MINOR_FAULTS:
		return TASK_FIELD(task, min_flt);
	case WIRE_TASK_MAJOR_FAULTS:
		return TASK_FIELD(task, maj_flt);
	case WIRE_TASK_PAGE_FAULTS:
		return TASK_FIELD(task, min_flt) + TASK_FIELD(task, maj_flt);
	case WIRE_TASK_VOLUNTARY_SWITCHES:
		return TASK_FIELD(task, nvcsw);
	case WIRE_TASK_INVOLUNTARY_SWITCHES:
		return TASK_FIELD(task, nivcsw);
	case WIRE_TASK_CONTEXT_SWITCHES:
		return TASK_FIELD(task, nvcsw) + TASK_FIELD(task, nivcsw);
	case WIRE_TASK_MIGRATIONS:
		return TASK_FIELD(task, se.nr_migrations);
	case WIRE_TASK_SECTORS_READ:
		return sectors_read(task);
	case WIRE_TASK_SECTORS_WRITTEN:
		return written;
	}
	return 0;
}

/*
 * Updates the sums of the running thread. Returns false if the CPU has no counters. The program may
 * be preempted after it read a counter and then find newer sums, which it keeps.
 */
static __always_inline bool count_up(struct counting *c)
{
	__u32 first = bpf_get_smp_processor_id() * WIRE_COUNTERS_MAX;
	struct bpf_perf_event_value v;

	for (__u32 i = 0; i < WIRE_COUNTERS_MAX; i++) {
		if (i >= config.n_perf_counters)
			break;
		if (bpf_perf_event_read_value(&counter_events, first + i, &v, sizeof(v))) {
			c->on_cpu = false;
			return false;
		}
		if (c->on_cpu && (__s64)(v.counter - c->seen[i]) < 0)
			continue;
		if (c->on_cpu)
			c->sum[i] += v.counter - c->seen[i];
		c->seen[i] = v.counter;
	}
	c->on_cpu = true;
	return true;
}

static __always_inline struct counting *counting_of(__u32 tid)
{
	static const struct counting none;
	struct counting *c = bpf_map_lookup_elem(&counting, &tid);

	if (c)
		return c;
	bpf_map_update_elem(&counting, &tid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&counting, &tid);
}

/*
 * The asm keeps the compiler from dropping a mask that it finds needless and that the verifier
 * needs.
 */
static __always_inline __u32 counted_slot(__u32 depth)
{
	asm volatile("" : "+r"(depth));
	return depth & (COUNTED_DEPTH - 1);
}

/* Forgets calls that were left by an unwinder: their frames lie below sp. */
static __always_inline void forget_below(struct counting *c, __u64 sp)
{
	for (int i = 0; i < COUNTED_DEPTH && c->depth; i++)
		if (c->sp[counted_slot(c->depth - 1)] < sp)
			c->depth--;
}

/* Returns the thread's state if this entry is counted, or NULL. */
static __always_inline struct counting *counted_entry(__u32 tid, __u32 id, __u64 sp, bool occasion)
{
	struct counting *c;

	if (config.count_period > 1 && !occasion)
		return NULL;
	c = counting_of(tid);
	if (!c || config.count_period <= 1)
		return c;
	forget_below(c, sp);
	if (c->depth >= COUNTED_DEPTH)
		return NULL;
	c->sp[counted_slot(c->depth)] = sp;
	c->id[counted_slot(c->depth)] = id;
	c->depth++;
	return c;
}

/* Returns the thread's state if the entry of this exit was counted, or NULL. */
static __always_inline struct counting *counted_exit(__u32 tid, __u32 id, __u64 sp)
{
	struct counting *c = bpf_map_lookup_elem(&counting, &tid);

	if (!c || config.count_period <= 1)
		return c;
	forget_below(c, sp);
	if (!c->depth || c->sp[counted_slot(c->depth - 1)] != sp ||
	    c->id[counted_slot(c->depth - 1)] != id)
		return NULL;
	c->depth--;
	return c;
}

static __always_inline __u32 count_events(struct wire_counted *r, __u32 kind, __u32 tid, __u32 id,
					  __u64 sp, bool occasion)
{
	struct counting *c = kind == WIRE_ENTRY ? counted_entry(tid, id, sp, occasion)
						: counted_exit(tid, id, sp);
	bool counted = c && count_up(c);

	for (__u32 i = 0; i < WIRE_COUNTERS_MAX; i++)
		if (i < config.n_perf_counters)
			r->values[i] = counted ? c->sum[i] : 0;
	return counted ? WIRE_COUNTED : 0;
}

/*
 * The counts never decrease, so their sum tells whether any has changed (a migration needs a
 * switch). The sum is one word per CPU, so a program that interrupts this one can overwrite it, but
 * not leave half of it. If the thread's counts changed on another CPU in between, the sum differs,
 * too.
 */
static __always_inline __u32 count_task(struct wire_totals *t, struct wire_counted *r, __u32 tid)
{
	struct task_struct___counted *task = config.plain_loads ? (void *)bpf_get_current_task_btf()
								: (void *)bpf_get_current_task();
	__u64 sum = ((__u64)tid << 40) + TASK_FIELD(task, min_flt) + TASK_FIELD(task, maj_flt) +
		    TASK_FIELD(task, nvcsw) + TASK_FIELD(task, nivcsw);
	__u64 written = config.count_writes ? sectors_written(tid) : 0;

	sum += written;
	if (config.count_reads)
		sum += sectors_read(task);
	if (sum == t->counters_told)
		return 0;
	t->counters_told = sum;
	for (__u32 i = 0; i < WIRE_COUNTERS_MAX; i++)
		if (i >= config.n_perf_counters && i < config.n_counters)
			r->values[i] = task_counter(task, config.task_counters[i], written);
	return WIRE_TASK_COUNTED;
}

/*
 * Reads the values for this entry or exit. Returns which of them are present, as bits of the
 * record's kind.
 */
static __always_inline __u32 counters_count_call(struct wire_totals *t, struct wire_counted *r,
						 __u32 kind, __u32 tid, __u32 id, __u64 sp,
						 bool occasion)
{
	__u32 counted = 0;

	if (config.n_perf_counters)
		counted |= count_events(r, kind, tid, id, sp, occasion);
	if (config.n_counters > config.n_perf_counters)
		counted |= count_task(t, r, tid);
	return counted;
}

static __always_inline bool counts_at_switches(const struct counting *c)
{
	return config.count_period <= 1 || c->depth;
}

/*
 * A thread of the target leaves the CPU, though it is still the current one, and another one gets
 * it.
 */
static __always_inline void count_switch(__u32 prev, __u32 next)
{
	struct counting *c = prev ? bpf_map_lookup_elem(&counting, &prev) : NULL;

	if (c && c->on_cpu) {
		if (counts_at_switches(c))
			count_up(c);
		c->on_cpu = false;
	}
	c = next ? bpf_map_lookup_elem(&counting, &next) : NULL;
	if (c && counts_at_switches(c))
		count_up(c);
}

static __always_inline void count_no_more(__u32 tid)
{
	bpf_map_delete_elem(&counting, &tid);
}

#endif
