/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The programs of a recording. Those on the dynamic uprobe events (type kprobe: what
 * PERF_EVENT_IOC_SET_BPF takes there) write entries and exits; those on scheduler tracepoints
 * write who left and got the CPU, who woke whom, and the births and deaths of threads. All
 * write into one perf ring per CPU, so a CPU's records are in one order.
 *
 * A return value of 0 keeps the dynamic event itself from recording anything.
 */
#include "kernel.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "wire.h"

char LICENSE[] SEC("license") = "GPL";

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

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_COUNTS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

/* Where threads wait: user stacks by frame pointer, as far as the target has them. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, WIRE_STACKS_MAX);
	__type(key, __u32);
	__uint(value_size, WIRE_FRAMES_MAX * sizeof(__u64));
} stacks SEC(".maps");

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

/*
 * The point that fired, by the `id` that its registration carries as an immediate argument. Plain
 * loads where the kernel allows them: five reads through the helper cost 165 ns.
 */
static __always_inline __u32 point_id(void)
{
	struct uprobe_dispatch_data *hit;
	struct probe_arg *arg;

	if (config.plain_loads) {
		struct task_struct *task = bpf_get_current_task_btf();

		hit = CAST(uprobe_dispatch_data, task->utask->vaddr);
		/* args[] lies behind the end of its struct: a cast of its own. */
		arg = CAST(probe_arg, &CAST(trace_uprobe, hit->tu)->tp.args[0]);
		return CAST(fetch_insn, arg->code)->immediate;
	}
	hit = (void *)BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), utask, vaddr);
	return BPF_CORE_READ(hit, tu, tp.args[0].code, immediate);
}

/* Sampling with period > 1: one row per thread and function, read by the recorder at the end. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 262144);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct wire_sampling_key);
	__type(value, struct wire_sampling);
} sampling SEC(".maps");

static __always_inline struct wire_sampling *sampling_new(struct wire_sampling_key *key, __u32 tgid)
{
	struct wire_sampling first = { .tgid = tgid };

	/* A random phase, so that a program with a period of its own does not alias. */
	first.until_next = bpf_get_prandom_u32() % config.period;
	bpf_map_update_elem(&sampling, key, &first, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sampling, key);
}

/* The compiler may not drop the mask that it finds needless: the verifier wants to see it. */
static __always_inline __u32 slot(__u32 depth)
{
	asm volatile("" : "+r"(depth));
	return depth & (WIRE_DEPTH_MAX - 1);
}

/* Whether this entry is one of those recorded; its stack pointer is remembered for its exit. */
static __always_inline bool sample_entry(__u32 tid, __u32 tgid, __u32 id, __u64 sp)
{
	struct wire_sampling_key key = { tid, id };
	struct wire_sampling *s = bpf_map_lookup_elem(&sampling, &key);

	if (!s)
		s = sampling_new(&key, tgid);
	if (!s)
		return false;
	s->calls++;
	if (s->until_next) {
		s->until_next--;
		return false;
	}
	/* Frames left by an unwinder or a longjmp lie below this one: forget them. */
	for (int i = 0; i < WIRE_DEPTH_MAX && s->depth; i++)
		if (s->sp[slot(s->depth - 1)] < sp)
			s->depth--;
	if (s->depth >= WIRE_DEPTH_MAX)
		return false;
	s->until_next = config.period - 1;
	s->sp[slot(s->depth)] = sp;
	s->depth++;
	s->recorded++;
	return true;
}

/* Whether this is the exit of a recorded entry. */
static __always_inline bool sample_exit(__u32 tid, __u32 id, __u64 sp)
{
	struct wire_sampling_key key = { tid, id };
	struct wire_sampling *s = bpf_map_lookup_elem(&sampling, &key);

	if (!s || !s->depth || s->sp[slot(s->depth - 1)] != sp)
		return false;
	s->depth--;
	return true;
}

/* Exits are stamped before anything else, entries last: the program's own time stays outside. */
static __always_inline int emit_call(void *ctx, __u32 kind, __u64 sp)
{
	struct wire_call call;
	struct wire_totals *t;
	__u64 pid_tgid;
	__u32 id;

	if (!control.recording)
		return 0;
	if (kind == WIRE_EXIT)
		call.h.time_ns = bpf_ktime_get_ns();
	pid_tgid = bpf_get_current_pid_tgid();
	id = point_id() & WIRE_ID_MASK;
	if (config.period > 1 && id < WIRE_SELFCOST_FIRST &&
	    !(kind == WIRE_ENTRY ? sample_entry(pid_tgid, pid_tgid >> 32, id, sp)
				 : sample_exit(pid_tgid, id, sp)))
		return 0;
	t = my_totals();
	if (!t)
		return 0;
	t->calls++;
	call.h.head = kind << WIRE_ID_BITS | id;
	call.h.tid = pid_tgid;
	call.h.tgid = pid_tgid >> 32;
	call.sp = sp;
	if (kind == WIRE_ENTRY)
		call.h.time_ns = bpf_ktime_get_ns();
	if (bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &call, sizeof(call)))
		t->calls_lost++;
	return 0;
}

SEC("kprobe")
int on_entry(struct pt_regs *ctx)
{
	return emit_call(ctx, WIRE_ENTRY, ctx->sp);
}

SEC("kprobe")
int on_return(struct pt_regs *ctx)
{
	return emit_call(ctx, WIRE_EXIT, ctx->sp - RETURN_POPPED);
}

/* At a `ret` or tail jump the stack pointer is the entry's again. */
SEC("kprobe")
int on_ret_site(struct pt_regs *ctx)
{
	return emit_call(ctx, WIRE_EXIT, ctx->sp);
}

/* The hybrid's question before it chooses: how often is this function called? */
SEC("kprobe")
int on_count(struct pt_regs *ctx)
{
	__u32 id = point_id() - control.count_first_id;
	__u64 *count;

	count = bpf_map_lookup_elem(&counts, &id);
	if (count)
		++*count;
	return 0;
}

/* CPU-wide samples: 1 lets the sample into the ring, and only the target's are let in. */
SEC("perf_event")
int on_sample(void *ctx)
{
	return control.sampling && is_target(bpf_get_current_pid_tgid() >> 32);
}

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

#define STATE_SLEEPING 1 /* TASK_INTERRUPTIBLE */
#define STATE_BLOCKED  2 /* TASK_UNINTERRUPTIBLE */

static __always_inline __u32 task_state(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return BPF_CORE_READ(old, state);
}

/* As enum switch_state: 0 preempted, 1 sleeping, 2 blocked, 3 other. */
static __always_inline __u32 switch_state(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 state;

	if (ctx->args[0])
		return 0;
	state = config.switch_has_state ? (__u32)ctx->args[3] : task_state((void *)ctx->args[1]);
	if (!state)
		return 0;
	return state & STATE_SLEEPING ? 1 : state & STATE_BLOCKED ? 2 : 3;
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *prev = (void *)ctx->args[1], *next = (void *)ctx->args[2];
	struct wire_switch r;
	__u32 prev_tgid, next_tgid, flags = 0;

	if (!control.recording)
		return 0;
	prev_tgid = BPF_CORE_READ(prev, tgid);
	next_tgid = BPF_CORE_READ(next, tgid);
	if (prev_tgid && is_target(prev_tgid))
		flags |= WIRE_PREV;
	if (next_tgid && is_target(next_tgid))
		flags |= WIRE_NEXT;
	if (!flags)
		return 0;
	set_head(&r.h, WIRE_SWITCH, BPF_CORE_READ(prev, pid), prev_tgid);
	r.state = switch_state(ctx);
	r.next_tid = BPF_CORE_READ(next, pid);
	r.next_tgid = next_tgid;
	r.flags = flags;
	/* The tracepoint still runs as prev, so the stack is that of the thread that goes to wait.
	 */
	r.stack = -1;
	if (flags & WIRE_PREV && (r.state == 1 || r.state == 2) && config.block_stacks)
		r.stack = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
	emit_other(ctx, &r, sizeof(r));
	return 0;
}

/*
 * How many interrupt handlers, softirqs and timers are running on this CPU: a wakeup from one of
 * them is the device's or the timer's, not the thread's that happens to be interrupted. The
 * recorder attaches the leaving ones first, so that a missed entry cannot leave a count behind.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} interrupts SEC(".maps");

static __always_inline __u32 *my_interrupts(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&interrupts, &zero);
}

static __always_inline int enter_interrupt(void)
{
	__u32 *depth = my_interrupts();

	if (depth)
		++*depth;
	return 0;
}

static __always_inline int leave_interrupt(void)
{
	__u32 *depth = my_interrupts();

	if (depth && *depth)
		--*depth;
	return 0;
}

SEC("raw_tp/irq_handler_entry")
int on_irq(void *ctx)
{
	return enter_interrupt();
}

SEC("raw_tp/irq_handler_exit")
int on_irq_end(void *ctx)
{
	return leave_interrupt();
}

SEC("raw_tp/softirq_entry")
int on_softirq(void *ctx)
{
	return enter_interrupt();
}

SEC("raw_tp/softirq_exit")
int on_softirq_end(void *ctx)
{
	return leave_interrupt();
}

SEC("raw_tp/hrtimer_expire_entry")
int on_timer(void *ctx)
{
	return enter_interrupt();
}

SEC("raw_tp/hrtimer_expire_exit")
int on_timer_end(void *ctx)
{
	return leave_interrupt();
}

static __always_inline __u64 waker_id(void)
{
	__u32 *depth = my_interrupts();

	return depth && *depth ? 0 : bpf_get_current_pid_tgid();
}

SEC("raw_tp/sched_waking")
int on_waking(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *woken = (void *)ctx->args[0];
	__u64 waker = waker_id();
	struct wire_task r;
	__u32 tgid;

	if (!control.recording)
		return 0;
	tgid = BPF_CORE_READ(woken, tgid);
	if (!is_target(tgid))
		return 0;
	set_head(&r.h, WIRE_WAKING, waker, waker >> 32);
	r.other_tid = BPF_CORE_READ(woken, pid);
	r.other_tgid = tgid;
	emit_other(ctx, &r, sizeof(r));
	return 0;
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	__u32 parent_tgid = BPF_CORE_READ(parent, tgid), child_tgid = BPF_CORE_READ(child, tgid);
	struct wire_task r;
	__u32 one = 1;

	if (!is_target(parent_tgid) || (child_tgid != parent_tgid && !config.follow_children))
		return 0;
	if (child_tgid != parent_tgid)
		bpf_map_update_elem(&targets, &child_tgid, &one, BPF_ANY);
	if (!control.recording)
		return 0;
	set_head(&r.h, WIRE_FORK, BPF_CORE_READ(parent, pid), parent_tgid);
	r.other_tid = BPF_CORE_READ(child, pid);
	r.other_tgid = child_tgid;
	emit_other(ctx, &r, sizeof(r));
	return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 tgid = BPF_CORE_READ(task, tgid);
	struct wire_task r;

	if (!is_target(tgid))
		return 0;
	if (control.recording) {
		set_head(&r.h, WIRE_TASK_EXIT, BPF_CORE_READ(task, pid), tgid);
		r.other_tid = r.other_tgid = 0;
		emit_other(ctx, &r, sizeof(r));
	}
	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		bpf_map_delete_elem(&targets, &tgid);
	return 0;
}

SEC("raw_tp/task_rename")
int on_rename(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 tgid = BPF_CORE_READ(task, tgid);
	struct wire_name r;

	if (!control.recording || !is_target(tgid))
		return 0;
	set_head(&r.h, WIRE_COMM, BPF_CORE_READ(task, pid), tgid);
	__builtin_memset(r.name, 0, WIRE_COMM_MAX);
	bpf_probe_read_kernel_str(r.name, WIRE_COMM_MAX, (void *)ctx->args[1]);
	emit_other(ctx, &r, sizeof(r.h) + WIRE_COMM_MAX);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	struct linux_binprm *bprm = (void *)ctx->args[2];
	__u32 tgid = BPF_CORE_READ(task, tgid);
	struct wire_name r;

	if (tgid == control.launched_tgid)
		control.recording = true;
	if (!control.recording || !is_target(tgid))
		return 0;
	set_head(&r.h, WIRE_EXEC, BPF_CORE_READ(task, pid), tgid);
	__builtin_memset(r.name, 0, WIRE_PATH_MAX);
	bpf_probe_read_kernel_str(r.name, WIRE_PATH_MAX, BPF_CORE_READ(bprm, filename));
	emit_other(ctx, &r, sizeof(r));
	return 0;
}
