/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call stacks of threads that leave the CPU to wait. What they wait in is a library's, and that was
 * compiled without frame pointers more often than not. So a stack that is met for the first time is
 * copied, the recorder unwinds it by the tables, and tells where each return address lay above the
 * stack pointer: from the same addresses it is as far to the next. Stacks met again are walked by
 * these steps and have the number of the first.
 */
#ifndef ISPOT_PROBES_BPF_STEPS_H
#define ISPOT_PROBES_BPF_STEPS_H

#include <linux/errno.h>
#include "common.h"
#include "stacks.h"
#include "wait.h"

#if defined(__TARGET_ARCH_x86)
#define TRAP 0xcc
#else
#define TRAP 0xd42000a0 /* BRK64_OPCODE_UPROBES */
#endif

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_STEPS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct wire_step);
} steps SEC(".maps");

/* Only the scheduler's program uses it, which nothing on its CPU interrupts. */
struct wait_room {
	struct copy_budget budget;
	struct pt_regs regs;
	struct wire_copy w;
	__u64 spare;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wait_room);
} wait_rooms SEC(".maps");

/* The number of a stack, WIRE_NO_STACK where it is not known. */
static __always_inline int known_stack(const struct pt_regs *regs, __u32 tgid)
{
	__u64 key = wire_step_key(tgid, INSTRUCTION(regs)), address;
	struct wire_step *step;
	struct returns r;

	find_returns(&r, regs->sp);
	for (int i = 0; i < WIRE_FRAMES_MAX; i++) {
		step = bpf_map_lookup_elem(&steps, &key);
		if (!step)
			return WIRE_NO_STACK;
		if (step->next == WIRE_STEP_END)
			return step->stack;
		if (step->next == WIRE_STEP_LINK)
			address = LINK_REGISTER(regs);
		else if (bpf_probe_read_user(&address, sizeof(address),
					     (void *)(regs->sp + step->next)))
			return WIRE_NO_STACK;
		key = wire_step_key(key, original(&r, address));
	}
	return WIRE_NO_STACK;
}

/* Before the kernel goes back to the probe's instruction, or behind that. */
static __always_inline bool is_trapped(const struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	unsigned char code[2];

	return !bpf_probe_read_user(code, sizeof(code), (void *)(regs->ip - 1)) &&
	       (code[0] == TRAP || code[1] == TRAP);
#else
	__u32 code;

	return !bpf_probe_read_user(&code, sizeof(code), (void *)regs->pc) && code == TRAP;
#endif
}

/*
 * Copies the stack of a wait. The reader is woken, so that few others are copied before this one is
 * known.
 */
static __always_inline bool copy_wait(struct wire_totals *t, struct wait_room *room,
				      const struct wire_head *h)
{
	__u64 size;

	if (control.steps_full || !may_take(&room->budget, h->time_ns,
					    sizeof(room->w) - WIRE_COPY_MAX + config.copy_bytes))
		return false;
	set_head_at(&room->w.h, WIRE_WAIT_COPY, h->tid, h->tgid, h->time_ns);
	copy_registers(&room->regs, room->w.registers);
	room->w.trapped = is_trapped(&room->regs);
	copy_returns(&room->w, room->regs.sp);
	copy_stack(&room->w, room->regs.sp);
	size = sizeof(room->w) - WIRE_COPY_MAX + (room->w.n_bytes & (2 * WIRE_COPY_MAX - 1));
	if (size > sizeof(room->w) + sizeof(room->spare))
		return false;
	t->since_wakeup = config.wakeup_bytes;
	emit_more(t, &room->w, size);
	return true;
}

/*
 * Returns the stack's number of the thread that is about to sleep; WIRE_NO_STACK where a copy of it
 * comes first; -EEXIST where there is no room for it.
 */
static __always_inline int wait_stack(struct wire_totals *t, const struct wire_head *h)
{
	__u32 zero = 0;
	struct wait_room *room = bpf_map_lookup_elem(&wait_rooms, &zero);
	struct task_struct *task = (void *)bpf_get_current_task();
	int stack;

	if (!room || BPF_CORE_READ(task, flags) & KERNEL_THREAD ||
	    !read_user_registers(task, &room->regs))
		return WIRE_NO_STACK;
	stack = known_stack(&room->regs, h->tgid);
	if (stack != WIRE_NO_STACK)
		return stack;
	return copy_wait(t, room, h) ? WIRE_NO_STACK : -EEXIST;
}

#endif
