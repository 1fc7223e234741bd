/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records births and ends of threads, and new names and programs. */
#ifndef ISPOT_PROBES_BPF_LIFE_H
#define ISPOT_PROBES_BPF_LIFE_H

#include "common.h"
#include "counters.h"

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	__u32 parent_tgid = BPF_CORE_READ(parent, tgid), child_tgid = BPF_CORE_READ(child, tgid);
	struct wire_totals *t;
	struct wire_fork r;
	__u64 none = 0;

	if (!is_target(parent_tgid) || (child_tgid != parent_tgid && !config.follow_children))
		return 0;
	if (child_tgid != parent_tgid) {
		bpf_map_update_elem(&targets, &child_tgid, &none, BPF_ANY);
		__sync_fetch_and_add(&control.births, 1);
	}
	if (!control.recording)
		return 0;
	set_head(&r.task.h, WIRE_FORK, BPF_CORE_READ(parent, pid), parent_tgid);
	r.task.other_tid = BPF_CORE_READ(child, pid);
	r.task.other_tgid = child_tgid;
	r.word = (__u64)BPF_CORE_READ(child, clear_child_tid);
	t = my_totals();
	if (!t)
		return 0;
	t->births++;
	if (control.hold_children && child_tgid != parent_tgid)
		t->since_wakeup = config.wakeup_bytes; /* wakes the reader, so that it holds the
							  child at once */
	emit_more(t, &r, sizeof(r));
	return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 tgid = BPF_CORE_READ(task, tgid);
	struct wire_totals *t = my_totals();
	__u64 *ran = ran_of(tgid);
	struct wire_task r;

	if (!ran || !t)
		return 0;
	if (control.recording) {
		set_head(&r.h, WIRE_TASK_EXIT, BPF_CORE_READ(task, pid), tgid);
		r.other_tid = r.other_tgid = 0;
		emit_more(t, &r, sizeof(r));
	}
	if (config.n_counters)
		count_no_more(BPF_CORE_READ(task, pid));
	if (BPF_CORE_READ(task, signal, live.counter) == 0) {
		__sync_fetch_and_add(&t->ended_ns, *ran);
		bpf_map_delete_elem(&targets, &tgid);
		__sync_fetch_and_add(&control.births, 1);
	}
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

static __always_inline void start_recording(void)
{
	control.since_ns = bpf_ktime_get_ns();
	control.recording = true;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	struct linux_binprm *bprm = (void *)ctx->args[2];
	__u32 tgid = BPF_CORE_READ(task, tgid);
	struct wire_totals *t = my_totals();
	struct wire_name r;

	if (tgid == control.launched_tgid)
		start_recording();
	if (!control.recording || !t || !is_target(tgid))
		return 0;
	set_head(&r.h, WIRE_EXEC, BPF_CORE_READ(task, pid), tgid);
	__builtin_memset(r.name, 0, WIRE_PATH_MAX);
	bpf_probe_read_kernel_str(r.name, WIRE_PATH_MAX, BPF_CORE_READ(bprm, filename));
	t->since_wakeup = config.wakeup_bytes; /* wakes the reader, so that it looks at the new
						  program at once */
	emit_more(t, &r, sizeof(r));
	return 0;
}

#endif
