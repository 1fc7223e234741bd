// SPDX-License-Identifier: GPL-3.0-or-later
#ifdef __aarch64__
#include "probes/inject/machine/blob.h"

#include "probes/inject/machine/stub.h"
#include "probes/inject/machine/threadtable.h"
#include "probes/inproc/inproc.h"

/* clang-format off */

/* Numbers of the region's layout, which the code below has as text. */
_Static_assert(INPROC_PAGE == 4096 && INPROC_SLOTS == 4096, "as in the code");
_Static_assert(sizeof(struct inproc_slot) == 128 && offsetof(struct inproc_slot, state) == 0 &&
		       offsetof(struct inproc_slot, tid) == 4 &&
		       offsetof(struct inproc_slot, lost) == 16 &&
		       offsetof(struct inproc_slot, pid) == 40 &&
		       offsetof(struct inproc_slot, tail) == 64,
	       "as in the code");
_Static_assert(4096 + 4096 * 128 + INPROC_NAMES == 0x4081000, "as in the code");
_Static_assert(offsetof(struct inproc_header, recording) == 64 &&
		       offsetof(struct inproc_header, without_ring) == 80,
	       "as in the code");
_Static_assert(sizeof(struct inproc_stamp) == 16, "as in the code");
_Static_assert(INPROC_FREE == 0 && INPROC_LIVE == 1 && INPROC_ENDED == 2 && INPROC_TAKEN == 3,
	       "as in the code");
_Static_assert(BLOCK_ROWS == 40 && BLOCK_RANDOM == 48 && BLOCK_BYTES == 64 && TURN_NEXT == 0 &&
		       TURN_OUTER == 8 && TURN_TOP == 12 && TURN_DEPTH == 16 && TURN_REST == 20 &&
		       TURN_OPEN == 24 && TURN_OPEN_MOST == 10 && TURN_BYTES == 64 &&
		       INPROC_INNER == 0x80000000u,
	       "as in the code");
_Static_assert(sizeof(struct inproc_row) == 32 && offsetof(struct inproc_row, recorded) == 8 &&
		       offsetof(struct inproc_row, inner) == 16 &&
		       offsetof(struct inproc_row, inner_recorded) == 24,
	       "as in the code");
_Static_assert(BLOCK_KEY == 0 && BLOCK_POS == 8 && BLOCK_LIMIT == 16 && BLOCK_BASE == 24 &&
		       BLOCK_SLOT == 32,
	       "as in the code");
_Static_assert(offsetof(struct blob_facts, table) == 56 && offsetof(struct blob_facts, tid_below) == 64 &&
		       offsetof(struct blob_facts, misses_most) == 72,
	       "as in the code");
_Static_assert(BLOCK_LOOKED == 48 && BLOCK_PAID == 56 && offsetof(struct blob_facts, budget) == 80 &&
		       sizeof(struct blob_budget) == 32 && BLOCK_STRETCH == 64 &&
		       BLOCK_STRETCH_LEAST == 33 && BLOCK_STRETCH_WAITS == 8 &&
		       STUB_WAITS == 1u << 30 && BLOB_COST_SHIFT == 8,
	       "as in the code");
_Static_assert(BLOCK_WIPED_MOST == 4 << 12, "as in the code");
_Static_assert(INPROC_PASSED_AT == 2048 && BLOCK_MISS_BYTES == 2 && INPROC_PASSED_IDS == 16384 &&
		       sizeof(struct inproc_header) <= INPROC_PASSED_AT,
	       "as in the code");
_Static_assert(sizeof(struct threadtable_row) == 32 && THREADTABLE_BITS == 13 &&
		       THREADTABLE_FACTOR == 0x9e3779b1u && THREADTABLE_STEPS == 64 &&
		       THREADTABLE_BEING_MADE == 1 && offsetof(struct threadtable_row, key) == 0 &&
		       offsetof(struct threadtable_row, block) == 8 &&
		       offsetof(struct threadtable_row, tid_at) == 16 &&
		       offsetof(struct threadtable_row, tid) == 24,
	       "as in the code");

_Static_assert(INPROC_VALUE == 0x40000000u && INPROC_VALUE_SHIFT == 22 && INPROC_VALUES == 7 &&
		       INPROC_RETURNED == 6 && STUB_SOMETIMES == 1u << 29 &&
		       STUB_ALWAYS_BELOW == 0x10000 && STUB_SOMETIMES_FACTOR == 0x9e3779b1u,
	       "as in the code");

/*
 * The routines keep all registers but x16 and x30, which the stub has saved; x16 has the record's
 * second word, and in its bits from INPROC_VALUE_SHIFT on which values are recorded, and
 * STUB_SOMETIMES. They change the flags, which have no meaning at an entry or exit. Below the 16
 * bytes of the stub they save x9 to x15, which are their own.
 */
#define SAVE                                                                         \
	"	stp x9, x10, [sp, #-64]!\n	stp x11, x12, [sp, #16]\n"               \
	"	stp x13, x14, [sp, #32]\n	stp x15, x30, [sp, #48]\n"
#define RESTORE                                                                      \
	"	ldp x11, x12, [sp, #16]\n	ldp x13, x14, [sp, #32]\n"               \
	"	ldp x15, x30, [sp, #48]\n	ldp x9, x10, [sp], #64\n	ret\n"

/* Makes x15 the table and w13 the index of the first row for the key in x10. Changes w12. */
#define HOME                                                                         \
	"	mov w12, #0x79b1\n	movk w12, #0x9e37, lsl #16\n"                    \
	"	lsr x13, x10, #4\n	mul w13, w13, w12\n	lsr w13, w13, #19\n"     \
	"	ldr x15, ispot_blob_table\n"

/* Writes value i, which is in that register, if it is wanted. */
#define VALUE(i, from)                                                                   \
	"	tbz w16, #22+" #i ", 106f\n	mov w15, #(0x40000000|" #i "<<22)\n"             \
	"	mov x9, x" #from "\n	bl 105f\n"                                               \
	"106:\n"

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
	"ispot_blob_table:	.quad 0\n"
	"ispot_blob_tid_below:	.quad 0\n"
	"ispot_blob_misses_most:	.quad 0\n"
	"ispot_blob_record_cost:	.quad 0\n"
	"ispot_blob_credit_first:	.quad 0\n"
	"ispot_blob_credit_most:	.quad 0\n"
	"ispot_blob_gap_most:	.quad 0\n"
	"ispot_blob_small_from:	.quad 0\n"
	"ispot_blob_small_bytes:	.quad 0\n"

	/* The time of an entry is read as late as possible, that of an exit when all of the
	 * function's loads are done. */
	"ispot_blob_enter:\n" SAVE
	"	mov x14, #0\n"
	"	b 1f\n"
	"ispot_blob_leave:\n" SAVE
	"	mov x14, #1\n" /* read once it is known that the call is recorded */
	"	ldr x9, ispot_blob_period\n"
	"	cmp x9, #1\n"
	"	b.hi 1f\n"
	"	isb\n"
	"	mrs x14, cntvct_el0\n"

	/* Finds the thread's row in the table. */
	"1:	mrs x10, tpidr_el0\n"
	"	cbz x10, 50f\n" HOME
	"	mov w9, #64\n"
	"2:	add x11, x15, x13, lsl #5\n"
	"	ldr x12, [x11]\n"
	"	cmp x12, x10\n"
	"	b.eq 3f\n"
	"	cbz x12, 20f\n"
	"	add w13, w13, #1\n"
	"	and w13, w13, #8191\n"
	"	subs w9, w9, #1\n"
	"	b.ne 2b\n"
	"	b 20f\n"
	"3:	ldr x12, [x11, #16]\n" /* is it this thread's, or that of one with the same base? */
	"	ldr w12, [x12]\n"
	"	ldr w13, [x11, #24]\n"
	"	cmp w12, w13\n"
	"	b.ne 20f\n"
	"	ldr x11, [x11, #8]\n"
	"4:	ldr x9, ispot_blob_period\n"
	"	cmp x9, #1\n"
	"	b.hi 60f\n"

	/* Records nothing if the thread has missed misses_most calls of the function. */
	"	ldr x9, ispot_blob_misses_most\n"
	"	cbz x9, 9f\n"
	"	ubfx w12, w16, #1, #21\n"
	"	cmp w12, #4, lsl #12\n" /* INPROC_PASSED_IDS */
	"	b.hs 9f\n"
	"	add x12, x11, x12, lsl #1\n"
	"	ldrh w12, [x12, #64]\n"
	"	cmp w12, w9\n"
	"	b.hs 8f\n"

	/*
	 * Reserves a record of the block in x11. A signal handler may run between any two
	 * instructions, and use the block: then the store fails, and is tried again.
	 */
	"9:	add x9, x11, #8\n"
	"5:	ldxr x12, [x9]\n"
	"	add x13, x12, #16\n"
	"	stxr w15, x13, [x9]\n"
	"	cbnz w15, 5b\n"
	"	ldr x13, [x11, #16]\n"
	"	cmp x12, x13\n"
	"	b.hs 40f\n"
	"6:	ldr x13, [x11, #24]\n"
	"	cbz x13, 8f\n" /* a fork in a signal handler has wiped the block */
	"	tst w16, #0x1fc00000\n"
	"	b.ne 100f\n"
	"10:	ldr x9, ispot_blob_ring_bytes\n"
	"	sub x9, x9, #1\n"
	"	and x9, x12, x9\n"
	"	add x13, x13, x9\n"
	"	add x9, sp, #80\n"
	"	and w16, w16, #0x803fffff\n"
	"	stp w16, w9, [x13, #8]\n"
	"	cbnz x14, 7f\n"
	"	mrs x14, cntvct_el0\n"
	"7:	stlr x14, [x13]\n" /* after the rest, for the recorder too: this commits the record */
	"8:\n" RESTORE

	/* Claims the first free slot for the thread, if the recorder allows it. If one call in
	 * several is recorded, the exit of a call that has no slot is none of those. */
	"20:	cmp x14, #1\n"
	"	b.eq 8b\n"
	"	stp x0, x1, [sp, #-96]!\n"
	"	stp x2, x3, [sp, #16]\n"
	"	stp x4, x5, [sp, #32]\n"
	"	stp x6, x7, [sp, #48]\n"
	"	stp x8, x17, [sp, #64]\n"
	"	ldr x6, ispot_blob_region\n"
	"	ldr w0, [x6, #64]\n"
	"	cbz w0, 34f\n"
	"	cmp w0, #1\n" /* 2: no system calls */
	"	b.ne 33f\n"
	"	mov x8, #178\n" /* gettid */
	"	svc #0\n"
	"	mov w7, w0\n"
	"	mov x8, #172\n" /* getpid */
	"	svc #0\n"
	"	mov w5, w0\n"
	"	mov x0, #40\n" /* PR_GET_TID_ADDRESS */
	"	add x1, sp, #80\n"
	"	mov x2, #0\n"
	"	mov x3, #0\n"
	"	mov x4, #0\n"
	"	mov x8, #167\n" /* prctl */
	"	svc #0\n"
	"	cbnz x0, 19f\n"
	"	ldr x17, [sp, #80]\n"
	"	cbz x17, 19f\n"
	"	ldr w0, [x17]\n"
	"	cmp w0, w7\n" /* musl has a lock there */
	"	b.eq 18f\n"
	"19:	ldr x17, ispot_blob_tid_below\n"
	"	cbz x17, 33f\n"
	"	sub x17, x10, x17\n"
	"	ldr w0, [x17]\n"
	"	cmp w0, w7\n"
	"	b.ne 33f\n"
	"18:	add x0, x6, #1, lsl #12\n"
	"	mov w1, #0\n"
	"21:	ldr w2, [x0]\n"
	"	cbnz w2, 23f\n"
	"22:	ldaxr w2, [x0]\n"
	"	cbnz w2, 23f\n"
	"	mov w3, #3\n" /* INPROC_TAKEN */
	"	stxr w4, w3, [x0]\n"
	"	cbnz w4, 22b\n"
	"	b 24f\n"
	"23:	add x0, x0, #128\n"
	"	add w1, w1, #1\n"
	"	cmp w1, #1, lsl #12\n"
	"	b.lo 21b\n"
	"	b 33f\n"
	"24:	str w7, [x0, #4]\n"
	"	str w5, [x0, #40]\n"
	"	ldr x2, ispot_blob_block_bytes\n"
	"	ldr x3, ispot_blob_blocks\n"
	"	madd x2, x2, x1, x3\n"
	/* wipes the turns or misses that another thread has left there */
	"	ldr x3, ispot_blob_block_bytes\n"
	"	cmp x3, #64\n"
	"	b.ls 30f\n"
	"	mov x9, x0\n"
	"	mov x12, x1\n"
	"	mov x0, x2\n"
	"	ldr x1, ispot_blob_block_bytes\n"
	"	cmp x1, #4, lsl #12\n" /* BLOCK_WIPED_MOST */
	"	b.ls 28f\n"
	"	mov x2, #4\n" /* MADV_DONTNEED */
	"	mov x8, #233\n" /* madvise */
	"	mov x13, x0\n"
	"	svc #0\n"
	"	mov x2, x13\n"
	"	cbz x0, 29f\n"
	"28:	sub x1, x1, #8\n" /* madvise() does not discard locked memory */
	"	str xzr, [x2, x1]\n"
	"	cbnz x1, 28b\n"
	"29:	mov x0, x9\n"
	"	mov x1, x12\n"
	"	ldr x3, ispot_blob_rows\n"
	"	ldr x4, ispot_blob_rows_bytes\n"
	"	madd x3, x4, x1, x3\n"
	"	str x3, [x2, #40]\n"
	"	str x3, [x2, #48]\n" /* the first state of the random numbers */
	"30:\n"
	"	add x3, x0, #64\n"
	"	ldar x3, [x3]\n"
	"	lsl x3, x3, #4\n" /* from records to bytes */
	"	str x3, [x2, #8]\n"
	"	str x3, [x2, #16]\n" /* the first stretch begins with the first record */
	"	ldr x4, ispot_blob_ring_bytes\n"
	"	mov w3, #0x1000\n" /* where the rings begin */
	"	movk w3, #0x408, lsl #16\n"
	"	add x3, x3, x6\n"
	"	madd x3, x4, x1, x3\n"
	"	str x3, [x2, #24]\n"
	"	str x0, [x2, #32]\n"
	"	str x10, [x2]\n"
	"	mov w3, #1\n" /* INPROC_LIVE */
	"	stlr w3, [x0]\n"

	/* Takes a row of the table: the thread's, a new one, or that of a thread that has ended,
	 * whose slot is another's or nobody's. */
	HOME
	"	mov w9, #64\n"
	"25:	add x11, x15, x13, lsl #5\n"
	"	ldr x12, [x11]\n"
	"	cmp x12, x10\n"
	"	b.eq 27f\n"
	"	cbz x12, 27f\n"
	"	cmp x12, #1\n" /* THREADTABLE_BEING_MADE */
	"	b.eq 26f\n"
	"	ldr x3, [x11, #8]\n"
	"	cbz x3, 26f\n"
	"	ldr x3, [x3, #32]\n"
	"	cbz x3, 26f\n"
	"	ldr w4, [x3]\n"
	"	cmp w4, #1\n" /* INPROC_LIVE */
	"	b.ne 27f\n"
	"	ldr w4, [x3, #4]\n"
	"	ldr w5, [x11, #24]\n"
	"	cmp w4, w5\n"
	"	b.ne 27f\n"
	"26:	add w13, w13, #1\n"
	"	and w13, w13, #8191\n"
	"	subs w9, w9, #1\n"
	"	b.ne 25b\n"
	"	mov w3, #2\n" /* INPROC_ENDED */
	"	stlr w3, [x0]\n"
	"	b 33f\n"
	"27:	ldaxr x4, [x11]\n"
	"	cmp x4, x12\n"
	"	b.ne 25b\n"
	"	mov x5, #1\n"
	"	stxr w8, x5, [x11]\n"
	"	cbnz w8, 25b\n"
	"	str x2, [x11, #8]\n"
	"	str x17, [x11, #16]\n"
	"	str w7, [x11, #24]\n"
	"	stlr x10, [x11]\n"
	"	mov x11, x2\n"
	"	mov w9, #0\n"
	"	b 35f\n"
	"33:	add x1, x6, #80\n"
	"32:	ldxr x0, [x1]\n" /* records without a ring */
	"	add x0, x0, #1\n"
	"	stxr w2, x0, [x1]\n"
	"	cbnz w2, 32b\n"
	"34:	mov w9, #1\n"
	"35:	ldp x2, x3, [sp, #16]\n"
	"	ldp x4, x5, [sp, #32]\n"
	"	ldp x6, x7, [sp, #48]\n"
	"	ldp x8, x17, [sp, #64]\n"
	"	ldp x0, x1, [sp], #96\n"
	"	cbz w9, 4b\n"
	"	b 8b\n"

	/*
	 * The stretch is over, or the ring is full. The recorder may have read records meanwhile. If
	 * not, the reserved record is given back, unless a signal handler has reserved another one:
	 * then the recorder finds a record that is never written, and counts it as lost.
	 */
	"40:	ldr x9, [x11, #32]\n"
	"	cbz x9, 50f\n"
	"	mov w15, #2\n"
	"41:	add x13, x9, #64\n"
	"	ldar x13, [x13]\n"
	"	lsl x13, x13, #4\n"
	"	ldr x10, ispot_blob_small_from\n"
	"	cmp x9, x10\n"
	"	ldr x10, ispot_blob_ring_bytes\n"
	"	b.lo 49f\n"
	"	ldr x10, ispot_blob_small_bytes\n"
	"49:	add x13, x13, x10\n"
	"	str x13, [x11, #16]\n"
	"	cmp x12, x13\n"
	"	b.lo 45f\n"
	"	add x13, x11, #8\n"
	"	ldxr x10, [x13]\n"
	"	sub x10, x10, #16\n"
	"	cmp x10, x12\n"
	"	b.ne 42f\n"
	"	stxr w10, x12, [x13]\n"
	"	cbnz w10, 41b\n"

	"	mov x12, x9\n"
	"	mov w9, #1\n"
	"	bl 43f\n"
	"	add x13, x12, #16\n"
	"	b 51f\n"
	"42:	subs w15, w15, #1\n"
	"	b.ne 41b\n"
	"	b 8b\n"

	/* Adds w9 misses of an entry's function, and tells the recorder when it is to be passed.
	 * Changes x9, x10, x13, x15. */
	"43:	tbnz w16, #0, 44f\n"
	"	ldr x10, ispot_blob_misses_most\n"
	"	cbz x10, 44f\n"
	"	ubfx w13, w16, #1, #21\n"
	"	cmp w13, #4, lsl #12\n" /* INPROC_PASSED_IDS */
	"	b.hs 44f\n"
	"	add x15, x11, x13, lsl #1\n"
	"	ldrh w10, [x15, #64]\n"
	"	add w9, w9, w10\n"
	"	strh w9, [x15, #64]\n"
	"	ldr x10, ispot_blob_misses_most\n"
	"	cmp w9, w10\n"
	"	b.lo 44f\n"
	"	ldr x15, ispot_blob_region\n"
	"	lsr w9, w13, #5\n"
	"	add x15, x15, x9, lsl #2\n"
	"	add x15, x15, #2048\n" /* INPROC_PASSED_AT */
	"	mov w10, #1\n"
	"	lsl w10, w10, w13\n"
	"48:	ldxr w9, [x15]\n"
	"	orr w9, w9, w10\n"
	"	stxr w13, w9, [x15]\n"
	"	cbnz w13, 48b\n"
	"44:	ret\n"

	/* There is room. Begins the next stretch, and pays for it. x12 is the reserved position, x13
	 * where the ring is full, x15 the time. */
	"45:	ldr x10, ispot_blob_record_cost\n"
	"	cbz x10, 6b\n"
	"	mrs x15, cntvct_el0\n"
	"	mov w9, #0x79b1\n" /* the low bits of the clock may be in step */
	"	movk w9, #0x9e37, lsl #16\n"
	"	mul w9, w15, w9\n"
	"	lsr w9, w9, #26\n"
	"	add w9, w9, #33\n"
	"	mul x10, x9, x10\n"
	"	add x9, x12, x9, lsl #4\n"
	"	cmp x9, x13\n"
	"	csel x9, x9, x13, lo\n"
	"	str x9, [x11, #16]\n"
	"	ldr x9, [x11, #48]\n"
	"	str x15, [x11, #48]\n"
	"	ldr x13, [x11, #56]\n"
	"	cbnz x13, 46f\n"
	"	ldr x9, ispot_blob_credit_first\n"
	"	sub x13, x15, x9\n"
	"	b 47f\n"
	"46:	sub x9, x15, x9\n"
	"	add x13, x13, x9\n" /* the gap, unless it is short */
	"	ldr x9, ispot_blob_gap_most\n"
	"	sub x13, x13, x9\n"
	"	ldr x9, [x11, #56]\n"
	"	cmp x13, x9\n"
	"	csel x13, x13, x9, gt\n"
	"47:	ldr x9, ispot_blob_credit_most\n"
	"	sub x9, x15, x9\n"
	"	cmp x13, x9\n"
	"	csel x13, x13, x9, gt\n"
	"	add x13, x13, x10, lsr #8\n"
	"	str x13, [x11, #56]\n"
	"	cmp x13, x15\n"
	"	b.le 6b\n"
	"	tbnz w16, #0, 6b\n"
	"	mov w9, #64\n" /* BLOCK_STRETCH */
	"	tbz w16, #30, 49f\n" /* STUB_WAITS */
	"	mov w9, #8\n" /* BLOCK_STRETCH_WAITS */
	"49:	bl 43b\n"
	"	ldr x9, ispot_blob_misses_most\n"
	"	ubfx w13, w16, #1, #21\n"
	"	cbz x9, 6b\n"
	"	cmp w13, #4, lsl #12\n" /* INPROC_PASSED_IDS */
	"	b.hs 6b\n"
	"	add x10, x11, x13, lsl #1\n"
	"	ldrh w10, [x10, #64]\n"
	"	cmp w10, w9\n"
	"	b.lo 6b\n"
	"	mrs x15, cntvct_el0\n" /* a chance for the others */
	"	ldr x9, ispot_blob_credit_first\n"
	"	sub x15, x15, x9, lsr #4\n"
	"	str x15, [x11, #56]\n"
	/* the exit of this call passes already, so its entry has no record either */
	"	add x13, x11, #8\n"
	"52:	ldxr x10, [x13]\n"
	"	sub x10, x10, #16\n"
	"	cmp x10, x12\n"
	"	b.ne 6b\n"
	"	stxr w10, x12, [x13]\n"
	"	cbnz w10, 52b\n"
	"	b 8b\n"

	/*
	 * One call in several. x9 is the function's row, x10 its turn, w15 the stack pointer at the
	 * entry. Whatever a signal handler does in between, the counts of a row are right. TURN_TOP
	 * and TURN_DEPTH change together by one instruction. The handler's calls leave both as they
	 * were, and what they write to TURN_OPEN at a depth is what the interrupted code writes
	 * there: the same TURN_TOP.
	 */
	"60:	ubfx w12, w16, #1, #21\n"
	"	ldr x9, [x11, #40]\n"
	"	add x9, x9, x12, lsl #5\n"
	"	add x10, x11, x12, lsl #6\n"
	"	add x10, x10, #64\n"
	"	add x15, sp, #80\n"
	"	cbnz x14, 70f\n"
	"	ldr x12, [x11, #24]\n"
	"	cbz x12, 8b\n" /* wiped by a fork in a signal handler */
	"61:	ldxr x12, [x9]\n"
	"	add x12, x12, #1\n"
	"	stxr w13, x12, [x9]\n"
	"	cbnz w13, 61b\n"
	"	ldr x13, [x10]\n"
	"	cmp x12, x13\n"
	"	b.hs 80f\n"
	"62:	ldr w13, [x10, #12]\n"
	"	cmp w13, w15\n"
	"	b.ne 63f\n"
	/* An exception or longjmp() has left the recorded call with this stack pointer. Without this
	 * the exit of the call that begins here, which is not recorded, would count as its exit. */
	"	bl 90f\n"
	"	b 62b\n"
	"63:	ldr w13, [x10, #8]\n"
	"	cmp w13, w15\n"
	"	b.hi 64f\n"
	"	str w15, [x10, #8]\n"
	"	b 8b\n"
	"64:	add x9, x9, #16\n" /* inner */
	"65:	ldxr x12, [x9]\n"
	"	add x12, x12, #1\n"
	"	stxr w13, x12, [x9]\n"
	"	cbnz w13, 65b\n"
	"	b 8b\n"

	/* An exit: that of the recorded call that was entered last, of another one, or of the
	 * outermost. */
	"70:	ldr w13, [x10, #8]\n"
	"	cmp w13, w15\n"
	"	ldr w13, [x10, #12]\n"
	"	b.ne 71f\n"
	"	str wzr, [x10, #8]\n"
	"71:	cmp w13, w15\n"
	"	b.ne 8b\n"
	"	isb\n"
	"	mrs x14, cntvct_el0\n"
	"	bl 90f\n"
	"	b 9b\n"

	/* A call that is due to be recorded, or the first one of a function, for which none is drawn
	 * yet. x2 has the calls, x6 is INPROC_INNER or 0. */
	"80:	stp x0, x1, [sp, #-64]!\n"
	"	stp x2, x3, [sp, #16]\n"
	"	stp x4, x5, [sp, #32]\n"
	"	stp x6, x7, [sp, #48]\n"
	"	mov x6, #0\n"
	"	ldr w0, [x10, #8]\n"
	"	cmp w0, w15\n"
	"	b.hi 81f\n"
	"	str w15, [x10, #8]\n"
	"	b 82f\n"
	"81:	add x1, x9, #16\n"
	"	bl 95f\n"
	"	mov w6, #0x80000000\n"
	"82:	ldr x2, [x9]\n"
	"	ldr x0, [x10]\n"
	"	cbnz x0, 83f\n"
	"	sub x2, x2, #1\n" /* the first draw includes this call */
	"	bl 97f\n"
	"	add x2, x2, #1\n"
	"	ldr x0, [x10]\n"
	"	cmp x0, x2\n"
	"	b.hi 88f\n"
	/* Drops the open frames below this one, and one at the same stack pointer, which were left
	 * without an exit. */
	"83:	ldur x0, [x10, #12]\n" /* TURN_TOP, and TURN_DEPTH above it */
	"	lsr x3, x0, #32\n"
	"	add x4, x10, #24\n"
	"84:	cbz w3, 85f\n"
	"	cmp w0, w15\n"
	"	b.hi 85f\n"
	"	sub w3, w3, #1\n"
	"	ldr w0, [x4, x3, lsl #2]\n"
	"	b 84b\n"
	"85:	cmp w3, #10\n"
	"	b.hs 88f\n"
	"	str w0, [x4, x3, lsl #2]\n"
	"	cbz w3, 86f\n" /* the reader recognizes a call inside a recorded one */
	"	cbz w6, 86f\n"
	"	add x1, x9, #24\n"
	"	bl 95f\n"
	"	mov x6, #0\n"
	"86:	add w3, w3, #1\n"
	"	mov w0, w15\n"
	"	orr x0, x0, x3, lsl #32\n"
	"	stur x0, [x10, #12]\n"
	"	cbz w6, 87f\n"
	"	add x1, x9, #24\n"
	"	bl 95f\n"
	"87:	add x1, x9, #8\n"
	"	bl 95f\n"
	"	bl 97f\n"
	"	orr w16, w16, w6\n"
	"	mov x13, #1\n"
	"	b 89f\n"
	"88:	mov x13, #0\n"
	"89:	ldp x2, x3, [sp, #16]\n"
	"	ldp x4, x5, [sp, #32]\n"
	"	ldp x6, x7, [sp, #48]\n"
	"	ldp x0, x1, [sp], #64\n"
	"	cbz x13, 8b\n"
	"	b 9b\n"

	/* Takes out the recorded call that was entered last. Changes x12, x13. */
	"90:	ldr w12, [x10, #16]\n"
	"	cbz w12, 91f\n"
	"	sub w12, w12, #1\n"
	"	add x13, x10, #24\n"
	"	ldr w13, [x13, x12, lsl #2]\n"
	"	orr x13, x13, x12, lsl #32\n"
	"	stur x13, [x10, #12]\n"
	"	ret\n"
	"91:	str wzr, [x10, #12]\n"
	"	ret\n"

	/* Adds one to the count at x1. Changes x5, x7. */
	"95:	ldxr x5, [x1]\n"
	"	add x5, x5, #1\n"
	"	stxr w7, x5, [x1]\n"
	"	cbnz w7, 95b\n"
	"	ret\n"

	/* Draws the call that is recorded next: one of the N calls that follow call x2 and the rest
	 * of its N. Changes x0, x1, x5, x7. */
	"97:	mov x0, #0x7f2d\n"
	"	movk x0, #0x4c95, lsl #16\n"
	"	movk x0, #0xf42d, lsl #32\n"
	"	movk x0, #0x5851, lsl #48\n"
	"	ldr x1, [x11, #48]\n"
	"	mul x0, x0, x1\n"
	"	mrs x1, cntvct_el0\n"
	"	add x0, x0, x1, lsl #1\n"
	"	orr x0, x0, #1\n"
	"	str x0, [x11, #48]\n"
	"	lsr x0, x0, #32\n"
	"	ldr x5, ispot_blob_period\n"
	"	mul x0, x0, x5\n"
	"	lsr x0, x0, #32\n" /* index among the N calls */
	"	ldr w1, [x10, #20]\n"
	"	add x7, x2, #1\n"
	"	add x7, x7, x1\n"
	"	add x7, x7, x0\n"
	"	str x7, [x10]\n"
	"	sub w1, w5, #1\n"
	"	sub w1, w1, w0\n"
	"	str w1, [x10, #20]\n"
	"	ret\n"

	/*
	 * Writes the values of the record whose position is x12, unless only some calls have them.
	 * The records of all of them are reserved by one instruction, if the ring has room, so they
	 * follow each other whatever a signal handler does. x13 is the record's ring, before and
	 * after; in between it is a position, x17 the ring, w15 the bytes that are reserved.
	 */
	"100:	tbz w16, #29, 101f\n" /* STUB_SOMETIMES */
	"	lsr x9, x12, #16\n"   /* STUB_ALWAYS_BELOW */
	"	cbz x9, 101f\n"
	"	mov w9, #0x79b1\n"
	"	movk w9, #0x9e37, lsl #16\n"
	"	mul w9, w12, w9\n"
	"	mul w9, w9, w9\n"
	"	lsr w9, w9, #28\n"
	"	cbnz w9, 10b\n"
	"101:	str x17, [sp, #-16]!\n"
	"	ubfx w10, w16, #22, #7\n"
	"	mov x15, #0\n"
	"102:	sub w9, w10, #1\n"
	"	ands w10, w10, w9\n"
	"	add x15, x15, #16\n"
	"	b.ne 102b\n"
	"103:	ldr x17, [x11, #16]\n"
	"107:	add x9, x11, #8\n"
	"	ldxr x13, [x9]\n"
	"	add x10, x13, x15\n"
	"	cmp x10, x17\n"
	"	b.hi 104f\n"
	"	stxr w17, x10, [x9]\n"
	"	cbnz w17, 103b\n"
	"	ldr x17, [x11, #24]\n"
	"	cbz x17, 109f\n" /* wiped by a fork in a signal handler */
	VALUE(0, 0) VALUE(1, 1) VALUE(2, 2) VALUE(3, 3) VALUE(4, 4) VALUE(5, 5)
	"	tbz w16, #28, 109f\n" /* INPROC_RETURNED, INPROC_CALLER */
	"	mov w15, #(0x40000000|6<<22)\n"
	"	mov x9, x0\n"
	"	tbnz w16, #0, 108f\n" /* an exit */
	"	ldr x9, [sp, #88]\n"  /* x30, which the stub has saved */
	"108:	bl 105f\n"
	"	b 109f\n"
	"104:	ldr x17, [x11, #32]\n"
	"	cbz x17, 109f\n"
	"	ldr x9, ispot_blob_small_from\n"
	"	cmp x17, x9\n"
	"	add x17, x17, #64\n"
	"	ldar x17, [x17]\n" /* the recorder may have read records */
	"	lsl x17, x17, #4\n"
	"	ldr x9, ispot_blob_ring_bytes\n"
	"	b.lo 110f\n"
	"	ldr x9, ispot_blob_small_bytes\n"
	"110:	add x17, x17, x9\n"
	"	cmp x10, x17\n"
	"	b.ls 107b\n"
	"109:	ldr x17, [sp], #16\n"
	"	ldr x13, [x11, #24]\n"
	"	cbz x13, 8b\n"
	"	b 10b\n"
	/* Writes one record, of the value in x9. w15 is INPROC_VALUE and which value it is. */
	"105:	bfxil w15, w16, #0, #22\n"
	"	ldr x10, ispot_blob_ring_bytes\n"
	"	sub x10, x10, #1\n"
	"	and x10, x13, x10\n"
	"	add x10, x17, x10\n"
	"	str w15, [x10, #8]\n"
	"	lsr x15, x9, #32\n"
	"	str w15, [x10, #12]\n"
	"	add x15, sp, #96\n"
	"	orr x15, x15, #1\n"
	"	mov w15, w15\n"
	"	bfi x15, x9, #32, #32\n"
	"	stlr x15, [x10]\n"
	"	add x13, x13, #16\n"
	"	ret\n"

	/* Counts a record as lost: one of no slot, or one of the slot. */
	"50:	ldr x13, ispot_blob_region\n"
	"	add x13, x13, #80\n"
	"51:	ldxr x10, [x13]\n"
	"	add x10, x10, #1\n"
	"	stxr w12, x10, [x13]\n"
	"	cbnz w12, 51b\n"
	"	b 8b\n"
	"ispot_blob_end:\n"
	".popsection\n");

/* clang-format on */

/* Hidden: labels of the assembler have no entries of their own in the global offset table. */
#define LABEL(name) extern __attribute__((visibility("hidden"))) const char name[]

LABEL(ispot_blob_start);
LABEL(ispot_blob_enter);
LABEL(ispot_blob_leave);
LABEL(ispot_blob_end);

struct blob blob_get(void)
{
	return (struct blob){ .code = ispot_blob_start,
			      .bytes = (size_t)(ispot_blob_end - ispot_blob_start),
			      .enter = (size_t)(ispot_blob_enter - ispot_blob_start),
			      .leave = (size_t)(ispot_blob_leave - ispot_blob_start) };
}

uint64_t blob_table_bytes(void)
{
	return THREADTABLE_BYTES;
}

#endif
