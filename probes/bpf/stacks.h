/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records where calls come from: the return address of each call, and the call stack of the first
 * call from every return address, of every N-th call of each function, and of each call that lasted
 * long.
 *
 * While a function with a return probe runs, the kernel's trampoline replaces its return address;
 * the original is in the task's list of return instances, innermost first. At an entry the function
 * has not built its frame yet, so the frame pointer is its caller's.
 */
#ifndef ISPOT_PROBES_BPF_STACKS_H
#define ISPOT_PROBES_BPF_STACKS_H

#include "common.h"

/* Hashes of the (function, return address) pairs whose stack was recorded; 0: free. */
#define SEEN_PROBES 8
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_SITES_MAX);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

/* Number of calls of a function on this CPU since its last recorded stack. */
#define TURNS_MAX 4096
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TURNS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} turns SEC(".maps");

struct copy_budget {
	__u64 window_ns;
	__u32 taken_bytes; /* of the ring, in this window */
};

/*
 * A buffer too large for a program's stack. Uprobe programs may preempt each other, so a program
 * that finds the buffer busy does not record a stack.
 */
struct stack_room {
	struct copy_budget budget;
	__u32 busy;
	struct wire_stack w;
	__u64 spare[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_room);
} stack_rooms SEC(".maps");

struct copy_room {
	struct wire_copy w;
	__u64 spare;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copy_room);
} copy_rooms SEC(".maps");

#define STACK_WINDOW_NS 100000000ull
#define FRAME_MAX	(16ull << 20) /* bytes; a larger distance means that there is no frame */

#if defined(__TARGET_ARCH_x86)
#define FRAME_POINTER(ctx)  ((ctx)->bp)
#define INSTRUCTION(ctx)    ((ctx)->ip)
#define LINK_REGISTER(ctx)  0 /* there is none */
#define CODE_ADDRESS(a)	    (a)
#define TRAMPOLINE_OF(t, a) (a)
#else
#define FRAME_POINTER(ctx)  ((ctx)->regs[29])
#define INSTRUCTION(ctx)    ((ctx)->pc)
#define LINK_REGISTER(ctx)  ((ctx)->regs[30])
#define CODE_ADDRESS(a)	    ((a)&WIRE_SIGNED_ADDRESS)
#define TRAMPOLINE_OF(t, a) ((a)&WIRE_SIGNED_TRAMPOLINE(t))
#endif

/* The return addresses that trampolines on the stack replaced, innermost first. */
struct returns {
	__u64 trampoline; /* 0: there is none on this stack */
	struct return_instance *next;
};

/* The bounds are small, as the verifier follows every iteration at every frame. */
#define TAIL_CALLS_MAX 4  /* one traced function by another */
#define LEFT_MAX       16 /* frames that a longjmp has left */

static __always_inline void skip_left(struct returns *r, __u64 sp)
{
	struct return_instance *i = r->next;

	for (int n = 0; n < LEFT_MAX && i && BPF_CORE_READ(i, stack) < sp; n++)
		i = BPF_CORE_READ(i, next);
	r->next = i;
}

static __always_inline void find_returns(struct returns *r, __u64 sp)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	r->trampoline = 0;
	r->next = BPF_CORE_READ(task, utask, return_instances);
	if (!r->next)
		return;
	r->trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
	skip_left(r, sp);
}

/*
 * Returns the address to which a return really goes, without a signature, or the trampoline itself
 * if that address is unknown.
 */
static __always_inline __u64 original(struct returns *r, __u64 address)
{
	struct return_instance *i = r->next;
	bool chained = true;
	__u64 was;

	if (!r->trampoline || TRAMPOLINE_OF(r->trampoline, address) != r->trampoline || !i)
		return CODE_ADDRESS(address);
	was = BPF_CORE_READ(i, orig_ret_vaddr);
	/* Tail calls leave several instances of one place on the stack. */
	for (int n = 0; n < TAIL_CALLS_MAX && chained && i; n++) {
		chained = BPF_CORE_READ(i, chained);
		i = BPF_CORE_READ(i, next);
	}
	r->next = i;
	return was;
}

static __always_inline __u64 return_address(struct pt_regs *ctx)
{
	__u64 address = 0;

#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_user(&address, sizeof(address), (void *)ctx->sp);
#else
	address = ctx->regs[30];
#endif
	return address;
}

/*
 * Looks for the original only if the address is at the start of a page, as the trampoline is; few
 * other return addresses are.
 */
static __always_inline __u64 stack_caller_of(struct pt_regs *ctx)
{
	__u64 address = return_address(ctx);
	struct returns r;

	if (address & 0xfff)
		return address;
	find_returns(&r, ctx->sp);
	return original(&r, address);
}

/* Returns the slot for the hash of a new pair, or NULL if the pair was seen or there is no room. */
static __always_inline __u64 *unseen(__u64 tag)
{
	for (int i = 0; i < SEEN_PROBES; i++) {
		__u32 at = ((tag >> 32) + i) & (WIRE_SITES_MAX - 1);
		__u64 *slot = bpf_map_lookup_elem(&seen, &at);

		if (!slot || *slot == tag)
			return NULL;
		if (!*slot)
			return slot;
	}
	return NULL;
}

static __always_inline __u64 site_tag(__u32 id, __u64 caller)
{
	__u64 tag = (caller ^ (__u64)id << 40) * 0x9e3779b97f4a7c15ull;

	return (tag ^ tag >> 29) | 1;
}

static __always_inline bool is_turn(__u32 id)
{
	__u32 at = id & (TURNS_MAX - 1), *n = bpf_map_lookup_elem(&turns, &at);

	if (!n || ++*n < config.stack_period)
		return false;
	*n = 0;
	return true;
}

static __always_inline bool may_copy(struct copy_budget *b, __u64 now, __u32 bytes)
{
	if (thread_is_over(b->window_ns, now, STACK_WINDOW_NS)) {
		b->window_ns = now;
		b->taken_bytes = 0;
	}
	if (b->taken_bytes + bytes > config.stack_budget)
		return false;
	b->taken_bytes += bytes;
	return true;
}

/*
 * A call whose stack is recorded, with the values at its beginning: the stack is restored to these.
 */
struct stack_of {
	__u64 ip, sp, caller;
	bool at_exit;
	bool returned; /* the return address is popped, and the kernel's instance is gone */
};

static __always_inline void walk_frames(struct pt_regs *ctx, struct wire_stack *w,
					const struct stack_of *of)
{
	__u64 frame[2], fp = FRAME_POINTER(ctx), below = ctx->sp;
	struct returns r;
	__u32 n = 2;

	find_returns(&r, ctx->sp);
	w->frames[0] = of->ip;
	w->frames[1] = of->caller;
	if (!of->returned)
		original(&r, return_address(ctx));
	for (int i = 2; i < WIRE_FRAMES_MAX; i++) {
		if (fp < below || fp - below > FRAME_MAX || fp & 7 ||
		    bpf_probe_read_user(frame, sizeof(frame), (void *)fp) || !frame[1])
			break;
		w->frames[i] = original(&r, frame[1]);
		n++;
		below = fp + 16;
		fp = frame[0];
	}
	w->n_frames = n;
}

/* Copies the registers in the order of perf's numbers. */
static __always_inline void copy_registers(struct pt_regs *ctx, unsigned long long *r)
{
#if defined(__TARGET_ARCH_x86)
	r[0] = ctx->ax, r[1] = ctx->bx, r[2] = ctx->cx, r[3] = ctx->dx, r[4] = ctx->si;
	r[5] = ctx->di, r[6] = ctx->bp, r[7] = ctx->sp, r[8] = ctx->ip, r[9] = ctx->r8;
	r[10] = ctx->r9, r[11] = ctx->r10, r[12] = ctx->r11, r[13] = ctx->r12;
	r[14] = ctx->r13, r[15] = ctx->r14, r[16] = ctx->r15;
#else
	/* the verifier accepts loads from the context at constant offsets only */
#pragma clang loop unroll(full)
	for (int i = 0; i < 31; i++)
		r[i] = ctx->regs[i];
	r[31] = ctx->sp;
	r[32] = ctx->pc;
#endif
}

/*
 * Restores the registers as they were at the entry, and replaces the trampoline by the return
 * address.
 */
static __always_inline void restore_entry(struct wire_copy *w, const struct stack_of *of)
{
#if defined(__TARGET_ARCH_x86)
	w->registers[7] = of->sp;
	w->registers[8] = of->ip;
	if (of->returned)
		*(__u64 *)w->stack = of->caller;
#else
	w->registers[30] = of->caller;
	w->registers[31] = of->sp;
	w->registers[32] = of->ip;
#endif
}

static __always_inline void copy_returns(struct wire_copy *w, __u64 sp)
{
	struct return_instance *i;
	struct returns r;
	__u32 n = 0;

	find_returns(&r, sp);
	w->trampoline = r.trampoline;
	i = r.next;
	for (int k = 0; k < WIRE_RETURNS_MAX && i; k++) {
		w->returns[k].stack = BPF_CORE_READ(i, stack);
		w->returns[k].address = BPF_CORE_READ(i, orig_ret_vaddr);
		i = BPF_CORE_READ(i, next);
		n++;
	}
	w->n_returns = n;
}

/* Copies the stack in steps until a read fails: above the stack there may be nothing. */
#define COPY_STEP 1024
static __always_inline void copy_stack(struct wire_copy *w, __u64 sp)
{
	__u32 n = 0;

	for (int i = 0; i < WIRE_COPY_MAX / COPY_STEP && n < config.copy_bytes; i++) {
		if (bpf_probe_read_user(w->stack + i * COPY_STEP, COPY_STEP,
					(void *)(sp + i * COPY_STEP)))
			break;
		n += COPY_STEP;
	}
	w->n_bytes = n;
}

static __always_inline void set_stack_head(struct wire_head *h, const struct wire_call *call,
					   __u32 kind, bool at_exit, __u64 now)
{
	h->head = kind << WIRE_ID_BITS | (call->h.head & WIRE_ID_MASK);
	h->time_ns = at_exit ? call->h.time_ns : now;
	h->tid = call->h.tid;
	h->tgid = call->h.tgid;
}

static __always_inline bool write_copy(struct pt_regs *ctx, const struct wire_call *call,
				       const struct stack_of *of, struct stack_room *guard)
{
	__u32 zero = 0;
	struct copy_room *room = bpf_map_lookup_elem(&copy_rooms, &zero);
	__u64 now = bpf_ktime_get_ns(), size;

	if (!room || guard->busy ||
	    !may_copy(&guard->budget, now, sizeof(room->w) - WIRE_COPY_MAX + config.copy_bytes))
		return false;
	guard->busy = 1;
	set_stack_head(&room->w.h, call, WIRE_COPY, of->at_exit, now);
	copy_registers(ctx, room->w.registers);
	copy_returns(&room->w, ctx->sp);
	copy_stack(&room->w, of->sp);
	if (of->at_exit)
		restore_entry(&room->w, of);
	size = sizeof(room->w) - WIRE_COPY_MAX + (room->w.n_bytes & (2 * WIRE_COPY_MAX - 1));
	if (size <= sizeof(*room))
		emit_other(ctx, &room->w, size);
	guard->busy = 0;
	return true;
}

static __always_inline bool write_stack(struct pt_regs *ctx, const struct wire_call *call,
					const struct stack_of *of)
{
	__u32 zero = 0;
	struct stack_room *room = bpf_map_lookup_elem(&stack_rooms, &zero);
	__u64 now = bpf_ktime_get_ns(), size;

	if (room && config.copy_bytes)
		return write_copy(ctx, call, of, room);
	if (!room || room->busy || !may_copy(&room->budget, now, sizeof(room->w)))
		return false;
	room->busy = 1;
	set_stack_head(&room->w.h, call, WIRE_STACK, of->at_exit, now);
	walk_frames(ctx, &room->w, of);
	size = sizeof(room->w) - sizeof(room->w.frames) +
	       (room->w.n_frames & (WIRE_FRAMES_MAX * 2 - 1)) * sizeof(__u64);
	if (size <= sizeof(room->w) + sizeof(room->spare))
		emit_other(ctx, &room->w, size);
	room->busy = 0;
	return true;
}

/* Runs before the record of an entry, so that the call's own time does not include it. */
static __always_inline void note_stack(struct pt_regs *ctx, const struct wire_call *call)
{
	struct stack_of of = { .ip = INSTRUCTION(ctx), .sp = ctx->sp, .caller = call->caller };
	__u32 id = call->h.head & WIRE_ID_MASK;
	__u64 tag, *slot;
	bool turn;

	if (!config.stack_period)
		return;
	tag = site_tag(id, call->caller);
	slot = unseen(tag);
	turn = is_turn(id);
	if ((slot || turn) && id < WIRE_SELFCOST_FIRST && write_stack(ctx, call, &of) && slot)
		*slot = tag;
}

/* ---- calls that lasted long, at their exit ---- */

/* Another call with the same slot overwrites this one, whose stack is then not recorded. */
struct open_call {
	__u64 tag; /* hash of thread, function and stack pointer; 0: none */
	__u64 time_ns, ip;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_OPEN_MAX);
	__type(key, __u32);
	__type(value, struct open_call);
} open_calls SEC(".maps");

static __always_inline __u64 open_tag(const struct wire_call *call)
{
	__u64 tag =
		call->sp ^ (__u64)call->h.tid << 40 ^ (__u64)(call->h.head & WIRE_ID_MASK) << 17;

	tag *= 0x9e3779b97f4a7c15ull;
	return (tag ^ tag >> 32) | 1;
}

static __always_inline struct open_call *open_call_of(__u64 tag)
{
	__u32 at = tag >> 40 & (WIRE_OPEN_MAX - 1);

	return bpf_map_lookup_elem(&open_calls, &at);
}

static __always_inline void note_open(struct pt_regs *ctx, const struct wire_call *call)
{
	__u64 tag = open_tag(call);
	struct open_call *open = open_call_of(tag);

	if (!open)
		return;
	open->time_ns = call->h.time_ns;
	open->ip = INSTRUCTION(ctx);
	open->tag = tag;
}

/* Runs before the record of an exit is written, but after its time was taken. */
static __always_inline void note_slow(struct pt_regs *ctx, const struct wire_call *call,
				      bool returned)
{
	struct stack_of of = { .sp = call->sp, .at_exit = true, .returned = returned };
	__u64 tag = open_tag(call);
	struct open_call *open = open_call_of(tag);

	if (!open || open->tag != tag || (call->h.head & WIRE_ID_MASK) >= WIRE_SELFCOST_FIRST)
		return;
	open->tag = 0;
	if (call->h.time_ns - open->time_ns < config.slow_stack_ns)
		return;
	of.ip = open->ip;
	of.caller = returned ? INSTRUCTION(ctx) : stack_caller_of(ctx);
	write_stack(ctx, call, &of);
}

static __always_inline void note_lasting(struct pt_regs *ctx, const struct wire_call *call,
					 __u32 kind, bool returned)
{
	if (kind == WIRE_ENTRY)
		note_open(ctx, call);
	else
		note_slow(ctx, call, returned);
}

#endif
