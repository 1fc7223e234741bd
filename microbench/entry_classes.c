// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Empty functions that differ in how they begin, which decides what a probe on them costs. The
 * time of a call is printed beside its count, so that running with and without probes gives the
 * cost of one:
 *
 *	calls entry_push 100003 921.4
 */
#include "common.h"

/* What the functions read: like a mutex that is not of the plain kind. */
struct object {
	int words[8];
};

typedef void entry_fn(const struct object *object);

#define ENTRY(name, body)                                                        \
	__asm__(".pushsection .text\n.balign 64\n.globl " #name "\n.type " #name \
		", %function\n" #name ":\n" body "\n.size " #name ", . - " #name \
		"\n.popsection\n");                                              \
	entry_fn name

#if defined(__x86_64__)
ENTRY(entry_nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n ret");
ENTRY(entry_push, "push %rbp\n pop %rbp\n ret");
ENTRY(entry_endbr, "endbr64\n push %rbp\n pop %rbp\n ret");
ENTRY(entry_jcc, "mov 16(%rdi), %eax\n mov %eax, %edx\n and $0x7c, %edx\n jne 1f\n ret\n 1: ret");
ENTRY(entry_step, "lea (%rdi), %rax\n ret");
#elif defined(__aarch64__)
ENTRY(entry_nop5, "nop\n ret");
ENTRY(entry_push, "stp x29, x30, [sp, #-16]!\n ldp x29, x30, [sp], #16\n ret");
ENTRY(entry_endbr, "hint #34\n stp x29, x30, [sp, #-16]!\n ldp x29, x30, [sp], #16\n ret");
ENTRY(entry_jcc, "ldr w1, [x0, #16]\n and w1, w1, #0x7c\n cbnz w1, 1f\n ret\n 1: ret");
ENTRY(entry_step, "mov x1, x0\n ret");
#else
#error "add the entries of this machine"
#endif

static const struct {
	const char *name;
	entry_fn *call;
} entries[] = {
	{ "entry_nop5", entry_nop5 }, { "entry_push", entry_push }, { "entry_endbr", entry_endbr },
	{ "entry_jcc", entry_jcc },   { "entry_step", entry_step },
};
#define N_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static const char *only = "";
static uint64_t spent_ns[N_ENTRIES][WORKERS_MAX];

static bool is_wanted(size_t entry)
{
	return !*only || !strcmp(only, entries[entry].name);
}

static void run(struct worker *w)
{
	const struct object object = { { 0 } };

	for (size_t e = 0; e < N_ENTRIES; e++) {
		uint64_t begin = now_ns();

		if (!is_wanted(e))
			continue;
		for (uint64_t i = 0; i < w->calls; i++)
			entries[e].call(&object);
		spent_ns[e][w->index] = now_ns() - begin;
	}
}

static void print_entry(const struct bench_options *o, size_t e)
{
	uint64_t sum_ns = 0;

	for (uint64_t i = 0; i < o->threads; i++)
		sum_ns += spent_ns[e][i];
	printf("calls %s %" PRIu64 " %.1f\n", entries[e].name, o->iterations,
	       o->iterations ? (double)sum_ns / (double)o->iterations : 0);
	expect_calls(entries[e].name, o->iterations);
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "only", "NAME",
		  "one of entry_nop5, entry_push, entry_endbr, entry_jcc, entry_step (all)", NULL,
		  &only },
		{ 0 }
	};
	struct bench_options o = { .name = "entry_classes",
				   .what = "Empty functions of every probe class.",
				   .threads = 1,
				   .iterations = 100003,
				   .seed = 1,
				   .extras = extras };
	struct timespec cpu;
	bool any = false;

	bench_parse(&o, argc, argv);
	for (size_t e = 0; e < N_ENTRIES; e++)
		any |= is_wanted(e);
	if (!any) {
		fprintf(stderr, "%s: no entry '%s'; see --help\n", o.name, only);
		return 2;
	}
	workers_run(&o, run);
	for (size_t e = 0; e < N_ENTRIES; e++)
		if (is_wanted(e))
			print_entry(&o, e);
	/* what other programs on the machine disturb least */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("cpu_ns %lld\n", (long long)cpu.tv_sec * 1000000000 + cpu.tv_nsec);
	return 0;
}
