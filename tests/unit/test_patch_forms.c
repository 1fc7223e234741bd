/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every form of instruction that the libraries of this machine have, where it stands and relocated:
 * executed with the same registers, flags, stack and memory, both must leave the same. And the
 * lengths that layout_x86.h reads must be those that the disassembler of the other planner reads.
 */
#include "probes/code/decode_x86.h"
#include "unit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/vec.h"
#include "probes/code/decode.h"
#include "probes/patch/layout_x86.h"
#include "probes/patch/plan.h"
#include "probes/patch/targets.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"

#if defined(__x86_64__)

static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",	    "/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libcapstone.so.4",
	"/usr/lib/x86_64-linux-gnu/libzstd.so.1",   "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/postgresql/15/bin/postgres",
};

/* ---- the processor's state ---- */

#define RSP 4

struct cpu {
	uint64_t registers[16];
	uint64_t flags, unused;
	uint8_t vectors[512]; /* as fxsave writes them */
};

#define FLAGS_COMPARED 0xcd5 /* carry, parity, adjust, zero, sign, direction, overflow */

/* What the assembly below names. */
extern struct cpu patch_in, patch_out;
extern uint64_t patch_stack, patch_code;
extern const uint8_t patch_landing[];
void patch_run(void);
struct cpu patch_in __attribute__((aligned(16))), patch_out __attribute__((aligned(16)));
uint64_t patch_stack, patch_code;

#define LOAD(n, r)  "mov patch_in+" #n "*8(%rip), %" #r "\n"
#define STORE(n, r) "mov %" #r ", patch_out+" #n "*8(%rip)\n"
#define REGISTERS(f)                                                                            \
	f(0, rax) f(1, rcx) f(2, rdx) f(3, rbx) f(5, rbp) f(6, rsi) f(7, rdi) f(8, r8) f(9, r9) \
		f(10, r10) f(11, r11) f(12, r12) f(13, r13) f(14, r14) f(15, r15) f(4, rsp)

/* Runs what stands at patch_code from the state patch_in, until it comes to patch_landing. */
__asm__(".text\n.globl patch_run, patch_landing\n"
	"patch_run:\n"
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp, patch_stack(%rip)\n"
	"fxrstor patch_in+144(%rip)\n"
	"pushq patch_in+128(%rip)\npopfq\n" REGISTERS(
		LOAD) "jmp *patch_code(%rip)\n"
		      "patch_landing:\n" REGISTERS(
			      STORE) "mov patch_stack(%rip), %rsp\n"
				     "pushfq\npopq patch_out+128(%rip)\ncld\n"
				     "fxsave patch_out+144(%rip)\nfninit\n"
				     "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n");

/* ---- the memory ---- */

/* Pages of one mapping; those that are not named here cannot be touched. */
enum { CODE = 1, DATA = 3, STACK = 5, STUB = 300, PAGES = 302 };
#define PAGE 4096

static uint8_t *memory;

static uint8_t *page(unsigned n)
{
	return memory + (size_t)n * PAGE;
}

static void open_memory(void)
{
	static const unsigned used[] = { CODE, DATA, STACK, STUB };

	memory = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		assert_int_equal(mprotect(page(used[i]), PAGE,
					  used[i] == CODE || used[i] == STUB
						  ? PROT_READ | PROT_WRITE | PROT_EXEC
						  : PROT_READ | PROT_WRITE),
				 0);
}

/* What is jumped through and returned to leads to the landing. */
static void fill_memory(void)
{
	uint64_t landing = (uint64_t)patch_landing;

	for (unsigned i = 0; i < PAGE; i++)
		page(DATA)[i] = (uint8_t)(i * 37 + i / 256);
	for (unsigned i = 0; i < PAGE; i += 8)
		memcpy(page(STACK) + i, &landing, 8);
	memcpy(page(DATA) + PAGE / 2, &landing, 8);
}

/* What fxrstor leaves as it is, and what the library's functions use between two runs. */
static void clear_vectors(void)
{
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroall");
	if (__builtin_cpu_supports("avx512f"))
		__asm__ volatile(".irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
				 "vpxorq %zmm\\n, %zmm\\n, %zmm\\n\n"
				 ".endr");
	if (__builtin_cpu_supports("avx512bw"))
		__asm__ volatile(".irp n, 0,1,2,3,4,5,6,7\n"
				 "kxorq %k\\n, %k\\n, %k\\n\n"
				 ".endr");
}

static void fill_registers(unsigned round)
{
	const uint32_t all_masked = 0x1f80; /* exceptions of vector instructions, in MXCSR */

	memset(&patch_in, 0, sizeof(patch_in));
	for (unsigned i = 0; i < 16; i++)
		patch_in.registers[i] = round & 1 ? (uint64_t)page(DATA) + PAGE / 2 + 16 * i
						  : 0x1234567 * (i + 1) + round;
	patch_in.registers[RSP] = (uint64_t)page(STACK) + PAGE / 2;
	clear_vectors();
	__asm__ volatile("fninit; fxsave %0" : "=m"(patch_in.vectors));
	memcpy(patch_in.vectors + 24, &all_masked, sizeof(all_masked));
	for (unsigned i = 0; i < 256; i++)
		patch_in.vectors[160 + i] = (uint8_t)(i * 11 + round);
	/* carry, parity, zero, sign, overflow: bits 0, 2, 6, 7, 11 */
	patch_in.flags = 2 | (round >> 1 & 1) | (round >> 2 & 1) << 2 | (round >> 3 & 1) << 6 |
			 (round >> 4 & 1) << 7 | (round >> 5 & 1) << 11;
}

/* ---- running ---- */

static sigjmp_buf back;

static void on_fault(int number)
{
	siglongjmp(back, number);
}

struct outcome {
	int signal;
	uint8_t data[PAGE], stack[PAGE];
	struct cpu cpu;
};

static void run_at(const uint8_t *code, unsigned round, struct outcome *o)
{
	fill_memory();
	fill_registers(round);
	memset(&patch_out, 0, sizeof(patch_out));
	patch_code = (uint64_t)code;
	o->signal = sigsetjmp(back, 1);
	if (!o->signal)
		patch_run();
	memcpy(o->data, page(DATA), PAGE);
	memcpy(o->stack, page(STACK), PAGE);
	o->cpu = patch_out;
	o->cpu.flags &= FLAGS_COMPARED;
	o->cpu.unused = 0;
	memset(o->cpu.vectors, 0, 32);	     /* where the last x87 instruction stood */
	memset(o->cpu.vectors + 416, 0, 96); /* not the processor's */
}

static void catch_faults(bool on)
{
	static uint8_t stack[65536];
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_flags = SA_ONSTACK | SA_NODEFER };

	action.sa_handler = on ? on_fault : SIG_DFL;
	assert_int_equal(sigaltstack(&other, NULL), 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
}

/* jmp *landing */
static void put_way_out(uint8_t *to)
{
	const uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 };
	uint64_t landing = (uint64_t)patch_landing;

	memcpy(to, jump, sizeof(jump));
	memcpy(to + sizeof(jump), &landing, sizeof(landing));
}

#define TAKEN 64 /* how far behind the instruction a branch leads */

/* Where a branch leads: it writes a byte at the end of the data. */
static void put_taken(uint8_t *to)
{
	uint8_t code[] = { 0xc6, 0x05, 0, 0, 0, 0, 1 };
	int32_t distance = (int32_t)(page(DATA) + PAGE - 1 - (to + sizeof(code)));

	memcpy(code + 2, &distance, sizeof(distance));
	memcpy(to, code, sizeof(code));
	put_way_out(to + sizeof(code));
}

static void put_form(uint8_t *to, const uint8_t *form, const struct layout *l)
{
	uint8_t *end = to + l->length;
	int32_t distance = (int32_t)(page(DATA) + PAGE / 2 - end);

	memcpy(to, form, l->length);
	if (l->rip)
		memcpy(to + l->disp_at, &distance, 4);
	distance = TAKEN;
	if (l->relative)
		memcpy(to + l->imm_at, &distance, l->imm_bytes);
	put_way_out(end);
	put_taken(end + TAKEN);
}

static void compare_form(const uint8_t *form, const struct layout *l)
{
	static struct outcome here, moved;
	uint8_t *at = page(CODE) + 1024;
	struct patch_site site = { .n_code = l->length, .n_bytes = l->length };
	struct patch_code code;
	unsigned rounds = l->relative ? 64 : 4;

	put_form(at, form, l);
	memcpy(site.original, at, l->length);
	assert_int_equal(patch_relocate(&site, (uint64_t)at, (uint64_t)page(STUB), 0, 0, &code), 0);
	memcpy(page(STUB), code.bytes, code.n);
	for (unsigned round = 0; round < rounds; round++) {
		run_at(at, round, &here);
		run_at(page(STUB), round, &moved);
		if (!memcmp(&here, &moved, sizeof(here)))
			continue;
		catch_faults(false);
		for (unsigned i = 0; i < l->length; i++)
			print_error("%02x ", form[i]);
		fail_msg("differs in round %u: signal %d, %d", round, here.signal, moved.signal);
	}
}

/* ---- which forms ---- */

/*
 * Of segments, what the processor counts, and what would change this process: there is nothing that
 * depends on the address in any of them.
 */
static bool may_run(const uint8_t *code, const struct layout *l)
{
	for (unsigned i = 0; i < l->opcode_at; i++)
		if (code[i] == 0x64 || code[i] == 0x65)
			return false;
	/* Neither mask registers nor the upper halves of vectors are set here. */
	if (l->map == MAP_VECTOR && *code == 0x62)
		return l->rip && !(code[3] & 7);
	if (l->map == MAP_VECTOR && l->opcode == 0xae)
		return false; /* loads MXCSR */
	if (l->map == MAP_BYTE)
		return l->opcode != 0x8e && l->opcode != 0x9d && l->opcode != 0xf1;
	if (l->map == MAP_0F)
		return !(l->opcode <= 0x09 || (l->opcode >= 0x20 && l->opcode <= 0x27) ||
			 (l->opcode >= 0x30 && l->opcode <= 0x37) || l->opcode == 0xa0 ||
			 l->opcode == 0xa1 || l->opcode == 0xa2 || l->opcode == 0xa8 ||
			 l->opcode == 0xa9 || l->opcode == 0xae || l->opcode == 0xb2 ||
			 l->opcode == 0xb4 || l->opcode == 0xb5 || l->opcode == 0xc7);
	return l->map != MAP_0F38 || l->opcode < 0xf5; /* shadow stacks */
}

/* Forms that differ in registers only are one, unless the operand depends on the address. */
static uint64_t form_of(const uint8_t *code, const struct layout *l)
{
	uint8_t key[20] = { 0 };

	memcpy(key, code, l->opcode_at);
	key[18] = l->map;
	key[19] = l->opcode;
	key[16] = l->rip ? 0x40 : l->has_modrm ? l->modrm >> 6 : 0x80;
	if (l->has_modrm)
		key[17] = l->modrm & 0x38;
	return hash_bytes(key, sizeof(key));
}

struct forms {
	struct map seen;
	size_t n, rip, branches;
};

static void look_at(struct forms *f, const uint8_t *code, const struct layout *l)
{
	uint64_t form = form_of(code, l);

	if (!layout_can_move(l) || !may_run(code, l) || map_get(&f->seen, form) != MAP_NONE)
		return;
	map_put(&f->seen, form, 1);
	f->n++;
	f->rip += l->rip;
	f->branches += l->relative;
	compare_form(code, l);
}

static void look_through(struct forms *f, const char *path)
{
	struct dso_cache *cache = dso_cache_new();
	struct targets t = { 0 };
	struct err err = { 0 };
	struct layout l;
	struct dso *dso;

	assert_int_equal(dso_get(cache, path, &dso, &err), 0);
	assert_null(targets_read(&t, dso));
	vec_for_each (&t.frames, struct frame, frame) {
		size_t n;
		const uint8_t *code = targets_code(&t, frame->start, &n);

		if (n > frame->size)
			n = frame->size;
		for (size_t at = 0; code && at < n && layout_read(code + at, n - at, &l);
		     at += l.length)
			look_at(f, code + at, &l);
	}
	targets_release(&t);
	dso_cache_free(cache);
}

/* Every condition with both sizes, and jumps: some are rare. */
static void look_at_branches(struct forms *f)
{
	uint8_t code[6] = { 0 };
	struct layout l;

	for (unsigned i = 0; i < 34; i++) {
		if (i < 16)
			code[0] = (uint8_t)(0x70 + i);
		else if (i < 18)
			code[0] = i == 16 ? 0xe9 : 0xeb;
		else
			code[0] = 0x0f, code[1] = (uint8_t)(0x80 + i - 18);
		assert_true(layout_read(code, sizeof(code), &l));
		look_at(f, code, &l);
	}
}

static void every_form(void **state)
{
	struct forms f = { 0 };

	(void)state;
	open_memory();
	catch_faults(true);
	look_at_branches(&f);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!access(files[i], R_OK))
			look_through(&f, files[i]);
	catch_faults(false);
	print_message("# %zu forms, %zu of them rip-relative, %zu branches\n", f.n, f.rip,
		      f.branches);
	assert_true(f.n > 34 && f.branches >= 34);
	map_release(&f.seen);
}

/* ---- lengths ---- */

/* capstone 4 does not know all encodings, and misreads a few that no compiler makes. */
static void every_length(void **state)
{
	void *decoder = decoder_x86_new(false);
	size_t compared = 0;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct dso_cache *cache = dso_cache_new();
		struct err err = { 0 };
		struct targets t = { 0 };
		struct dso *dso;

		if (access(files[i], R_OK)) {
			dso_cache_free(cache);
			continue;
		}
		assert_int_equal(dso_get(cache, files[i], &dso, &err), 0);
		assert_null(targets_read(&t, dso));
		vec_for_each (&t.frames, struct frame, frame) {
			size_t n;
			const uint8_t *code = targets_code(&t, frame->start, &n);
			struct insn insn;
			struct layout l;

			n = n < frame->size ? n : frame->size;
			for (size_t at = 0; code && at < n; at += insn.length) {
				if (!decode_x86(decoder, code + at, n - at, 0, &insn))
					break;
				compared++;
				if (!layout_read(code + at, n - at, &l) || l.length != insn.length)
					fail_msg("%s %#lx: %u, not %u bytes", files[i],
						 (unsigned long)(frame->start + at), l.length,
						 insn.length);
			}
		}
		targets_release(&t);
		dso_cache_free(cache);
	}
	decoder_x86_free(decoder);
	print_message("# %zu instructions\n", compared);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(every_form),
		cmocka_unit_test(every_length),
#endif
	};

	return unit_run(tests);
}
