// SPDX-License-Identifier: GPL-3.0-or-later
#ifdef __x86_64__
#include "probes/inject/machine/blob.h"

#include "probes/inproc/inproc.h"

/* clang-format off */

/* Numbers of the region's layout, which the code below needs as text. */
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
#define PASSED_AT    2048
#define MISSES_MOST  1024
#define PASSED_IDS   16384
#define STRETCH	     64
#define STRETCH_WAITS 8

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
_Static_assert(BLOCK_ROWS == 40 && BLOCK_RANDOM == 48 && BLOCK_LOOKED == 48 &&
		       BLOCK_PAID == 56 && BLOCK_BYTES == 64,
	       "as in the code");
_Static_assert(sizeof(struct blob_facts) == 128, "as in the code");
_Static_assert(BLOCK_STRETCH == STRETCH && BLOCK_STRETCH_WAITS == STRETCH_WAITS &&
		       BLOB_WAITS == 0x80000000u && BLOCK_STRETCH_LEAST == 33 && BLOB_COST_SHIFT == 8,
	       "as in the code");
_Static_assert(INPROC_PASSED_AT == PASSED_AT && INPROC_PASSED_IDS == PASSED_IDS &&
		       sizeof(struct inproc_header) <= PASSED_AT && BLOCK_MISSES_MOST == MISSES_MOST &&
		       BLOCK_MISS_BYTES == 2,
	       "as in the code");
_Static_assert(TURN_NEXT == 0 && TURN_OUTER == 8 && TURN_TOP == 12 && TURN_DEPTH == 16 &&
		       TURN_REST == 20 && TURN_OPEN == 24 && TURN_OPEN_MOST == 10 &&
		       TURN_BYTES == 64,
	       "as in the code");
_Static_assert(sizeof(struct inproc_row) == 32 && offsetof(struct inproc_row, recorded) == 8 &&
		       offsetof(struct inproc_row, inner) == 16 &&
		       offsetof(struct inproc_row, inner_recorded) == 24,
	       "as in the code");
_Static_assert(INPROC_INNER == 0x80000000u, "as in the code");
_Static_assert(INPROC_VALUE == 0x40000000u && INPROC_VALUE_SHIFT == 22 && INPROC_RETURNED == 6 &&
		       INPROC_CALLER == 6 &&
		       INPROC_COUNT_SHIFT == 29,
	       "as in the code");

#define TEXT_(x) #x
#define WIPED_MOST 16384
#define TEXT(x)	 TEXT_(x)

_Static_assert(BLOCK_WIPED_MOST == WIPED_MOST, "as in the code");

/* The stub has its registers in the 128 bytes below the stack pointer, so this code saves its own
 * below those. */
#define SAVE                                                                                  \
	"	lea -128(%rsp), %rsp\n"                                                       \
	"	push %rax\n	push %rcx\n	push %rdx\n	push %rsi\n	push %rdi\n" \
	"	push %r8\n	push %r9\n	push %r10\n	push %r11\n"
#define RESTORE                                                                             \
	"	pop %r11\n	pop %r10\n	pop %r9\n	pop %r8\n"                        \
	"	pop %rdi\n	pop %rsi\n	pop %rdx\n	pop %rcx\n	pop %rax\n" \
	"	lea 128(%rsp), %rsp\n"                                                      \
	"	jmp *%r11\n"

/* Writes value i, if it is wanted, which SAVE or the stub has saved so far above %rsp. */
#define VALUE(i, at)                                                                        \
	"	bt $22+" #i ", %ecx\n	jnc 4f\n	mov " #at "(%rsp), %rax\n"            \
	"	call 3f\n"                                                                  \
	"4:	add $1<<22, %edi\n"

__asm__(".pushsection .rodata\n"
	"	.balign 16\n"
	"ispot_blob_start:\n"
	"ispot_blob_region:	.quad 0\n"
	"ispot_blob_blocks:	.quad 0\n"
	"ispot_blob_ring_bytes:	.quad 0\n"
	"ispot_blob_block_bytes:	.quad 0\n"
	"ispot_blob_rows:	.quad 0\n"
	"ispot_blob_rows_bytes:	.quad 0\n"
	"ispot_blob_period:	.quad 0\n"
	"	.quad 0, 0, 0\n"
	"ispot_blob_record_cost:	.quad 0\n"
	"ispot_blob_credit_first:	.quad 0\n"
	"ispot_blob_credit_most:	.quad 0\n"
	"ispot_blob_gap_most:	.quad 0\n"
	"ispot_blob_small_from:	.quad 0\n"
	"ispot_blob_small_bytes:	.quad 0\n"

	/* Claims the first free slot for the thread, if the recorder allows it. */
	"ispot_blob_claim:\n" SAVE
	"	mov ispot_blob_region(%rip), %r8\n"
	"	mov " TEXT(RECORDING_AT) "(%r8), %eax\n"
	"	test %eax, %eax\n"
	"	je 8f\n"
	"	cmp $1, %eax\n" /* 2: no system calls */
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
	"	mov ispot_blob_block_bytes(%rip), %rsi\n"
	"	imul %rdx, %rsi\n"
	"	add ispot_blob_blocks(%rip), %rsi\n"
	/* wipe the turns or misses that another thread has left there */
	"	cmpq $64, ispot_blob_block_bytes(%rip)\n"
	"	jbe 4f\n"
	"	mov %rdi, %r9\n"
	"	mov %rdx, %r8\n"
	"	mov %rsi, %rdi\n"
	"	mov ispot_blob_block_bytes(%rip), %rsi\n"
	"	mov $1, %eax\n"
	"	cmp $" TEXT(WIPED_MOST) ", %rsi\n"
	"	jbe 6f\n"
	"	mov $4, %edx\n"  /* MADV_DONTNEED */
	"	mov $28, %eax\n" /* madvise */
	"	syscall\n"
	"6:	mov %rsi, %rcx\n"
	"	mov %rdi, %rsi\n"
	"	test %eax, %eax\n"
	"	je 5f\n"
	"	xor %eax, %eax\n"
	"	shr $3, %rcx\n"
	"	rep stosq\n" /* madvise() does not discard locked memory */
	"5:	mov %r9, %rdi\n"
	"	mov %r8, %rdx\n"
	"	mov ispot_blob_region(%rip), %r8\n"
	"	mov ispot_blob_rows_bytes(%rip), %rcx\n"
	"	imul %rdx, %rcx\n"
	"	add ispot_blob_rows(%rip), %rcx\n"
	"	mov %rcx, 40(%rsi)\n"
	"	mov %rcx, 48(%rsi)\n" /* the first state of the random numbers */
	"4:\n"
	"	mov " TEXT(SLOT_TAIL) "(%rdi), %rcx\n"
	"	shl $4, %rcx\n" /* from records to bytes */
	"	mov %rcx, 8(%rsi)\n"
	"	mov %rcx, 16(%rsi)\n" /* the first stretch begins with the first record */
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
	"	test %eax, %eax\n" /* clears the carry flag */
	"	je 9f\n"
	"	movl $2, (%r9)\n" /* INPROC_ENDED */
	"7:	lock incq " TEXT(NO_RING_AT) "(%r8)\n"
	"8:	stc\n"
	"9:\n" RESTORE

	/*
	 * The stretch is over, or the ring is full. The recorder may have read records meanwhile. If
	 * not, the reserved record is given back, unless a signal handler has reserved another one:
	 * then the recorder finds a record that is never written, and counts it as lost.
	 */
	"ispot_blob_miss:\n" SAVE
	"	mov %eax, %r9d\n"
	"	and $0x7fffffff, %r9d\n"
	"	mov $" TEXT(STRETCH) ", %r11d\n" /* misses, if the budget is used up */
	"	test %eax, %eax\n" /* BLOB_WAITS */
	"	jns 0f\n"
	"	mov $" TEXT(STRETCH_WAITS) ", %r11d\n"
	"	jmp 0f\n"
	"ispot_blob_full:\n" SAVE
	"	mov $" TEXT(PASSED_IDS) ", %r9d\n" /* no function's id */
	"0:	mov %gs:32, %rsi\n"
	"	mov $2, %edi\n"
	"	test %rsi, %rsi\n"
	"	je 4f\n"
	"1:	mov " TEXT(SLOT_TAIL) "(%rsi), %rax\n"
	"	shl $4, %rax\n"
	"	mov ispot_blob_ring_bytes(%rip), %r10\n"
	"	cmp ispot_blob_small_from(%rip), %rsi\n"
	"	cmovae ispot_blob_small_bytes(%rip), %r10\n"
	"	add %r10, %rax\n"
	"	mov %rax, %gs:16\n"
	"	cmp %rax, %rdx\n" /* carry: below the limit */
	"	jb 8f\n"
	"	lea 16(%rdx), %rax\n"
	"	mov %rdx, %rcx\n"
	"	cmpxchg %rcx, %gs:8\n"
	"	je 3f\n"
	"	dec %edi\n"
	"	jne 1b\n"
	"	jmp 5f\n"
	"3:	incq " TEXT(SLOT_LOST) "(%rsi)\n"
	"	cmp $" TEXT(PASSED_IDS) ", %r9d\n"
	"	jae 5f\n"
	"	incw %gs:64(,%r9,2)\n"
	"	call 7f\n"
	"	jmp 5f\n"
	"4:	mov ispot_blob_region(%rip), %r8\n"
	"	lock incq " TEXT(NO_RING_AT) "(%r8)\n"
	"5:	stc\n"
	"6:	\n" RESTORE
	/* Tells the recorder if the thread passes the calls of function %r9 from now on. */
	"7:	cmpw $" TEXT(MISSES_MOST) ", %gs:64(,%r9,2)\n"
	"	jb 1f\n"
	"	mov ispot_blob_region(%rip), %r8\n"
	"	lock bts %r9d, " TEXT(PASSED_AT) "(%r8)\n"
	"1:	ret\n"
	/* There is room. Begins the next stretch, and pays for it. In what follows %rax is the time,
	 * %rcx the reserved position, %rsi the records of the stretch, %r8 what each costs, %r10 where
	 * the ring is full. */
	"8:	mov ispot_blob_record_cost(%rip), %r8\n"
	"	test %r8, %r8\n"
	"	je 6b\n"
	"	mov %rax, %r10\n"
	"	mov %rdx, %rcx\n"
	"	rdtsc\n"
	"	shl $32, %rdx\n"
	"	or %rdx, %rax\n"
	"	imul $0x9e3779b1, %eax, %esi\n" /* the low bits of the clock may be in step */
	"	shr $26, %esi\n"
	"	add $33, %esi\n"
	"	mov %esi, %edi\n"
	"	shl $4, %edi\n"
	"	add %rcx, %rdi\n"
	"	cmp %r10, %rdi\n"
	"	cmova %r10, %rdi\n"
	"	mov %rdi, %gs:16\n"
	"	mov %gs:48, %rdi\n"
	"	mov %rax, %gs:48\n"
	"	mov %gs:56, %rdx\n"
	"	test %rdx, %rdx\n"
	"	jne 1f\n"
	"	mov %rax, %rdx\n"
	"	sub ispot_blob_credit_first(%rip), %rdx\n"
	"	jmp 2f\n"
	"1:	sub %rax, %rdi\n"
	"	add ispot_blob_gap_most(%rip), %rdi\n"
	"	jns 2f\n"
	"	sub %rdi, %rdx\n"
	"2:	mov %rax, %rdi\n"
	"	sub ispot_blob_credit_most(%rip), %rdi\n"
	"	cmp %rdi, %rdx\n"
	"	cmovl %rdi, %rdx\n"
	"	imul %r8, %rsi\n"
	"	shr $8, %rsi\n"
	"	add %rsi, %rdx\n"
	"	mov %rdx, %gs:56\n"
	"	cmp %rax, %rdx\n"
	"	jle 1f\n"
	"	cmp $" TEXT(PASSED_IDS) ", %r9d\n"
	"	jae 1f\n"
	"	addw %r11w, %gs:64(,%r9,2)\n"
	"	call 7b\n"
	"	cmpw $" TEXT(MISSES_MOST) ", %gs:64(,%r9,2)\n"
	"	jb 1f\n"
	"	mov ispot_blob_credit_first(%rip), %rdi\n" /* a chance for the others */
	"	shr $4, %rdi\n"
	"	sub %rdi, %rax\n"
	"	mov %rax, %gs:56\n"
	/* the exit of this call passes already, so its entry has no record either */
	"	lea 16(%rcx), %rax\n"
	"	cmpxchg %rcx, %gs:8\n"
	"	je 5b\n"
	"1:	clc\n"
	"	jmp 6b\n"

	/*
	 * Runs for a call that is due to be recorded, and for the first call of a function, for
	 * which none is drawn yet. Whatever a signal handler does in between, the counts of a row
	 * are right, as each changes by one instruction. TURN_TOP and TURN_DEPTH change together by
	 * one instruction, too. The handler's calls leave both as they were, and what they write to
	 * TURN_OPEN at a depth is what the interrupted code writes there: the same TURN_TOP. In
	 * what follows %rdi is the row, %rsi the turn, %r8 the period.
	 */
	"ispot_blob_begin:\n" SAVE
	"	mov %gs:40, %rdi\n"
	"	mov %ecx, %eax\n"
	"	shl $5, %rax\n"
	"	add %rax, %rdi\n"
	"	mov %ecx, %esi\n"
	"	shl $6, %rsi\n"
	"	add $64, %rsi\n"
	"	mov ispot_blob_period(%rip), %r8\n"
	"	xor %r9d, %r9d\n" /* INPROC_INNER */
	"	cmp %edx, %gs:8(%rsi)\n"
	"	ja 1f\n"
	"	mov %edx, %gs:8(%rsi)\n"
	"	jmp 2f\n"
	"1:	incq 16(%rdi)\n"
	"	mov $0x80000000, %r9d\n"
	"2:	mov (%rdi), %r10\n"
	"	cmpq $0, %gs:0(%rsi)\n"
	"	jne 3f\n"
	"	dec %r10\n" /* the first draw includes this call */
	"	call 7f\n"
	"	inc %r10\n"
	"	cmp %r10, %gs:0(%rsi)\n"
	"	ja 8f\n"
	/* Drops the open frames below this one, and one at the same stack pointer, which were left
	 * without an exit. */
	"3:	mov %gs:12(%rsi), %r11\n" /* TURN_TOP, and TURN_DEPTH above it */
	"	mov %r11, %rcx\n"
	"	shr $32, %rcx\n"
	"4:	test %ecx, %ecx\n"
	"	je 5f\n"
	"	cmp %edx, %r11d\n"
	"	ja 5f\n"
	"	dec %ecx\n"
	"	mov %gs:24(%rsi,%rcx,4), %r11d\n"
	"	jmp 4b\n"
	"5:	cmp $10, %ecx\n"
	"	jae 8f\n"
	"	mov %r11d, %gs:24(%rsi,%rcx,4)\n"
	"	test %ecx, %ecx\n" /* the reader recognizes a call inside a recorded one */
	"	je 6f\n"
	"	test %r9d, %r9d\n"
	"	je 6f\n"
	"	incq 24(%rdi)\n"
	"	xor %r9d, %r9d\n"
	"6:	inc %ecx\n"
	"	shl $32, %rcx\n"
	"	mov %edx, %eax\n"
	"	or %rcx, %rax\n"
	"	mov %rax, %gs:12(%rsi)\n"
	"	mov %r9d, %ecx\n"
	"	shr $31, %ecx\n"
	"	add %rcx, 24(%rdi)\n"
	"	incq 8(%rdi)\n"
	"	call 7f\n"
	"	mov %r9, 56(%rsp)\n" /* %rcx */
	"	clc\n"
	"	jmp 9f\n"
	/* Draws the call that is recorded next: one of the N calls that follow call %r10 and the
	 * rest of its N. */
	"7:	mov $6364136223846793005, %rax\n"
	"	imul %gs:48, %rax\n"
	"	mov %rax, %rcx\n"
	"	rdtsc\n"
	"	lea (%rcx,%rax,2), %rax\n"
	"	or $1, %rax\n"
	"	mov %rax, %gs:48\n"
	"	shr $32, %rax\n"
	"	imul %r8, %rax\n"
	"	shr $32, %rax\n" /* index among the N calls */
	"	mov %gs:20(%rsi), %ecx\n"
	"	lea 1(%r10,%rcx), %rcx\n"
	"	add %rax, %rcx\n"
	"	mov %rcx, %gs:0(%rsi)\n"
	"	mov %r8d, %ecx\n"
	"	dec %ecx\n"
	"	sub %eax, %ecx\n"
	"	mov %ecx, %gs:20(%rsi)\n"
	"	mov 56(%rsp), %rdx\n" /* rdtsc has changed %rdx */
	"	ret\n"
	"8:	stc\n"
	"9:\n" RESTORE

	/* Handles the exit of the recorded call that was entered last. */
	"ispot_blob_finish:\n" SAVE
	"	mov %ecx, %esi\n"
	"	shl $6, %rsi\n"
	"	mov %gs:64+16(%rsi), %ecx\n"
	"	sub $1, %ecx\n"
	"	jb 1f\n"
	"	mov %gs:64+24(%rsi,%rcx,4), %eax\n"
	"	shl $32, %rcx\n"
	"	or %rcx, %rax\n"
	"	mov %rax, %gs:64+12(%rsi)\n"
	"1:	clc\n" RESTORE

	/*
	 * Reserves the records of all values by one instruction, if the ring has room for them, so
	 * they follow each other whatever a signal handler does. In what follows %r8 is the number
	 * of their bytes, %r9 the position, %rsi the ring, %edi the record's `what`.
	 */
	"ispot_blob_values:\n" SAVE
	"	mov %ecx, %r8d\n"
	"	shr $29, %r8d\n" /* INPROC_COUNT_SHIFT */
	"	shl $4, %r8d\n"
	"1:	mov %gs:8, %rax\n"
	"	lea (%rax,%r8), %r9\n"
	"	cmp %gs:16, %r9\n"
	"	jbe 5f\n"
	"	mov %gs:32, %rsi\n"
	"	test %rsi, %rsi\n"
	"	je 2f\n"
	"	mov " TEXT(SLOT_TAIL) "(%rsi), %r10\n" /* the recorder may have read records */
	"	shl $4, %r10\n"
	"	mov ispot_blob_ring_bytes(%rip), %rdi\n"
	"	cmp ispot_blob_small_from(%rip), %rsi\n"
	"	cmovae ispot_blob_small_bytes(%rip), %rdi\n"
	"	add %rdi, %r10\n"
	"	cmp %r10, %r9\n"
	"	ja 2f\n"
	"5:	cmpxchg %r9, %gs:8\n"
	"	jne 1b\n"
	"	mov %rax, %r9\n"
	"	mov %gs:24, %rsi\n"
	"	test %rsi, %rsi\n" /* wiped by a fork in a signal handler */
	"	je 2f\n"
	"	mov %ecx, %edi\n"
	"	and $0x3fffff, %edi\n"
	"	or $0x40000000, %edi\n" /* INPROC_VALUE */
	"	or $1, %edx\n"
	VALUE(0, 32) VALUE(1, 40) VALUE(2, 184) VALUE(3, 168) VALUE(4, 24) VALUE(5, 16)
	"	bt $28, %ecx\n" /* INPROC_RETURNED, INPROC_CALLER */
	"	jnc 2f\n"
	"	mov 192(%rsp), %rax\n"
	"	test $1, %ecx\n" /* an exit */
	"	jne 6f\n"
	/* the return address, at the entry's stack pointer, of which %edx has the lower half */
	"	lea 200(%rsp), %rax\n"
	"	mov %edx, %r10d\n"
	"	sub %eax, %r10d\n"
	"	movslq %r10d, %r10\n"
	"	mov -1(%rax,%r10), %rax\n"
	"6:	call 3f\n"
	"2:	clc\n" RESTORE
	/* Writes one record, of the value in %rax. Changes %r10, %r11. */
	"3:	mov ispot_blob_ring_bytes(%rip), %r10\n"
	"	dec %r10\n"
	"	and %r9, %r10\n"
	"	add %rsi, %r10\n"
	"	mov %edi, 8(%r10)\n"
	"	mov %rax, %r11\n"
	"	shr $32, %r11\n"
	"	mov %r11d, 12(%r10)\n"
	"	shl $32, %rax\n"
	"	or %rdx, %rax\n"
	"	mov %rax, (%r10)\n"
	"	add $16, %r9\n"
	"	ret\n"
	"ispot_blob_end:\n"
	".popsection\n");

/* clang-format on */

extern const char ispot_blob_start[], ispot_blob_claim[], ispot_blob_full[], ispot_blob_miss[],
	ispot_blob_begin[], ispot_blob_finish[], ispot_blob_values[], ispot_blob_end[];

struct blob blob_get(void)
{
	return (struct blob){ .code = ispot_blob_start,
			      .bytes = (size_t)(ispot_blob_end - ispot_blob_start),
			      .claim = (size_t)(ispot_blob_claim - ispot_blob_start),
			      .full = (size_t)(ispot_blob_full - ispot_blob_start),
			      .miss = (size_t)(ispot_blob_miss - ispot_blob_start),
			      .begin = (size_t)(ispot_blob_begin - ispot_blob_start),
			      .end = (size_t)(ispot_blob_finish - ispot_blob_start),
			      .values = (size_t)(ispot_blob_values - ispot_blob_start) };
}

uint64_t blob_table_bytes(void)
{
	return 0;
}

#endif
