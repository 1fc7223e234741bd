/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The few kernel types that the programs use, with only the members that they read. CO-RE finds
 * these by name in the running kernel's BTF, so one object serves every kernel. A type that changed
 * between kernels has a second form with a ___suffix, which CO-RE ignores.
 */
#ifndef ISPOT_PROBES_BPF_KERNEL_H
#define ISPOT_PROBES_BPF_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>

#define __core __attribute__((preserve_access_index))

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	unsigned int flags;
} __core;

struct super_block {
	unsigned long s_magic;
} __core;

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
} __core;

struct file {
	struct inode *f_inode;
} __core;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} __core;

struct files_struct {
	struct fdtable *fdt;
} __core;

struct sched_entity {
	unsigned long long nr_migrations;
	unsigned long long sum_exec_runtime, prev_sum_exec_runtime;
} __core;

struct task_struct {
	int pid, tgid;
	int prio;
	struct sched_entity se;
	unsigned int __state;
	unsigned int flags;
	unsigned in_iowait : 1;
	void *stack;
	unsigned long long start_time;
	struct mm_struct *mm;
	struct files_struct *files;
	struct signal_struct *signal;
	struct uprobe_task *utask;
	int *clear_child_tid; /* address in the program's memory */
} __core;

struct task_struct___before_5_14 {
	long state;
} __core;

struct linux_binprm {
	const char *filename;
} __core;

/*
 * A return address that a return probe has replaced by the trampoline, which is at the start of the
 * xol_area of the process.
 */
struct return_instance {
	unsigned long stack; /* stack pointer at the entry */
	unsigned long orig_ret_vaddr;
	bool chained; /* the next instance has the same place */
	struct return_instance *next;
} __core;

struct xol_area {
	unsigned long vaddr;
} __core;

struct uprobes_state {
	struct xol_area *xol_area;
} __core;

struct mm_struct {
	struct uprobes_state uprobes_state;
} __core;

/* kernel/trace/trace_uprobe.c: the way from a hit to its point. */
struct uprobe_task {
	unsigned long vaddr;
	struct return_instance *return_instances;
} __core;

struct fetch_insn {
	unsigned long immediate;
} __core;

struct probe_arg {
	struct fetch_insn *code;
} __core;

struct trace_probe {
	struct probe_arg args[1];
} __core;

struct trace_uprobe {
	struct trace_probe tp;
} __core;

struct uprobe_dispatch_data {
	struct trace_uprobe *tu;
} __core;

/* The registers at a hit are the program's context. Their layout is ABI, so they need no CO-RE. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip,
		cs, flags, sp, ss;
};
#define RETURN_POPPED 8 /* a return probe runs after `ret` popped the return address */
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	unsigned long regs[31], sp, pc, pstate;
};
#define RETURN_POPPED 0
/*
 * The registers that a system call saves come first in a struct that has more than a uprobe's
 * context.
 */
struct pt_regs___saved {
	unsigned long orig_x0;
	int syscallno;
} __core;
#else
#error "define __TARGET_ARCH_x86 or __TARGET_ARCH_arm64"
#endif

#endif
