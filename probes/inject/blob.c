// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/blob.h"

#include "probes/inproc/inproc.h"

#ifdef __x86_64__

/* clang-format off */

/* Numbers of the region's layout that the code below has as text. */
#define SLOTS_AT     4096
#define N_SLOTS	     4096
#define SLOT_BYTES   128
#define SLOT_TID     4
#define SLOT_LOST    16
#define SLOT_PID     40
#define SLOT_TAIL    64
#define RINGS_AT     67637248
#define RECORDING_AT 64
#define NO_RING_AT   80

_Static_assert(INPROC_PAGE == SLOTS_AT && INPROC_SLOTS == N_SLOTS, "as in the code");
_Static_assert(sizeof(struct inproc_slot) == SLOT_BYTES, "as in the code");
_Static_assert(offsetof(struct inproc_slot, state) == 0, "as in the code");
_Static_assert(offsetof(struct inproc_slot, tid) == SLOT_TID, "as in the code");
_Static_assert(offsetof(struct inproc_slot, lost) == SLOT_LOST, "as in the code");
_Static_assert(offsetof(struct inproc_slot, pid) == SLOT_PID, "as in the code");
_Static_assert(offsetof(struct inproc_slot, tail) == SLOT_TAIL, "as in the code");
_Static_assert(SLOTS_AT + N_SLOTS * SLOT_BYTES + INPROC_NAMES == RINGS_AT, "as in the code");
_Static_assert(offsetof(struct inproc_header, recording) == RECORDING_AT, "as in the code");
_Static_assert(offsetof(struct inproc_header, without_ring) == NO_RING_AT, "as in the code");
_Static_assert(sizeof(struct inproc_stamp) == 16, "as in the code");
_Static_assert(INPROC_FREE == 0 && INPROC_LIVE == 1 && INPROC_ENDED == 2 && INPROC_TAKEN == 3,
	       "as in the code");
_Static_assert(BLOCK_BYTES == 64 && sizeof(struct blob_facts) == 24, "as in the code");

#define TEXT_(x) #x
#define TEXT(x)	 TEXT_(x)

/* The stub has its registers in the 128 bytes below the stack pointer: the code goes below. */
#define SAVE                                                                                  \
	"	lea -128(%rsp), %rsp\n"                                                       \
	"	push %rax\n	push %rcx\n	push %rdx\n	push %rsi\n	push %rdi\n" \
	"	push %r8\n	push %r9\n	push %r10\n	push %r11\n"
#define RESTORE                                                                             \
	"	pop %r11\n	pop %r10\n	pop %r9\n	pop %r8\n"                        \
	"	pop %rdi\n	pop %rsi\n	pop %rdx\n	pop %rcx\n	pop %rax\n" \
	"	lea 128(%rsp), %rsp\n"                                                      \
	"	jmp *%r11\n"

__asm__(".pushsection .rodata\n"
	"	.balign 16\n"
	"ispot_blob_start:\n"
	"ispot_blob_region:	.quad 0\n"
	"ispot_blob_blocks:	.quad 0\n"
	"ispot_blob_ring_bytes:	.quad 0\n"

	/* The thread takes the first slot that is free, if it may. */
	"ispot_blob_claim:\n" SAVE
	"	mov ispot_blob_region(%rip), %r8\n"
	"	mov " TEXT(RECORDING_AT) "(%r8), %eax\n"
	"	test %eax, %eax\n"
	"	je 8f\n"
	"	cmp $1, %eax\n" /* 2: no system call */
	"	jne 7f\n"
	"	mov %fs:0, %r10\n"
	"	mov $186, %eax\n" /* gettid */
	"	syscall\n"
	"	mov %eax, %r9d\n"
	"	mov $39, %eax\n" /* getpid */
	"	syscall\n"
	"	mov %eax, %esi\n"
	"	lea " TEXT(SLOTS_AT) "(%r8), %rdi\n"
	"	xor %edx, %edx\n"
	"1:	cmpl $0, (%rdi)\n" /* INPROC_FREE */
	"	jne 2f\n"
	"	xor %eax, %eax\n"
	"	mov $3, %ecx\n" /* INPROC_TAKEN */
	"	lock cmpxchg %ecx, (%rdi)\n"
	"	je 3f\n"
	"2:	add $" TEXT(SLOT_BYTES) ", %rdi\n"
	"	inc %edx\n"
	"	cmp $" TEXT(N_SLOTS) ", %edx\n"
	"	jb 1b\n"
	"	jmp 7f\n"
	"3:	mov %r9d, " TEXT(SLOT_TID) "(%rdi)\n"
	"	mov %esi, " TEXT(SLOT_PID) "(%rdi)\n"
	"	mov %rdx, %rsi\n"
	"	shl $6, %rsi\n" /* BLOCK_BYTES */
	"	add ispot_blob_blocks(%rip), %rsi\n"
	"	mov " TEXT(SLOT_TAIL) "(%rdi), %rcx\n"
	"	shl $4, %rcx\n" /* of records */
	"	mov %rcx, 8(%rsi)\n"
	"	add ispot_blob_ring_bytes(%rip), %rcx\n"
	"	mov %rcx, 16(%rsi)\n"
	"	mov ispot_blob_ring_bytes(%rip), %rcx\n"
	"	imul %rdx, %rcx\n"
	"	lea " TEXT(RINGS_AT) "(%rcx,%r8), %rcx\n"
	"	mov %rcx, 24(%rsi)\n"
	"	mov %rdi, 32(%rsi)\n"
	"	mov %r10, (%rsi)\n"
	"	movl $1, (%rdi)\n" /* INPROC_LIVE */
	"	mov %rdi, %r9\n"
	"	mov $0x1001, %edi\n" /* ARCH_SET_GS */
	"	mov $158, %eax\n"    /* arch_prctl */
	"	syscall\n"
	"	test %eax, %eax\n" /* clears carry */
	"	je 9f\n"
	"	movl $2, (%r9)\n" /* INPROC_ENDED */
	"7:	lock incq " TEXT(NO_RING_AT) "(%r8)\n"
	"8:	stc\n"
	"9:\n" RESTORE

	/*
	 * The recorder may have read meanwhile. If not, the record is given back, unless a
	 * handler has reserved another one: then the recorder finds a record that never
	 * comes, and counts it.
	 */
	"ispot_blob_full:\n" SAVE
	"	mov %gs:32, %rsi\n"
	"	mov $2, %edi\n"
	"	test %rsi, %rsi\n"
	"	je 4f\n"
	"1:	mov " TEXT(SLOT_TAIL) "(%rsi), %rax\n"
	"	shl $4, %rax\n"
	"	add ispot_blob_ring_bytes(%rip), %rax\n"
	"	mov %rax, %gs:16\n"
	"	cmp %rax, %rdx\n" /* below: carry */
	"	jb 6f\n"
	"	lea 16(%rdx), %rax\n"
	"	mov %rdx, %rcx\n"
	"	cmpxchg %rcx, %gs:8\n"
	"	je 3f\n"
	"	dec %edi\n"
	"	jne 1b\n"
	"	jmp 5f\n"
	"3:	incq " TEXT(SLOT_LOST) "(%rsi)\n"
	"	jmp 5f\n"
	"4:	mov ispot_blob_region(%rip), %r8\n"
	"	lock incq " TEXT(NO_RING_AT) "(%r8)\n"
	"5:	clc\n"
	"6:	cmc\n"
	"	\n" RESTORE
	"ispot_blob_end:\n"
	".popsection\n");

/* clang-format on */

extern const char ispot_blob_start[], ispot_blob_claim[], ispot_blob_full[], ispot_blob_end[];

struct blob blob_get(void)
{
	return (struct blob){ .code = ispot_blob_start,
			      .bytes = (size_t)(ispot_blob_end - ispot_blob_start),
			      .claim = (size_t)(ispot_blob_claim - ispot_blob_start),
			      .full = (size_t)(ispot_blob_full - ispot_blob_start) };
}

#else

struct blob blob_get(void)
{
	return (struct blob){ 0 };
}

#endif
