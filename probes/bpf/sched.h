/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs on the scheduler's tracepoints: who left and got the CPU, who woke whom. */
#ifndef ISPOT_PROBES_BPF_SCHED_H
#define ISPOT_PROBES_BPF_SCHED_H

#include "common.h"
#include "counters.h"
#include "wait.h"
#include "steps.h"

/* User stacks by frame pointer, as far as the target has frame pointers. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, WIRE_STACKS_MAX);
	__type(key, __u32);
	__uint(value_size, WIRE_FRAMES_MAX * sizeof(__u64));
} stacks SEC(".maps");

#define FAIR_PRIORITIES 100 /* MAX_RT_PRIO: real-time classes have lower ones */

#define STATE_SLEEPING 1 /* TASK_INTERRUPTIBLE */
#define STATE_BLOCKED  2 /* TASK_UNINTERRUPTIBLE */

static __always_inline __u32 task_state(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return READ(task_struct, task, __state);
	return BPF_CORE_READ(old, state);
}

/* Returns an enum switch_state: 0 preempted or yielded, 1 sleeping, 2 blocked, 3 other. */
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

struct thread_ids {
	__u32 tid, tgid;
};

static __always_inline struct thread_ids ids_of(__u64 address)
{
	struct task_struct *task = (void *)address;

	if (config.plain_loads) {
		task = CAST(task_struct, task);
		return (struct thread_ids){ task->pid, task->tgid };
	}
	return (struct thread_ids){ BPF_CORE_READ(task, pid), BPF_CORE_READ(task, tgid) };
}

/* Returns the time at which this run began, or 0 if the run is not one of those that are timed. */
static __always_inline __u64 timed_from(__u64 runs)
{
	return runs % WIRE_TIMED ? 0 : bpf_ktime_get_ns();
}

/*
 * Adds the time of this run, unless it is the idle task's: the kernel counts the time of a switch
 * for the task that gets the CPU, and nobody waits for a CPU that would be idle.
 */
static __always_inline void timed_until_now(struct wire_totals *t, __u64 from_ns, __u32 of_tid)
{
	if (from_ns && of_tid)
		t->scheduling_ns += (bpf_ktime_get_ns() - from_ns) * WIRE_TIMED;
}

/*
 * Whether to walk the stack of a wait, which is half of the cost of its record. If a CPU switches
 * very often, one wait in some is enough. But the threads of a pool park right after their birth,
 * all at once and for good, so young threads are always walked.
 */
static __always_inline bool walks_stack(struct wire_totals *t, struct task_struct *task,
					__u64 now_ns)
{
	if (thread_is_over(t->stacks_since_ns, now_ns, WIRE_BLOCK_STACKS_NS)) {
		t->stacks_since_ns = now_ns;
		t->stacks = 0;
	}
	t->stacks++;
	return t->stacks <= WIRE_BLOCK_STACKS || t->stacks % WIRE_BLOCK_STACK_IN == 0 ||
	       now_ns - READ(task_struct, task, start_time) < WIRE_BLOCK_STACKS_NS;
}

static __always_inline int stack_of_wait(struct bpf_raw_tracepoint_args *ctx, struct wire_totals *t,
					 struct wait_room *room, const struct wire_head *h)
{
	bool walks = walks_stack(t, (void *)ctx->args[1], h->time_ns);

	if (config.wait_copies)
		return room ? wait_stack(t, room, h, walks) : WIRE_NO_STACK;
	return walks ? bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK) : WIRE_NO_STACK;
}

/*
 * Returns how often the task has left a CPU, if records are to tell that: whoever slept while
 * switches had no records has the same count afterwards, if it slept all the time.
 */
static __always_inline __u32 switches_of(__u64 task)
{
	struct task_struct___counted *counted = (void *)task;

	if (!control.count_switches)
		return 0;
	return READ(task_struct___counted, counted, nvcsw) +
	       READ(task_struct___counted, counted, nivcsw);
}

static __always_inline void write_switch(struct bpf_raw_tracepoint_args *ctx, struct wire_totals *t,
					 struct thread_ids prev, struct thread_ids next,
					 __u32 flags, __u64 now_ns)
{
	struct wire_sleep w;
	struct wire_switch *r = &w.s;
	struct task_struct *task = (void *)ctx->args[1];
	struct wait_room *room;

	set_head_at(&r->h, WIRE_SWITCH, prev.tid, prev.tgid, now_ns);
	r->state = switch_state(ctx);
	r->next_tid = next.tid;
	r->next_tgid = next.tgid;
	r->flags = flags;
	r->stack = WIRE_NO_STACK;
	r->prev_count = switches_of(ctx->args[1]);
	r->next_count = switches_of(ctx->args[2]);
	if (!(flags & WIRE_PREV) || (r->state != 1 && r->state != 2)) {
		if (flags & WIRE_PREV && !r->state && yields(task))
			r->state = 4;
		emit_more(t, r, sizeof(*r));
		return;
	}
	/* The tracepoint runs while prev is still current, so its stack and files are at hand. */
	r->flags |= WIRE_WAIT;
	room = wait_room_of(task);
	if (config.block_stacks)
		r->stack = stack_of_wait(ctx, t, room, &r->h);
	describe_wait(&w, task, room ? &room->regs : NULL);
	emit_more(t, &w, sizeof(w));
}

/*
 * Adds the time that prev had the CPU to its process, or, if the process has ended meanwhile, to
 * the sum of ended processes.
 */
static __always_inline void account(struct wire_totals *t, __u64 *prev_ran, bool next_is_target,
				    __u64 now_ns)
{
	if (t->in_ns > control.since_ns) {
		__sync_fetch_and_add(prev_ran ? prev_ran : &t->ended_ns, now_ns - t->in_ns);
	}
	t->in_ns = next_is_target ? now_ns : 0;
}

/*
 * Notes which task gets the CPU. Returns true if prev got the CPU without a switch being reported.
 */
static __always_inline bool follow_cpu(struct wire_totals *t, __u64 prev, __u64 next)
{
	bool untold = t->on_of_ns == control.since_ns && t->on_task != prev;

	t->on_task = next;
	t->on_of_ns = control.since_ns;
	return untold;
}

static __always_inline void lose_switch(struct wire_totals *t, __u64 now_ns)
{
	note_refused(t, now_ns);
	COUNT(t->others);
	COUNT(t->others_lost);
}

/*
 * Some kernels do not report switches away from certain kernel threads. The account of the thread
 * that then got the CPU tells how long it has run since; real-time classes keep no such account.
 */
static __always_inline void write_missing(struct bpf_raw_tracepoint_args *ctx,
					  struct wire_totals *t, struct thread_ids prev,
					  __u32 flags, __u64 now_ns)
{
	struct task_struct *task = (void *)ctx->args[1];
	struct wire_task r;

	if (t->on_is_target)
		lose_switch(t, now_ns);
	if (!(flags & WIRE_PREV))
		return;
	if (BPF_CORE_READ(task, prio) < FAIR_PRIORITIES) {
		lose_switch(t, now_ns);
		return;
	}
	t->in_ns = now_ns - (BPF_CORE_READ(task, se.sum_exec_runtime) -
			     BPF_CORE_READ(task, se.prev_sum_exec_runtime));
	set_head_at(&r.h, WIRE_UNTOLD_IN, prev.tid, prev.tgid, t->in_ns);
	r.other_tid = r.other_tgid = 0;
	emit_more(t, &r, sizeof(r));
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct wire_totals *t = my_totals();
	struct thread_ids prev, next;
	__u64 from_ns, now_ns, *ran;
	__u32 flags = 0;
	bool untold, off = control.switches_off; /* before the time is taken (govern.c) */

	if (!control.recording || !t)
		return 0;
	from_ns = timed_from(t->switches + 1);
	prev = ids_of(ctx->args[1]);
	next = ids_of(ctx->args[2]);
	ran = prev.tgid ? ran_of(prev.tgid) : NULL;
	if (ran)
		flags |= WIRE_PREV;
	if (next.tgid && (next.tgid == prev.tgid ? !!flags : is_target(next.tgid)))
		flags |= WIRE_NEXT;
	untold = follow_cpu(t, ctx->args[1], ctx->args[2]);
	if (!flags && !t->in_ns && !t->on_is_target)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (untold && !off)
		write_missing(ctx, t, prev, flags, now_ns);
	t->on_is_target = flags & WIRE_NEXT;
	account(t, ran, flags & WIRE_NEXT, now_ns);
	if (!flags)
		return 0;
	t->switches++;
	if (config.n_perf_counters)
		count_switch(flags & WIRE_PREV ? prev.tid : 0, flags & WIRE_NEXT ? next.tid : 0);
	if (off)
		t->unrecorded += flags & WIRE_PREV;
	else
		write_switch(ctx, t, prev, next, flags, now_ns);
	timed_until_now(t, from_ns, next.tid);
	return 0;
}

/*
 * Counts the interrupt handlers, softirqs and timers that run on this CPU: a wakeup from one of
 * them is due to the device or the timer, not to the thread that was interrupted. The recorder
 * attaches the programs for leaving first, so that a missed entry cannot leave a count behind.
 */
struct interrupts {
	__u32 timers, others;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interrupts);
} interrupts SEC(".maps");

#define SOFTIRQ_TIMER 1

static __always_inline struct interrupts *my_interrupts(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&interrupts, &zero);
}

static __always_inline int enter_interrupt(bool timer)
{
	struct interrupts *in = my_interrupts();

	if (in)
		++*(timer ? &in->timers : &in->others);
	return 0;
}

static __always_inline int leave_interrupt(bool timer)
{
	struct interrupts *in = my_interrupts();
	__u32 *depth;

	if (!in)
		return 0;
	depth = timer ? &in->timers : &in->others;
	if (*depth)
		--*depth;
	return 0;
}

SEC("raw_tp/irq_handler_entry")
int on_irq(void *ctx)
{
	return enter_interrupt(false);
}

SEC("raw_tp/irq_handler_exit")
int on_irq_end(void *ctx)
{
	return leave_interrupt(false);
}

SEC("raw_tp/softirq_entry")
int on_softirq(struct bpf_raw_tracepoint_args *ctx)
{
	return enter_interrupt(ctx->args[0] == SOFTIRQ_TIMER);
}

SEC("raw_tp/softirq_exit")
int on_softirq_end(struct bpf_raw_tracepoint_args *ctx)
{
	return leave_interrupt(ctx->args[0] == SOFTIRQ_TIMER);
}

SEC("raw_tp/hrtimer_expire_entry")
int on_timer(void *ctx)
{
	return enter_interrupt(true);
}

SEC("raw_tp/hrtimer_expire_exit")
int on_timer_end(void *ctx)
{
	return leave_interrupt(true);
}

#define GROUP_EXIT     4 /* SIGNAL_GROUP_EXIT */
#define NO_THREAD(how) ((__u64)(how) << 32)

/*
 * Returns the waker as bpf_get_current_pid_tgid() does, or NO_THREAD if no thread caused the
 * wakeup.
 */
static __always_inline __u64 waker_id(struct task_struct *woken)
{
	struct interrupts *in = my_interrupts();

	if (in && in->timers)
		return NO_THREAD(WAKING_BY_TIMER);
	if (in && in->others)
		return NO_THREAD(WAKING_BY_INTERRUPT);
	if (READ_VIA(task_struct, woken, signal, flags) & GROUP_EXIT)
		return NO_THREAD(WAKING_BY_END);
	return bpf_get_current_pid_tgid();
}

SEC("raw_tp/sched_waking")
int on_waking(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *woken = (void *)ctx->args[0];
	struct wire_totals *t = my_totals();
	bool off = control.switches_off; /* before the time is taken */
	struct thread_ids ids;
	struct wire_waking r;
	__u64 waker, from_ns;

	if (!control.recording || !t)
		return 0;
	from_ns = timed_from(t->wakings + 1);
	ids = ids_of(ctx->args[0]);
	if (!is_target(ids.tgid))
		return 0;
	t->wakings++;
	if (off) {
		t->unrecorded_wakings++;
	} else {
		waker = waker_id(woken);
		set_head(&r.task.h, WIRE_WAKING, waker, waker >> 32);
		r.task.other_tid = ids.tid;
		r.task.other_tgid = ids.tgid;
		r.count = switches_of(ctx->args[0]);
		emit_more(t, &r, sizeof(r));
	}
	timed_until_now(t, from_ns, (__u32)bpf_get_current_pid_tgid());
	return 0;
}

#endif
