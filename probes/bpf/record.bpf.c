/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The programs of a recording. Those on the dynamic uprobe events write entries and exits; their
 * type is kprobe, which PERF_EVENT_IOC_SET_BPF requires. Those on tracepoints of the scheduler
 * write which threads left and got the CPU, who woke whom, and the births and ends of threads. All
 * write into one ring per CPU, so the records of a CPU are in order.
 *
 * The return value 0 keeps the dynamic event itself from recording anything.
 */
#include "common.h"
#include "arguments.h"
#include "operands.h"
#include "counters.h"
#include "cycles.h"
#include "occasion.h"
#include "sampling.h"
#include "sched.h"
#include "stacks.h"
#include "life.h"
#include "disk.h"
#include "sample.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_COUNTS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

/*
 * Returns the tag of the point that fired, from the `id` that its registration has as an immediate
 * argument: its id and the values that it records, above them its kind (wire.h). Fields are loaded
 * directly if the kernel allows it: five reads through the helper take 165 ns.
 */
static __always_inline __u64 point_tag(void)
{
	struct uprobe_dispatch_data *hit;
	struct probe_arg *arg;

	if (config.plain_loads) {
		struct task_struct *task = bpf_get_current_task_btf();

		hit = CAST(uprobe_dispatch_data, task->utask->vaddr);
		/* args[] is a flexible array behind the struct, so it needs a cast of its own */
		arg = CAST(probe_arg, &CAST(trace_uprobe, hit->tu)->tp.args[0]);
		return CAST(fetch_insn, arg->code)->immediate;
	}
	hit = (void *)BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), utask, vaddr);
	return BPF_CORE_READ(hit, tu, tp.args[0].code, immediate);
}

/* The kind of point that a probe sits on. The two probes of a function are two events. */
enum point_of { OF_FUNCTION, OF_RET_SITE, OF_MARKER, OF_SESSION };

static __always_inline enum sample_taken sampled(__u32 kind, __u64 pid_tgid, __u32 id, __u64 sp,
						 enum point_of of)
{
	if (of != OF_MARKER && kind == WIRE_ENTRY)
		return sample_entry(pid_tgid, pid_tgid >> 32, id, sp, of == OF_SESSION);
	if (of != OF_MARKER)
		return sample_exit(pid_tgid, id, sp) ? TAKEN : TAKEN_NOT;
	if (kind == WIRE_ENTRY)
		return sample_begin(pid_tgid, pid_tgid >> 32, id, sp) ? TAKEN : TAKEN_NOT;
	return sample_end(pid_tgid, id) ? TAKEN : TAKEN_NOT;
}

static __always_inline bool wants_occasion(__u32 values)
{
	return values & WIRE_ARGS_OCCASIONAL || (config.n_perf_counters && config.count_period > 1);
}

static __always_inline __u32 call_bytes(__u32 kind, __u32 counted)
{
	if (counted)
		return sizeof(struct wire_call) +
		       (config.n_counters + config.stamp_cycles) * sizeof(__u64);
	if (config.stamp_cycles)
		return sizeof(struct wire_call) + sizeof(__u64);
	return kind == WIRE_EXIT ? WIRE_EXIT_BYTES : sizeof(struct wire_call);
}

/*
 * Reads both clocks in the same order at both ends of a call, so that neither makes the call look
 * longer.
 */
static __always_inline void stamp(struct wire_counted *r, __u64 *cycles)
{
	r->call.h.time_ns = bpf_ktime_get_ns();
	if (config.stamp_cycles)
		*cycles = cycles_now();
}

static __always_inline void write_cycles(struct wire_counted *r, __u32 counted, __u64 cycles)
{
	if (config.stamp_cycles && counted)
		r->values[config.n_counters] = cycles;
	else if (config.stamp_cycles)
		r->values[0] = cycles;
}

/*
 * Writes the record of an entry or exit, and returns whether this call is recorded. Exits take
 * their time first, entries last, so that the time of the program itself is not included.
 */
static __always_inline bool emit(struct pt_regs *ctx, __u32 kind, __u64 sp, enum point_of of,
				 __u32 tag)
{
	const bool marker = of == OF_MARKER;

	struct wire_counted r;
	struct wire_totals *t;
	__u64 pid_tgid, cycles = 0;
	__u32 id, values, counted = 0;
	bool occasion = false;
	enum sample_taken taken = TAKEN;

	keep_thread_stack(ctx, of == OF_SESSION ? &no_sessions : &no_programs);
	if (!control.recording || control.muted)
		return false;
	if (kind == WIRE_EXIT)
		stamp(&r, &cycles);
	pid_tgid = bpf_get_current_pid_tgid();
	id = tag & WIRE_ID_MASK;
	if (config.period > 1 && id < WIRE_SELFCOST_FIRST)
		taken = sampled(kind, pid_tgid, id, sp, of);
	if (taken == TAKEN_NOT)
		return false;
	t = my_totals();
	if (!t)
		return false;
	COUNT(t->calls);
	r.call.h.head = kind << WIRE_ID_BITS | id;
	r.call.h.tid = pid_tgid;
	r.call.h.tgid = pid_tgid >> 32;
	r.call.sp = sp;
	r.call.caller = kind == WIRE_EXIT || marker ? 0 : stack_caller_of(ctx);
	if (kind == WIRE_ENTRY && !marker)
		note_stack(ctx, &r.call);
	values = tag >> WIRE_ID_BITS;
	if (kind == WIRE_ENTRY && wants_occasion(marker ? 0 : values))
		occasion = is_occasion(id);
	if (values && marker)
		wire_put_operands(t, ctx, &r.call, values);
	else if (values && kind == WIRE_EXIT)
		wire_put_return(t, ctx, &r.call);
	else if (values && (occasion || !(values & WIRE_ARGS_OCCASIONAL)))
		wire_put_arguments(t, ctx, &r.call, values & ~WIRE_ARGS_OCCASIONAL);
	if (config.n_counters)
		counted = counters_count_call(t, &r, kind, pid_tgid, id, marker ? 0 : sp, occasion);
	r.call.h.head |= counted << WIRE_ID_BITS;
	if (taken == TAKEN_INNER)
		r.call.h.head |= WIRE_INNER << WIRE_ID_BITS;
	if (kind == WIRE_ENTRY)
		stamp(&r, &cycles);
	write_cycles(&r, counted, cycles);
	if (config.slow_stack_ns && !marker)
		note_lasting(ctx, &r.call, kind, of != OF_RET_SITE);
	if (wire_put(t, &r, call_bytes(kind, counted))) {
		note_refused(t, r.call.h.time_ns);
		COUNT(t->calls_lost);
		t->counters_told = 0;
	}
	return true;
}

/*
 * All points at instructions. At a `ret` or tail jump the stack pointer has the value that it had
 * at the entry. The begin and the end of a marker may be at any depth of the stack.
 */
SEC("kprobe")
int on_point(struct pt_regs *ctx)
{
	__u64 tag = point_tag();

	switch (tag >> WIRE_POINT_BITS) {
	case WIRE_POINT_ENTRY:
		emit(ctx, WIRE_ENTRY, ctx->sp, OF_FUNCTION, tag);
		break;
	case WIRE_POINT_EXIT:
		emit(ctx, WIRE_EXIT, ctx->sp, OF_RET_SITE, tag);
		break;
	case WIRE_POINT_BEGIN:
		emit(ctx, WIRE_ENTRY, ctx->sp, OF_MARKER, tag);
		break;
	case WIRE_POINT_END:
		emit(ctx, WIRE_EXIT, ctx->sp, OF_MARKER, tag);
		break;
	}
	return 0;
}

SEC("kprobe")
int on_return(struct pt_regs *ctx)
{
	emit(ctx, WIRE_EXIT, ctx->sp - RETURN_POPPED, OF_FUNCTION, point_tag());
	return 0;
}

/*
 * Both probes of a function as one uprobe session (usession.h). Returning 1 at the entry tells the
 * kernel that the return is not wanted. The cookie has the entry's tag in its lower half and the
 * return's above it. Only at the entry is the instruction the probe's own address.
 * (bpf_session_is_return() tells this, too, but its arguments differ between kernels, and libbpf
 * then refuses the whole object.)
 */
SEC("kprobe")
int on_session(struct pt_regs *ctx)
{
	__u64 tags = bpf_get_attach_cookie(ctx);

	if (INSTRUCTION(ctx) == bpf_get_func_ip(ctx))
		return !emit(ctx, WIRE_ENTRY, ctx->sp, OF_SESSION, tags);
	emit(ctx, WIRE_EXIT, ctx->sp - RETURN_POPPED, OF_SESSION, tags >> 32);
	return 0;
}

/* Counts how often a function is called, for the hybrid selection. */
SEC("kprobe")
int on_count(struct pt_regs *ctx)
{
	__u32 id = (__u32)point_tag() - control.count_first_id;
	__u64 *count;

	keep_thread_stack(ctx, &no_programs);
	count = bpf_map_lookup_elem(&counts, &id);
	if (count)
		++*count;
	return 0;
}
