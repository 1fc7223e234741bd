/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records call stacks of threads that leave the CPU to wait. The innermost functions are most often
 * those of a library, compiled without frame pointers. So a stack that is met for the first time is
 * copied, the recorder unwinds the copy by the tables, and reports how far above the stack pointer
 * each return address lies: with the same addresses before it, the next one lies at the same
 * distance. Stacks that are met again are walked by these steps and get the number of the first.
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

/*
 * The stacks that were walked last, by thread, instruction and stack pointer, with the places of
 * the return addresses in them. A walk looks up every return address in a map. Reading the words at
 * known places is less work, and if the words are the same, the stack is. If two stacks share a
 * slot of the table, the later one overwrites the other.
 */
#define WALKED_RETURNS 4   /* of traced functions; stacks with more are always walked */
#define WALKED_WAYS    2   /* different stacks of a thread with the same instruction and depth */
#define WALKED_STEPS   16  /* return addresses behind these are not compared */
#define WALKED_WORDS   256 /* of the stack, which are read at once; a power of two */
#define WALKED_BYTES   (WALKED_WORDS * sizeof(__u64))
struct walked {
	__u64 tag;   /* 0: none */
	__u64 words; /* hash of the words at these places */
	__u32 n;
	__u32 at[WALKED_STEPS];
	__u32 bytes; /* of the stack, which contain the places */
	int stack;
	bool is_far; /* some are in bytes that are not read at once */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_WALKED_MAX);
	__type(key, __u32);
	__type(value, struct walked);
} walked SEC(".maps");

/* Only the scheduler's program uses this, and nothing interrupts it on its CPU. */
struct wait_room {
	struct copy_budget budget;
	struct pt_regs regs;
	struct walked walked;
	__u64 words[WALKED_WORDS]; /* of the stack */
	struct wire_copy w;
	__u64 spare;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wait_room);
} wait_rooms SEC(".maps");

/*
 * Returns the key of a stack, or 0 if it has none. The trampoline may replace return addresses, so
 * the original addresses are part of the key.
 */
static __always_inline __u64 walked_tag(const struct pt_regs *regs, __u32 tid)
{
	__u64 tag = wire_step_key(wire_step_key(tid, regs->sp), INSTRUCTION(regs));
	struct task_struct *task = (void *)bpf_get_current_task();
	struct return_instance *i = READ_VIA(task_struct, task, utask, return_instances);

	for (int n = 0; n < WALKED_RETURNS && i; n++) {
		tag = wire_step_key(tag, BPF_CORE_READ(i, orig_ret_vaddr));
		i = BPF_CORE_READ(i, next);
	}
	if (i)
		return 0;
	tag = wire_step_key(tag, LINK_REGISTER(regs));
	return (tag ^ tag >> 32) | 1;
}

static __always_inline struct walked *walked_of(__u64 tag, __u32 way)
{
	__u32 at = ((tag >> 40) * WALKED_WAYS + way) & (WIRE_WALKED_MAX - 1);

	return bpf_map_lookup_elem(&walked, &at);
}

static __always_inline void store_walked(struct walked *new, __u64 tag, int stack)
{
	struct walked *w = walked_of(tag, 0);

	if (w && w->tag == tag && w->words != new->words)
		w = walked_of(tag, 1);
	if (!w || (w->tag == tag && w->words == new->words))
		return;
	w->tag = 0;
	new->tag = 0;
	new->stack = stack;
	__builtin_memcpy(w, new, sizeof(*w));
	w->tag = tag;
}

static __always_inline bool has_words_far(const struct pt_regs *regs, const struct walked *w)
{
	__u64 words = 0, word;

	for (__u32 i = 0; i < WALKED_STEPS && i < w->n; i++) {
		if (bpf_probe_read_user(&word, sizeof(word), (void *)(regs->sp + w->at[i])))
			return false;
		words = wire_step_key(words, word);
	}
	return words == w->words;
}

/* Reads the stack at once: every read takes as long as some hundred bytes of it. */
static __always_inline bool has_words_of(struct wait_room *room, const struct walked *w)
{
	__u32 bytes = w->bytes & (WALKED_BYTES - 1);
	__u64 words = 0;

	if (w->is_far)
		return has_words_far(&room->regs, w);
	if (bpf_probe_read_user(room->words, bytes, (void *)room->regs.sp))
		return false;
	for (__u32 i = 0; i < WALKED_STEPS && i < w->n; i++)
		words = wire_step_key(words,
				      room->words[w->at[i] / sizeof(__u64) & (WALKED_WORDS - 1)]);
	return words == w->words;
}

/* Whether every return address of the stack is compared. */
static __always_inline bool is_compared_whole(const struct walked *w)
{
	return w->n < WALKED_STEPS;
}

/*
 * Returns the number of the stack, or WIRE_NO_STACK if it is none of those walked last at this
 * place. surely: where a part of the stack is not compared, it is none of them.
 */
static __always_inline int stack_walked(struct wait_room *room, __u64 tag, bool surely)
{
	for (__u32 way = 0; way < WALKED_WAYS; way++) {
		struct walked *w = walked_of(tag, way);

		if (w && w->tag == tag && (!surely || is_compared_whole(w)) &&
		    has_words_of(room, w))
			return w->stack;
	}
	return WIRE_NO_STACK;
}

/* Notes the place of a return address, at that distance above the stack pointer. */
static __always_inline void keep_step(struct walked *w, __u32 at, __u64 address)
{
	__u32 n = w->n;

	if (n >= WALKED_STEPS)
		return;
	w->at[n] = at;
	w->n = n + 1;
	w->words = wire_step_key(w->words, address);
	if (at % sizeof(__u64) || at + sizeof(__u64) >= WALKED_BYTES)
		w->is_far = true;
	else if (at + sizeof(__u64) > w->bytes)
		w->bytes = at + sizeof(__u64);
}

/* Returns the number of a stack, or WIRE_NO_STACK if it is unknown. */
static __always_inline int known_stack(const struct pt_regs *regs, __u32 tgid, struct walked *w)
{
	__u64 key = wire_step_key(tgid, INSTRUCTION(regs)), address;
	struct wire_step *step;
	struct returns r;

	find_returns(&r, regs->sp);
	w->n = w->bytes = 0;
	w->words = 0;
	w->is_far = false;
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
		else
			keep_step(w, step->next, address);
		key = wire_step_key(key, original(&r, address));
	}
	return WIRE_NO_STACK;
}

/*
 * Whether the thread is in the trap of a probe: the kernel has not yet returned to the probed
 * instruction, or behind it.
 */
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
 * Copies the stack of a wait, and wakes the reader, so that it learns this stack before many others
 * are copied.
 */
static __always_inline bool copy_wait(struct wire_totals *t, struct wait_room *room,
				      const struct wire_head *h)
{
	__u64 size;

	if (control.steps_full || !may_copy(&room->budget, h->time_ns,
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

static __always_inline struct wait_room *wait_room_of(struct task_struct *task)
{
	__u32 zero = 0;
	struct wait_room *room = bpf_map_lookup_elem(&wait_rooms, &zero);

	if (!room || READ(task_struct, task, flags) & KERNEL_THREAD ||
	    !read_user_registers(task, &room->regs))
		return NULL;
	return room;
}

/*
 * Returns the number of the stack of the thread that is about to sleep; WIRE_NO_STACK if a copy of
 * the stack precedes the record, or if the stack is not walked and unknown; -EEXIST if there is no
 * room for it.
 */
static __always_inline int wait_stack(struct wire_totals *t, struct wait_room *room,
				      const struct wire_head *h, bool walks)
{
	__u64 tag;
	int stack;

	if (has_foreign_stack(&room->regs))
		return WIRE_NO_STACK;
	tag = walked_tag(&room->regs, h->tid);
	stack = tag ? stack_walked(room, tag, walks) : WIRE_NO_STACK;
	if (stack != WIRE_NO_STACK || !walks)
		return stack;
	stack = known_stack(&room->regs, h->tgid, &room->walked);
	if (stack != WIRE_NO_STACK) {
		if (tag)
			store_walked(&room->walked, tag, stack);
		return stack;
	}
	return copy_wait(t, room, h) ? WIRE_NO_STACK : -EEXIST;
}

#endif
