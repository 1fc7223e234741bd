/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds what a thread waits for when it leaves the CPU to sleep. Its user registers, at the top of
 * its kernel stack, hold the system call and the arguments; without a system call the thread is in
 * a page fault. No further tracepoint is needed. If the kind depends on a file, the inode tells
 * whether it is a socket, a pipe or on a disk.
 */
#ifndef ISPOT_PROBES_BPF_WAIT_H
#define ISPOT_PROBES_BPF_WAIT_H

#include "common.h"
#include "trace/waiting.h"

#define KERNEL_THREAD  0x00200010 /* PF_KTHREAD, PF_IO_WORKER: they have no user registers */
#define MODE_FORMAT    0170000
#define MODE_SOCKET    0140000
#define MODE_REGULAR   0100000
#define MODE_BLOCK     0060000
#define MODE_DIRECTORY 0040000
#define MODE_FIFO      0010000
#define MAGIC_ANON     0x09041934 /* eventfd, timerfd, epoll: files that are on no disk */

/* The system call of a thread. number < 0: none; UNKNOWN_CALL: a call of a foreign convention. */
#define UNKNOWN_CALL 0x7fffffff
struct user_call {
	int number;
	unsigned long args[4];
};

static __always_inline bool is_in_iowait(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
}

static __always_inline void *saved_registers(struct task_struct *task, __u32 bytes)
{
	if (config.task_regs)
		return (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return (char *)BPF_CORE_READ(task, stack) + config.stack_bytes - bytes;
}

/* Reads what the thread had in its registers in the program. Returns false for a kernel thread. */
#if defined(__TARGET_ARCH_x86)
#define USER32_CS 0x23
static __always_inline bool read_user_registers(struct task_struct *task, struct pt_regs *regs)
{
	return !bpf_probe_read_kernel(regs, sizeof(*regs), saved_registers(task, sizeof(*regs))) &&
	       regs->cs & 3;
}

static __always_inline bool has_foreign_stack(const struct pt_regs *regs)
{
	(void)regs;
	return false;
}

static __always_inline void get_call(struct task_struct *task, const struct pt_regs *regs,
				     struct user_call *call)
{
	(void)task;
	call->number = regs->cs == USER32_CS ? UNKNOWN_CALL : (int)regs->orig_ax;
	call->args[0] = regs->di;
	call->args[1] = regs->si;
	call->args[2] = regs->dx;
	call->args[3] = regs->r10;
}
#else
#define PSR_MODE32 0x10
static __always_inline void *saved_by_call(struct task_struct *task)
{
	return saved_registers(task, bpf_core_type_size(struct pt_regs___saved));
}

static __always_inline bool read_user_registers(struct task_struct *task, struct pt_regs *regs)
{
	return !bpf_probe_read_kernel(regs, sizeof(*regs), saved_by_call(task));
}

static __always_inline bool has_foreign_stack(const struct pt_regs *regs)
{
	return regs->pstate & PSR_MODE32;
}

static __always_inline void get_call(struct task_struct *task, const struct pt_regs *regs,
				     struct user_call *call)
{
	struct pt_regs___saved *saved = saved_by_call(task);

	call->number = has_foreign_stack(regs) ? UNKNOWN_CALL : BPF_CORE_READ(saved, syscallno);
	call->args[0] = BPF_CORE_READ(saved, orig_x0);
	call->args[1] = regs->regs[1];
	call->args[2] = regs->regs[2];
	call->args[3] = regs->regs[3];
}
#endif

/*
 * Returns the number of the system call that the thread is in, or less than 0 if it is in none. Of
 * the registers, only those are read that tell it.
 */
#if defined(__TARGET_ARCH_x86)
struct call_registers {
	unsigned long orig_ax, ip, cs;
};

static __always_inline int call_of(struct task_struct *task)
{
	struct pt_regs *saved = saved_registers(task, sizeof(*saved));
	struct call_registers regs;

	if (bpf_probe_read_kernel(&regs, sizeof(regs), &saved->orig_ax) || !(regs.cs & 3) ||
	    regs.cs == USER32_CS)
		return -1;
	return (int)regs.orig_ax;
}
#else
static __always_inline int call_of(struct task_struct *task)
{
	struct pt_regs___saved *saved = saved_by_call(task);

	return BPF_CORE_READ(saved, syscallno);
}
#endif

static __always_inline struct fdtable *files_of(struct task_struct *task)
{
	return READ_VIA(task_struct, task, files, fdt);
}

static __always_inline struct inode *inode_of(struct task_struct *task, __u32 fd)
{
	struct fdtable *table = files_of(task);
	struct file **slots, *file = NULL;

	if (fd >= READ(fdtable, table, max_fds))
		return NULL;
	slots = READ(fdtable, table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), slots + fd);
	return READ(file, file, f_inode);
}

static __always_inline __u32 kind_of_file(struct inode *inode)
{
	switch (READ(inode, inode, i_mode) & MODE_FORMAT) {
	case MODE_SOCKET:
		return WAIT_SOCKET;
	case MODE_FIFO:
		return WAIT_PIPE;
	case MODE_REGULAR:
		return READ_VIA(inode, inode, i_sb, s_magic) == MAGIC_ANON ? WAIT_OTHER : WAIT_DISK;
	case MODE_BLOCK:
	case MODE_DIRECTORY:
		return WAIT_DISK;
	default:
		return WAIT_OTHER;
	}
}

static __always_inline void read_file(struct wire_sleep *w, struct task_struct *task, __u32 fd)
{
	struct inode *inode = inode_of(task, fd);

	w->kind = WAIT_OTHER;
	if (!inode)
		return;
	w->kind = kind_of_file(inode);
	w->what = READ(inode, inode, i_ino);
}

static __always_inline void read_futex(struct wire_sleep *w, const struct user_call *call)
{
	w->what = call->args[0];
	w->how |= (__u32)call->args[1] << WAIT_FUTEX_OP_SHIFT;
	w->how |= call->args[3] ? WAIT_TIMEOUT : 0;
	w->value = (__u32)call->args[2];
}

/*
 * The asm keeps the compiler from dropping a mask that it finds needless and that the verifier
 * needs.
 */
static __always_inline __u32 kind_of_call(__u64 number)
{
	asm volatile("" : "+r"(number));
	return config.syscalls[number & (WIRE_SYSCALLS_MAX - 1)];
}

/* Returns whether the thread, which could go on, has given its CPU up itself. */
static __always_inline bool yields(struct task_struct *task)
{
	int number = READ(task_struct, task, flags) & KERNEL_THREAD ? -1 : call_of(task);

	return number >= 0 && number < WIRE_SYSCALLS_MAX &&
	       kind_of_call((__u32)number) == WIRE_YIELDS;
}

static __always_inline void read_user_call(struct wire_sleep *w, struct task_struct *task,
					   const struct user_call *call)
{
	__u32 number = call->number;

	if (call->number < 0) {
		w->kind = WAIT_PAGE_FAULT;
		return;
	}
	w->kind = WAIT_OTHER;
	if (number >= WIRE_SYSCALLS_MAX)
		return;
	w->syscall = number + 1;
	if (kind_of_call(number))
		w->kind = kind_of_call(number);
	if (w->kind == WIRE_WAIT_BY_FILE)
		read_file(w, task, (__u32)call->args[0]);
	else if (w->kind == WAIT_FUTEX)
		read_futex(w, call);
}

/* Runs as the thread that is about to sleep. regs: NULL if it has none. */
static __always_inline void describe_wait(struct wire_sleep *w, struct task_struct *task,
					  const struct pt_regs *regs)
{
	struct user_call call;

	w->kind = w->syscall = w->how = w->value = 0;
	w->what = 0;
	if (!regs)
		return;
	get_call(task, regs, &call);
	if (is_in_iowait(task))
		w->how = WAIT_IOWAIT;
	read_user_call(w, task, &call);
	if (w->how & WAIT_IOWAIT && w->kind == WAIT_OTHER)
		w->kind = WAIT_DISK;
}

#endif
