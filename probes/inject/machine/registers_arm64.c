// SPDX-License-Identifier: GPL-3.0-or-later
#ifdef __aarch64__
#include "probes/inject/machine/registers.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#define GETPID 172

/* As struct user_pt_regs, and the thread's register behind it. */
enum { NUMBER = 8, SP = 31, PC = 32, STATE = 33, N_GENERAL = 34, THREAD = 34 };

/* In a stop at a system call the kernel has in x7 whether it is the entry or the exit. */
enum { DIRECTION = 7, AT_EXIT = 1 };

/* The bits of the state that say of which kind the latest branch was. In guarded memory the
 * processor checks the kind at the instruction to which the branch leads. */
#define BRANCH_TYPE (3ull << 10)

static int transfer(pid_t tid, int request, int set, uint64_t *words, size_t n)
{
	struct iovec v = { words, n * sizeof(*words) };

	return ptrace(request, tid, set, &v) ? -errno : 0;
}

int registers_read(pid_t tid, struct registers *r)
{
	const int ret = transfer(tid, PTRACE_GETREGSET, NT_PRSTATUS, r->words, N_GENERAL);

	return ret ? ret : transfer(tid, PTRACE_GETREGSET, NT_ARM_TLS, &r->words[THREAD], 1);
}

int registers_write(pid_t tid, const struct registers *r)
{
	struct registers copy = *r;

	return transfer(tid, PTRACE_SETREGSET, NT_PRSTATUS, copy.words, N_GENERAL);
}

uint64_t registers_ip(const struct registers *r)
{
	return r->words[PC];
}

uint64_t registers_sp(const struct registers *r)
{
	return r->words[SP];
}

/* The head of the set of vector registers, struct user_sve_header. */
struct vectors {
	uint32_t size, max_size;
	uint16_t length, max_length, flags, reserved;
};

#define STACK_ALIGNMENT 16
#define LONG_VECTORS	1 /* the thread uses more than 128 bits of them now */

bool registers_can_go(pid_t tid, const struct registers *r)
{
	struct vectors head = { 0 };
	struct iovec v = { &head, sizeof(head) };

	if (r->words[SP] % STACK_ALIGNMENT)
		return false;
	return ptrace(PTRACE_GETREGSET, tid, NT_ARM_SVE, &v) || !(head.flags & LONG_VECTORS);
}

/*
 * The kernel has set the registers to repeat the call before the thread stopped. A sleep that gives
 * the kernel no place for the rest of its time begins anew.
 */
void registers_restart(struct registers *r)
{
	(void)r;
}

void registers_go_to(struct registers *r, uint64_t ip)
{
	r->words[PC] = ip;
	r->words[STATE] &= ~BRANCH_TYPE;
}

bool registers_at_mark(const struct registers *r, uint64_t tag, int64_t *value)
{
	if (r->words[NUMBER] != GETPID || r->words[1] != tag || r->words[DIRECTION] != AT_EXIT)
		return false;
	*value = (int64_t)r->words[2];
	return true;
}

uint64_t registers_thread(const struct registers *r)
{
	return r->words[THREAD];
}

bool registers_lead_to_blocks(void)
{
	return false;
}

bool registers_block(const struct registers *r, uint64_t *block)
{
	(void)r;
	*block = 0;
	return true;
}

void registers_set_block(struct registers *r, uint64_t block, uint64_t thread_if_none)
{
	(void)r, (void)block, (void)thread_if_none;
}

#endif
