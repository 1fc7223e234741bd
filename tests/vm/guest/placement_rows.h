/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions on which placement sets probes, each in a small function: ROW(name, before, probed,
 * after). A guest test has every kernel confirm that a probe on it fires once and harms nobody; a
 * unit test that placement calls all of them probeable. Functions take a pointer to 64 bytes.
 */
#if defined(__x86_64__)
#define ROWS(ROW)                                                                             \
	ROW(nop1, "", "nop", "ret")                                                           \
	ROW(nop3, "", ".byte 0x0f, 0x1f, 0x00", "ret")                                        \
	ROW(nop4, "", ".byte 0x0f, 0x1f, 0x40, 0x00", "ret")                                  \
	ROW(nop5, "", ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00", "ret")                            \
	ROW(nop8, "", ".byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0", "ret")                         \
	ROW(nop9, "", ".byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0", "ret")                   \
	ROW(endbr, "", "endbr64", "ret")                                                      \
	ROW(push_rbp, "", "push %rbp", "pop %rbp; ret")                                       \
	ROW(push_r12, "", "push %r12", "pop %r12; ret")                                       \
	ROW(push_constant, "", "push $5", "pop %rax; ret")                                    \
	ROW(push_memory, "", "push (%rdi)", "pop %rax; ret")                                  \
	ROW(call, "", "call 1f", "ret; 1: ret")                                               \
	ROW(call_register, "lea 1f(%rip), %rax", "call *%rax", "ret; 1: ret")                 \
	ROW(jmp, "", "jmp 1f", "ud2; 1: ret")                                                 \
	ROW(jmp_register, "lea 1f(%rip), %rax", "jmp *%rax", "ud2; 1: ret")                   \
	ROW(jmp_memory, "lea 1f(%rip), %rax; mov %rax, (%rdi)", "jmp *(%rdi)", "ud2; 1: ret") \
	ROW(jne_taken, "test %rdi, %rdi", "jne 1f", "ud2; 1: ret")                            \
	ROW(je_not_taken, "test %rdi, %rdi", "je 1f", "ret; 1: ud2")                          \
	ROW(jne_near, "test %rdi, %rdi", ".byte 0x0f, 0x85, 2, 0, 0, 0", "ud2; ret")          \
	ROW(jrcxz, "xor %ecx, %ecx", "jrcxz 1f", "ud2; 1: ret")                               \
	ROW(ret, "", "ret", "")                                                               \
	ROW(rep_ret, "", ".byte 0xf3, 0xc3", "")                                              \
	ROW(bnd_ret, "", ".byte 0xf2, 0xc3", "")                                              \
	ROW(mov, "", "mov %rdi, %rax", "ret")                                                 \
	ROW(load, "", "mov (%rdi), %rax", "ret")                                              \
	ROW(load_rip, "", "mov row_load_rip(%rip), %rax", "ret")                              \
	ROW(load_fs, "", "mov %fs:0, %rax", "ret")                                            \
	ROW(load_address32, "lea 4(%rdi), %rdi; xor %edi, %edi", "lea (%edi), %eax", "ret")   \
	ROW(store, "", "mov %rax, (%rdi)", "ret")                                             \
	ROW(sub_sp, "", "sub $8, %rsp", "add $8, %rsp; ret")                                  \
	ROW(xor, "", "xor %eax, %eax", "ret")                                                 \
	ROW(movaps, "", "movaps %xmm0, %xmm1", "ret")                                         \
	ROW(movups, "", "movups (%rdi), %xmm0", "ret")                                        \
	ROW(cvt, "", "cvtsi2sd %rdi, %xmm0", "ret")                                           \
	ROW(pshufb, "", "pshufb %xmm0, %xmm0", "ret")                                         \
	ROW(palignr, "", "palignr $1, %xmm0, %xmm0", "ret")                                   \
	ROW(popcnt, "", "popcnt %rdi, %rax", "ret")                                           \
	ROW(bsf, "", "bsf %rdi, %rax", "ret")                                                 \
	ROW(cmov, "", "cmovne %rdi, %rax", "ret")                                             \
	ROW(movzx, "", "movzbl (%rdi), %eax", "ret")                                          \
	ROW(movsxd, "", "movslq %edi, %rax", "ret")                                           \
	ROW(movabs, "", "movabs $0x123456789abc, %rax", "ret")                                \
	ROW(rdtsc, "", "rdtsc", "ret")                                                        \
	ROW(cpuid, "push %rbx; xor %eax, %eax", "cpuid", "pop %rbx; ret")                     \
	ROW(mfence, "", "mfence", "ret")                                                      \
	ROW(prefetch, "", "prefetcht0 (%rdi)", "ret")                                         \
	ROW(xchg_memory, "", "xchg %rax, (%rdi)", "ret")                                      \
	ROW(xadd, "", "xadd %rcx, (%rdi)", "ret")                                             \
	ROW(popf, "pushf", "popf", "ret")                                                     \
	ROW(leave, "push %rbp; mov %rsp, %rbp", "leave", "ret")                               \
	ROW(div, "mov $3, %ecx; xor %edx, %edx", "div %ecx", "ret")                           \
	ROW(stos, "", "stosb", "ret")                                                         \
	ROW(fld1, "", "fld1", "fstp %st(0); ret")
#elif defined(__aarch64__)
#define ROWS(ROW)                                                                        \
	ROW(nop, "", "nop", "ret")                                                       \
	ROW(bti, "", "hint #34", "ret")                                                  \
	ROW(paciasp, "", "hint #25", "hint #29; ret")                                    \
	ROW(push_frame, "", "stp x29, x30, [sp, #-16]!", "ldp x29, x30, [sp], #16; ret") \
	ROW(sub_sp, "", "sub sp, sp, #32", "add sp, sp, #32; ret")                       \
	ROW(mov, "", "mov x1, x0", "ret")                                                \
	ROW(load, "", "ldr x1, [x0]", "ret")                                             \
	ROW(store, "", "str x1, [x0]", "ret")                                            \
	ROW(load_pair, "", "ldp x1, x2, [x0]", "ret")                                    \
	ROW(load_vector, "", "ldr q0, [x0]", "ret")                                      \
	ROW(load_acquire, "", "ldar x1, [x0]", "ret")                                    \
	ROW(prefetch, "", "prfm pldl1keep, [x0]", "ret")                                 \
	ROW(adr, "", "adr x1, .", "ret")                                                 \
	ROW(adrp, "", "adrp x1, row_adrp", "ret")                                        \
	ROW(cbz_not_taken, "", "cbz x0, 1f", "ret; 1: udf #0")                           \
	ROW(cbnz_taken, "", "cbnz x0, 1f", "udf #0; 1: ret")                             \
	ROW(tbz, "mov x1, #1", "tbz x1, #0, 1f", "ret; 1: udf #0")                       \
	ROW(b_cond, "cmp x0, #0", "b.ne 1f", "udf #0; 1: ret")                           \
	ROW(b, "", "b 1f", "udf #0; 1: ret")                                             \
	ROW(bl, "mov x9, x30", "bl 1f", "mov x30, x9; ret; 1: ret")                      \
	ROW(br, "adr x1, 1f", "br x1", "udf #0; 1: ret")                                 \
	ROW(blr, "mov x9, x30; adr x1, 1f", "blr x1", "mov x30, x9; ret; 1: ret")        \
	ROW(ret, "", "ret", "")                                                          \
	ROW(multiply, "", "mul x1, x0, x0", "ret")                                       \
	ROW(csel, "cmp x0, #0", "csel x1, x0, xzr, eq", "ret")                           \
	ROW(vector, "", "movi v0.16b, #0", "ret")
#else
#error "add the rows of this machine"
#endif

/* row_NAME is the function, probed_NAME the instruction. */
#define ROW_DEFINE(name, before, probed, after)                                                    \
	__asm__(".pushsection .text\n.balign 64\n.globl row_" #name ", probed_" #name "\n"         \
		".type row_" #name ", %function\nrow_" #name ": " before "\nprobed_" #name         \
		": " probed "\n" after "\n.size row_" #name ", . - row_" #name "\n.popsection\n"); \
	void row_##name(void *memory);                                                             \
	extern const unsigned char probed_##name[];
#define ROW_ENTRY(name, before, probed, after) { #name, row_##name, probed_##name },

ROWS(ROW_DEFINE)

static const struct probed_row {
	const char *name;
	void (*call)(void *memory);
	const unsigned char *probed;
} probed_rows[] = { ROWS(ROW_ENTRY) };

#define N_PROBED_ROWS (sizeof(probed_rows) / sizeof(probed_rows[0]))
