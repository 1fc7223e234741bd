// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a call costs whose return need not be seen: kernels from 6.13 have uprobe sessions, whose
 * program says at the entry whether the return is wanted, so that an unsampled call takes one trap
 * instead of two. Prints ns per call of an empty function, whose programs do nothing but draw a
 * number, for each way to hang them on:
 *
 *	alone      no probe
 *	entry      an entry probe alone: the least there can be
 *	both       entry and return probes on every call, as `record -c` has them
 *	session    a session that wants the return of one call in 100
 *
 * Nothing of it is ispot's: libbpf 1.1 does not know these links, hence the raw system calls.
 * x86-64 only. tests/bench/session.sh builds and runs it.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRACE_UPROBE_MULTI   48
#define TRACE_UPROBE_SESSION 57
#define MULTI_RETURN	     1
#define ROUNDS		     5

/* linux/bpf.h of the distribution ends before these members. */
struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t n, multi_flags, pid, unused;
	uint8_t rest[64];
};

void hot_nop5(void);
void hot_push(void);
__asm__(".text\n.globl hot_nop5, hot_push\n.balign 16\n"
	"hot_nop5: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\nret\n.balign 16\n"
	"hot_push: push %rbp\npop %rbp\nret\n");

static int load(uint32_t attach_type)
{
	/* r0 = random % 100; 1 unless it is 0: of a session's entry, do not want the return */
	const struct bpf_insn code[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_prandom_u32 },
		{ .code = BPF_ALU64 | BPF_MOD | BPF_K, .dst_reg = 0, .imm = 100 },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 0, .off = 1, .imm = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { 0 };

	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = attach_type;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.license = (uintptr_t) "GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* The function's offset in this very file. */
static uint64_t offset_of(void (*f)(void))
{
	unsigned long begin, end, offset, found = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
		    (uintptr_t)f >= begin && (uintptr_t)f < end)
			found = (uintptr_t)f - begin + offset;
	if (maps)
		fclose(maps);
	return found;
}

static int attach(int program, uint32_t attach_type, uint32_t flags, void (*f)(void))
{
	uint64_t offset = offset_of(f);
	struct link_create attr = {
		.prog_fd = (uint32_t)program,
		.attach_type = attach_type,
		.path = (uintptr_t) "/proc/self/exe",
		.offsets = (uintptr_t)&offset,
		.n = 1,
		.multi_flags = flags,
		.pid = (uint32_t)getpid(),
	};

	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

static double call_ns(void (*f)(void), unsigned calls)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (unsigned i = 0; i < calls; i++)
		f();
	clock_gettime(CLOCK_MONOTONIC, &b);
	return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / calls;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static const struct way {
	const char *name;
	uint32_t attach_type;
	int n_links; /* entry; entry and return */
} ways[] = {
	{ "alone", TRACE_UPROBE_MULTI, 0 },
	{ "entry", TRACE_UPROBE_MULTI, 1 },
	{ "both", TRACE_UPROBE_MULTI, 2 },
	{ "session", TRACE_UPROBE_SESSION, 1 },
};
#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

static double measure(const struct way *way, void (*f)(void))
{
	int program = way->n_links ? load(way->attach_type) : -1, links[2] = { -1, -1 };
	double ns;

	for (int i = 0; i < way->n_links; i++) {
		links[i] = attach(program, way->attach_type, i ? MULTI_RETURN : 0, f);
		if (program < 0 || links[i] < 0) {
			fprintf(stderr, "%s: %s\n", way->name, strerror(errno));
			exit(1);
		}
	}
	call_ns(f, 1000);
	ns = call_ns(f, way->n_links ? 100000 : 1000000);
	for (int i = 0; i < way->n_links; i++)
		close(links[i]);
	if (program >= 0)
		close(program);
	return ns;
}

/* The ways in turn, so that a busy machine is busy for all of them. */
static void compare(const char *name, void (*f)(void))
{
	double ns[N_WAYS][ROUNDS];

	for (int round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < N_WAYS; i++)
			ns[i][round] = measure(&ways[i], f);
	for (unsigned i = 0; i < N_WAYS; i++) {
		qsort(ns[i], ROUNDS, sizeof(double), by_value);
		printf("%s_%s %.0f\n", name, ways[i].name, ns[i][ROUNDS / 2]);
	}
}

int main(void)
{
	compare("nop5", hot_nop5);
	compare("push", hot_push);
	return 0;
}
