// SPDX-License-Identifier: GPL-3.0-or-later
#ifdef __x86_64__
#include "probes/inject/machine/registers.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#define RESTART_SYSCALL	      219
#define GETPID		      39
#define ERESTARTSYS	      512
#define ERESTARTNOINTR	      513
#define ERESTARTNOHAND	      514
#define ERESTART_RESTARTBLOCK 516
#define SYSCALL_INSTRUCTION   2 /* bytes of the instruction */

_Static_assert(sizeof(struct user_regs_struct) <= sizeof(struct registers), "there is room");

static struct user_regs_struct *of(struct registers *r)
{
	return (struct user_regs_struct *)r->words;
}

static const struct user_regs_struct *of_const(const struct registers *r)
{
	return (const struct user_regs_struct *)r->words;
}

int registers_read(pid_t tid, struct registers *r)
{
	return ptrace(PTRACE_GETREGS, tid, NULL, r->words) ? -errno : 0;
}

int registers_write(pid_t tid, const struct registers *r)
{
	return ptrace(PTRACE_SETREGS, tid, NULL, r->words) ? -errno : 0;
}

uint64_t registers_ip(const struct registers *r)
{
	return of_const(r)->rip;
}

uint64_t registers_sp(const struct registers *r)
{
	return of_const(r)->rsp;
}

bool registers_can_go(pid_t tid, const struct registers *r)
{
	(void)tid, (void)r;
	return true;
}

void registers_restart(struct registers *r)
{
	struct user_regs_struct *regs = of(r);

	if ((int64_t)regs->orig_rax < 0)
		return;
	switch (-(int64_t)regs->rax) {
	case ERESTARTSYS:
	case ERESTARTNOINTR:
	case ERESTARTNOHAND:
		regs->rax = regs->orig_rax;
		regs->rip -= SYSCALL_INSTRUCTION;
		break;
	case ERESTART_RESTARTBLOCK:
		regs->rax = RESTART_SYSCALL;
		regs->rip -= SYSCALL_INSTRUCTION;
		break;
	}
}

void registers_go_to(struct registers *r, uint64_t ip)
{
	of(r)->rip = ip;
	of(r)->orig_rax = UINT64_MAX;
}

/* Before the call returns, the kernel has -ENOSYS in %rax. */
bool registers_at_mark(const struct registers *r, uint64_t tag, int64_t *value)
{
	const struct user_regs_struct *regs = of_const(r);

	if (regs->orig_rax != GETPID || regs->rsi != tag || (int64_t)regs->rax < 0)
		return false;
	*value = (int64_t)regs->rdi;
	return true;
}

uint64_t registers_thread(const struct registers *r)
{
	return of_const(r)->fs_base;
}

bool registers_lead_to_blocks(void)
{
	return true;
}

bool registers_block(const struct registers *r, uint64_t *block)
{
	*block = of_const(r)->gs_base;
	return !of_const(r)->gs;
}

void registers_set_block(struct registers *r, uint64_t block, uint64_t thread_if_none)
{
	of(r)->gs_base = block;
	if (!of(r)->fs_base)
		of(r)->fs_base = thread_if_none;
}

#endif
