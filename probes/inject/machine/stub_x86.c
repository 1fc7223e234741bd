// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef __aarch64__ /* on others it is never run */
#include "probes/inject/machine/stub.h"

#include <stdlib.h>
#include <string.h>

#include "probes/inject/machine/blob.h"
#include "probes/inproc/inproc.h"

#define REL8_BYTES 2

#define EMIT(c, ...) \
	stub_emit(c, (const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))

static void emit_u32(struct stub_code *c, uint32_t value)
{
	stub_emit(c, &value, sizeof(value));
}

void stub_emit_jump(struct stub_code *c, uint64_t to)
{
	EMIT(c, 0xe9);
	emit_u32(c, (uint32_t)(to - (c->address + c->n + sizeof(uint32_t))));
}

/* Emits a short forward branch to a target that is not known yet. Returns where its distance is. */
static size_t emit_branch(struct stub_code *c, uint8_t opcode)
{
	EMIT(c, opcode, 0);
	return c->n - 1;
}

static void resolve_branch(struct stub_code *c, size_t distance_at)
{
	const size_t distance = c->n - distance_at - 1;

	if (distance > INT8_MAX)
		abort();
	c->bytes[distance_at] = (uint8_t)distance;
}

/* Emits a short backward branch. */
static void emit_branch_back(struct stub_code *c, uint8_t opcode, size_t to)
{
	EMIT(c, opcode, (uint8_t)(to - (c->n + REL8_BYTES)));
}

enum { JB = 0x72, JAE = 0x73, JE = 0x74, JNE = 0x75, JMP = 0xeb };

/* Emits a call of a blob's routine that does not use the stack: the routine returns to the address
 * in %r11, which is that after the jump. */
static void emit_blob_call(struct stub_code *c, uint64_t blob)
{
	EMIT(c, 0x4c, 0x8d, 0x1d); /* lea 5(%rip), %r11 */
	emit_u32(c, 5);
	stub_emit_jump(c, blob);
}

enum { NEAR_JB = 0x82, NEAR_JAE = 0x83, NEAR_JE = 0x84, NEAR_JNE = 0x85, NEAR_JA = 0x87 };

#define GS_DISP 0x25 /* SIB byte: a 32-bit address follows */

/* Emits a forward branch of any distance to a target that is not known yet. Returns where its
 * distance is. */
static size_t emit_near_branch(struct stub_code *c, uint8_t condition)
{
	EMIT(c, 0x0f, condition);
	emit_u32(c, 0);
	return c->n - sizeof(uint32_t);
}

/* The same for a jump. */
static size_t emit_near_jump(struct stub_code *c)
{
	EMIT(c, 0xe9);
	emit_u32(c, 0);
	return c->n - sizeof(uint32_t);
}

static void resolve_near_branch(struct stub_code *c, size_t distance_at)
{
	const uint32_t distance = (uint32_t)(c->n - distance_at - sizeof(uint32_t));

	if (distance_at + sizeof(distance) <= c->room)
		memcpy(c->bytes + distance_at, &distance, sizeof(distance));
}

static void emit_near_branch_back(struct stub_code *c, uint8_t condition, size_t to)
{
	EMIT(c, 0x0f, condition);
	emit_u32(c, (uint32_t)(to - c->n - sizeof(uint32_t)));
}

#define SAVE_RAX    0x48, 0x89, 0x44, 0x24, 0xf8
#define SAVE_RDX    0x48, 0x89, 0x54, 0x24, 0xf0
#define SAVE_R11    0x4c, 0x89, 0x5c, 0x24, 0xe8
#define SAVE_RCX    0x48, 0x89, 0x4c, 0x24, 0xe0
#define RESTORE_RAX 0x48, 0x8b, 0x44, 0x24, 0xf8
#define RESTORE_RDX 0x48, 0x8b, 0x54, 0x24, 0xf0
#define RESTORE_R11 0x4c, 0x8b, 0x5c, 0x24, 0xe8
#define RESTORE_RCX 0x48, 0x8b, 0x4c, 0x24, 0xe0
#define JOIN_CLOCK  0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0 /* shl $32, %rdx; or %rdx, %rax */
#define COMMIT	    0x49, 0x89, 0x03			     /* mov %rax, (%r11) */

static void emit_load_sp(struct stub_code *c, int32_t sp)
{
	EMIT(c, 0x8d, 0x94, 0x24); /* lea sp(%rsp), %edx */
	emit_u32(c, (uint32_t)sp);
}

static bool may_pass(const struct stub_facts *f, uint32_t id)
{
	return f->miss && id < INPROC_PASSED_IDS;
}

/*
 * Emits a branch that is taken if the thread passes the calls of the function. Returns where its
 * distance is, or 0 if the function is never given up. It comes first, and so costs a nanosecond. A
 * thread that has no block of its own yet passes what the thread passes that has started it.
 */
static size_t emit_pass(struct stub_code *c, const struct stub_facts *f, uint32_t id)
{
	if (!may_pass(f, id))
		return 0;
	EMIT(c, 0x65, 0x80, 0x3c, GS_DISP); /* cmpb $(BLOCK_MISSES_MOST >> 8), %gs:misses + 1 */
	emit_u32(c, BLOCK_BYTES + id * BLOCK_MISS_BYTES + 1);
	EMIT(c, BLOCK_MISSES_MOST >> 8);
	return emit_near_branch(c, NEAR_JAE);
}

/* Positions in the beginning of a stub that its end refers to. */
struct rest {
	size_t retry, got;	  /* positions to go back to */
	size_t claim, full, none; /* branches that go to the end */
	/* near branches to where values are recorded, and the position to go back to; 0: none */
	size_t values, first_values, valued;
	const uint8_t *load_base, *test_base; /* code that is repeated there */
};

/* The values that a stub records behind its record. */
struct wanted {
	uint32_t values; /* bits as in `what`; 0: none */
	uint32_t what;	 /* of the record */
	int32_t sp;
	bool sometimes;
	bool has_rcx; /* the stub has saved %rcx before */
};

static void emit_load_base(struct stub_code *c, const struct rest *r)
{
	stub_emit(c, r->load_base, 9);
	stub_emit(c, r->test_base, 3);
}

/* Emits code that leaves the reserved position in %r11, and BLOCK_BASE in the register that
 * load_base names. */
static void emit_reserve(struct stub_code *c, struct rest *r, const uint8_t load_base[9],
			 const uint8_t test_base[3])
{
	r->load_base = load_base;
	r->test_base = test_base;
	r->retry = c->n;
	EMIT(c, 0x64, 0x48, 0x8b, 0x14, 0x25, 0, 0, 0, 0);	   /* mov %fs:0, %rdx */
	EMIT(c, 0x65, 0x48, 0x3b, 0x14, 0x25, BLOCK_KEY, 0, 0, 0); /* cmp %gs:KEY, %rdx */
	r->claim = emit_near_branch(c, NEAR_JNE);
	EMIT(c, 0x41, 0xbb, 16, 0, 0, 0);				 /* mov $16, %r11d */
	EMIT(c, 0x65, 0x4c, 0x0f, 0xc1, 0x1c, 0x25, BLOCK_POS, 0, 0, 0); /* xadd %r11, %gs:POS */
	EMIT(c, 0x65, 0x4c, 0x3b, 0x1c, 0x25, BLOCK_LIMIT, 0, 0, 0);	 /* cmp %gs:LIMIT, %r11 */
	r->full = emit_near_branch(c, NEAR_JAE);
	r->got = c->n;
	emit_load_base(c, r);
	r->none = emit_near_branch(c, NEAR_JE);
}

/* Emits a branch that is taken if the values of the call are recorded, as its record's position
 * decides (stub.h). %r11 has the position, and %rdx is free. */
static void emit_values_branch(struct stub_code *c, const struct wanted *w, struct rest *r)
{
	r->values = r->first_values = r->valued = 0;
	if (!w->values)
		return;
	if (w->sometimes) {
		EMIT(c, 0x49, 0x81, 0xfb); /* cmp $STUB_ALWAYS_BELOW, %r11 */
		emit_u32(c, STUB_ALWAYS_BELOW);
		r->first_values = emit_near_branch(c, NEAR_JB);
		EMIT(c, 0x41, 0x69, 0xd3); /* imul $STUB_SOMETIMES_FACTOR, %r11d, %edx */
		emit_u32(c, STUB_SOMETIMES_FACTOR);
		EMIT(c, 0x0f, 0xaf, 0xd2); /* imul %edx, %edx */
		EMIT(c, 0x81, 0xfa);	   /* cmp $STUB_SOMETIMES_BELOW, %edx */
		emit_u32(c, STUB_SOMETIMES_BELOW);
		r->values = emit_near_branch(c, NEAR_JB);
	} else {
		r->values = emit_near_jump(c);
	}
	r->valued = c->n;
}

/* Emits the code to which that branch leads. A signal handler may have forked meanwhile, so the
 * base is loaded again; the fork's copy of the call goes on at skip, without a record. */
static void emit_values(struct stub_code *c, const struct stub_facts *f, const struct wanted *w,
			const struct rest *r, size_t skip)
{
	if (!r->values)
		return;
	resolve_near_branch(c, r->values);
	if (r->first_values)
		resolve_near_branch(c, r->first_values);
	EMIT(c, 0x4c, 0x89, 0x5c, 0x24, 0xd8); /* mov %r11, -40(%rsp) */
	EMIT(c, 0x48, 0x89, 0x4c, 0x24, 0xd0); /* mov %rcx, -48(%rsp) */
	if (!w->has_rcx)
		EMIT(c, SAVE_RCX);
	EMIT(c, 0xb9); /* mov $what, %ecx */
	emit_u32(c, w->what | w->values << INPROC_VALUE_SHIFT |
			    (uint32_t)__builtin_popcount(w->values) << INPROC_COUNT_SHIFT);
	emit_load_sp(c, w->sp);
	emit_blob_call(c, f->values);
	EMIT(c, 0x4c, 0x8b, 0x5c, 0x24, 0xd8); /* mov -40(%rsp), %r11 */
	EMIT(c, 0x48, 0x8b, 0x4c, 0x24, 0xd0); /* mov -48(%rsp), %rcx */
	emit_load_base(c, r);
	emit_near_branch_back(c, NEAR_JNE, r->valued);
	stub_emit_jump(c, c->address + skip);
}

/* Lets the branches that record nothing lead here. passes: 0 if there is none. */
static void resolve_passed(struct stub_code *c, size_t over, size_t passes)
{
	resolve_near_branch(c, over);
	if (passes)
		resolve_near_branch(c, passes);
}

/* Emits the seldom used code below the stub's end: the first record, and a full ring. %rdx is free
 * there, and %rax at an entry. */
static void emit_rest(struct stub_code *c, const struct stub_facts *f, const struct rest *r,
		      const struct stub_entry *entry, size_t skip)
{
	const bool may_miss = entry && may_pass(f, entry->id);

	resolve_near_branch(c, r->claim);
	emit_blob_call(c, f->claim);
	emit_branch_back(c, JB, skip);
	stub_emit_jump(c, c->address + r->retry);
	resolve_near_branch(c, r->full);
	EMIT(c, 0x4c, 0x89, 0xda); /* mov %r11, %rdx */
	if (may_miss) {
		EMIT(c, 0xb8); /* mov $id, %eax */
		emit_u32(c, entry->id | (entry->waits ? BLOB_WAITS : 0));
	}
	emit_blob_call(c, may_miss ? f->miss : f->full);
	emit_branch_back(c, JB, skip);
	EMIT(c, 0x49, 0x89, 0xd3); /* mov %rdx, %r11 */
	stub_emit_jump(c, c->address + r->got);
}

static void emit_record_address(struct stub_code *c, const struct stub_facts *f,
				uint8_t add_base_modrm)
{
	EMIT(c, 0x41, 0x81, 0xe3); /* and $(ring_bytes - 1), %r11d */
	emit_u32(c, f->ring_bytes - 1);
	EMIT(c, 0x49, 0x01, add_base_modrm); /* add base, %r11 */
}

static void emit_record_fields(struct stub_code *c, uint32_t what, int32_t sp)
{
	EMIT(c, 0x41, 0xc7, 0x43, 0x08); /* movl $what, 8(%r11) */
	emit_u32(c, what);
	emit_load_sp(c, sp);
	EMIT(c, 0x41, 0x89, 0x53, 0x0c); /* mov %edx, 12(%r11) */
}

#define RED_ZONE    128
#define FLAGS_BYTES 8

/* Returns how far the stack pointer moves down. */
static int32_t emit_save(struct stub_code *c, const struct stub_entry *e)
{
	if (!e->saves_flags && !e->saves_red_zone)
		return 0;
	EMIT(c, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea -128(%rsp), %rsp */
	if (!e->saves_flags)
		return RED_ZONE;
	EMIT(c, 0x9c); /* pushfq */
	return RED_ZONE + FLAGS_BYTES;
}

static void emit_restore(struct stub_code *c, const struct stub_entry *e)
{
	if (e->saves_flags)
		EMIT(c, 0x9d); /* popfq */
	if (e->saves_flags || e->saves_red_zone)
		EMIT(c, 0x48, 0x8d, 0xa4, 0x24, RED_ZONE, 0, 0, 0); /* lea 128(%rsp), %rsp */
}

void stub_emit_entry(struct stub_code *c, const struct stub_facts *f, const struct stub_entry *e)
{
	static const uint8_t load_base[] = { 0x65, 0x48, 0x8b, 0x04, 0x25, BLOCK_BASE, 0, 0, 0 },
			     test_base[] = { 0x48, 0x85, 0xc0 }; /* %rax */
	const int32_t down = emit_save(c, e);
	const struct wanted wanted = { .values = e->values,
				       .what = e->id << 1,
				       .sp = e->sp + down,
				       .sometimes = e->sometimes };
	const size_t passes = emit_pass(c, f, e->id);
	struct rest rest;
	size_t skip, over;

	EMIT(c, SAVE_RAX, SAVE_RDX, SAVE_R11);
	emit_reserve(c, &rest, load_base, test_base);
	emit_values_branch(c, &wanted, &rest);
	emit_record_address(c, f, 0xc3); /* %rax */
	emit_record_fields(c, wanted.what, wanted.sp);
	EMIT(c, 0x0f, 0x31); /* rdtsc, as late as possible */
	EMIT(c, JOIN_CLOCK, COMMIT);
	resolve_near_branch(c, rest.none);
	skip = c->n;
	EMIT(c, RESTORE_RAX, RESTORE_RDX, RESTORE_R11);
	over = emit_near_jump(c);
	emit_rest(c, f, &rest, e, skip);
	emit_values(c, f, &wanted, &rest, skip);
	resolve_passed(c, over, passes);
	emit_restore(c, e);
}

static struct wanted exit_values(uint32_t id, int32_t sp, bool returns)
{
	return (struct wanted){ .values = returns ? 1u << INPROC_RETURNED : 0,
				.what = id << 1 | 1,
				.sp = sp,
				.has_rcx = true };
}

/* rdtscp waits for the loads before it, which are the function's. */
void stub_emit_exit(struct stub_code *c, const struct stub_facts *f, uint32_t id, int32_t sp,
		    bool returns)
{
	static const uint8_t load_base[] = { 0x65, 0x48, 0x8b, 0x0c, 0x25, BLOCK_BASE, 0, 0, 0 },
			     test_base[] = { 0x48, 0x85, 0xc9 }; /* %rcx */
	const struct wanted wanted = exit_values(id, sp, returns);
	const size_t passes = emit_pass(c, f, id);
	struct rest rest;
	size_t skip, over;

	EMIT(c, SAVE_RAX, SAVE_RDX, SAVE_R11, SAVE_RCX);
	EMIT(c, 0x0f, 0x01, 0xf9); /* rdtscp */
	EMIT(c, JOIN_CLOCK);
	emit_reserve(c, &rest, load_base, test_base);
	emit_values_branch(c, &wanted, &rest);
	emit_record_address(c, f, 0xcb); /* %rcx */
	emit_record_fields(c, wanted.what, sp);
	EMIT(c, COMMIT);
	resolve_near_branch(c, rest.none);
	skip = c->n;
	EMIT(c, RESTORE_RAX, RESTORE_RDX, RESTORE_R11, RESTORE_RCX);
	over = emit_near_jump(c);
	emit_rest(c, f, &rest, NULL, skip);
	emit_values(c, f, &wanted, &rest, skip);
	resolve_passed(c, over, passes);
}

/* ---- one call in several ---- */

#define GS_WORD	 0x65, 0x48
#define GS_HALF	 0x65
#define GATE_SP	 0x24 /* ModRM byte: %esp or %rsp, and an SIB byte */
#define GATE_RDX 0x14

/* Offsets in a block and in its rows fit the 32 bits of an address for all ids. */
static uint32_t turn_at(uint32_t id, unsigned field)
{
	return BLOCK_BYTES + id * TURN_BYTES + field;
}

static uint32_t row_at(uint32_t id, size_t field)
{
	return (uint32_t)(id * sizeof(struct inproc_row) + field);
}

/* Emits code that leaves the address of the rows in %rdx, and the flags unchanged. */
static void emit_load_rows(struct stub_code *c)
{
	EMIT(c, GS_WORD, 0x8b, GATE_RDX, GS_DISP); /* mov %gs:ROWS, %rdx */
	emit_u32(c, BLOCK_ROWS);
}

static void emit_increment(struct stub_code *c, uint32_t row)
{
	EMIT(c, 0x48, 0xff, 0x82); /* incq row(%rdx) */
	emit_u32(c, row);
}

static int32_t saved_bytes(const struct stub_entry *e)
{
	return e->saves_flags ? RED_ZONE + FLAGS_BYTES : e->saves_red_zone ? RED_ZONE : 0;
}

/* A signal handler may call the function between any two of these instructions. Then the handler's
 * calls are counted, too, and this call is perhaps recorded a turn later. */
void stub_emit_entry_gate(struct stub_code *c, const struct stub_entry *e, struct stub_gate *g)
{
	const int32_t down = emit_save(c, e);

	EMIT(c, SAVE_RDX);
	g->retry = c->n;
	EMIT(c, 0x64, 0x48, 0x8b, 0x14, 0x25, 0, 0, 0, 0);	   /* mov %fs:0, %rdx */
	EMIT(c, 0x65, 0x48, 0x3b, 0x14, 0x25, BLOCK_KEY, 0, 0, 0); /* cmp %gs:KEY, %rdx */
	g->claim = emit_near_branch(c, NEAR_JNE);
	emit_load_rows(c);
	emit_increment(c, row_at(e->id, offsetof(struct inproc_row, calls)));
	EMIT(c, 0x48, 0x8b, 0x92); /* mov row(%rdx), %rdx */
	emit_u32(c, row_at(e->id, offsetof(struct inproc_row, calls)));
	EMIT(c, GS_WORD, 0x3b, GATE_RDX, GS_DISP); /* cmp %gs:NEXT, %rdx */
	emit_u32(c, turn_at(e->id, TURN_NEXT));
	g->due = emit_near_branch(c, NEAR_JAE);
	g->passes = c->n;
	emit_load_sp(c, e->sp + down);
	EMIT(c, GS_HALF, 0x39, GATE_RDX, GS_DISP); /* cmp %edx, %gs:TOP */
	emit_u32(c, turn_at(e->id, TURN_TOP));
	g->left = emit_near_branch(c, NEAR_JE);
	EMIT(c, GS_HALF, 0x39, GATE_RDX, GS_DISP); /* cmp %edx, %gs:OUTER */
	emit_u32(c, turn_at(e->id, TURN_OUTER));
	g->inner = emit_near_branch(c, NEAR_JA);
	EMIT(c, GS_HALF, 0x89, GATE_RDX, GS_DISP); /* mov %edx, %gs:OUTER */
	emit_u32(c, turn_at(e->id, TURN_OUTER));
	g->back = c->n;
	EMIT(c, RESTORE_RDX);
	emit_restore(c, e);
}

/* A thread without a slot claims one and starts again. If there is no slot, its call is lost. */
static void emit_gate_claim(struct stub_code *c, const struct stub_facts *f,
			    const struct stub_gate *g)
{
	resolve_near_branch(c, g->claim);
	EMIT(c, SAVE_R11);
	emit_blob_call(c, f->claim);
	EMIT(c, RESTORE_R11);
	emit_near_branch_back(c, NEAR_JB, g->back);
	stub_emit_jump(c, c->address + g->retry);
}

static void emit_gate_inner(struct stub_code *c, uint32_t id, const struct stub_gate *g)
{
	resolve_near_branch(c, g->inner);
	emit_load_rows(c);
	emit_increment(c, row_at(id, offsetof(struct inproc_row, inner)));
	stub_emit_jump(c, c->address + g->back);
}

static void emit_turn_call(struct stub_code *c, uint64_t blob, uint32_t id, int32_t sp)
{
	EMIT(c, 0xb9); /* mov $id, %ecx */
	emit_u32(c, id);
	emit_load_sp(c, sp);
	emit_blob_call(c, blob);
}

/* An exception or longjmp() has left the recorded call with this stack pointer. Without this the
 * exit of the call that begins here, which is not recorded, would count as its exit. */
static void emit_gate_left(struct stub_code *c, const struct stub_facts *f, uint32_t id, int32_t sp,
			   const struct stub_gate *g)
{
	resolve_near_branch(c, g->left);
	EMIT(c, SAVE_R11, SAVE_RCX);
	emit_turn_call(c, f->end, id, sp);
	EMIT(c, RESTORE_R11, RESTORE_RCX);
	stub_emit_jump(c, c->address + g->passes);
}

void stub_emit_entry_rest(struct stub_code *c, const struct stub_facts *f,
			  const struct stub_entry *e, const struct stub_gate *g)
{
	static const uint8_t load_base[] = { 0x65, 0x48, 0x8b, 0x04, 0x25, BLOCK_BASE, 0, 0, 0 },
			     test_base[] = { 0x48, 0x85, 0xc0 }; /* %rax */
	const int32_t sp = e->sp + saved_bytes(e);
	const struct wanted wanted = {
		.values = e->values, .what = e->id << 1, .sp = sp, .has_rcx = true
	};
	struct rest rest;
	size_t skip, none;

	emit_gate_claim(c, f, g);
	emit_gate_inner(c, e->id, g);
	emit_gate_left(c, f, e->id, sp, g);
	resolve_near_branch(c, g->due);
	EMIT(c, SAVE_RAX, SAVE_R11, SAVE_RCX);
	emit_turn_call(c, f->begin, e->id, sp);
	none = emit_near_branch(c, NEAR_JB);
	emit_reserve(c, &rest, load_base, test_base);
	emit_values_branch(c, &wanted, &rest);
	emit_record_address(c, f, 0xc3); /* %rax */
	emit_record_fields(c, wanted.what, sp);
	EMIT(c, 0x41, 0x09, 0x4b, 0x08); /* or %ecx, 8(%r11): INPROC_INNER or not */
	EMIT(c, 0x0f, 0x31);		 /* rdtsc, as late as possible */
	EMIT(c, JOIN_CLOCK, COMMIT);
	resolve_near_branch(c, rest.none);
	resolve_near_branch(c, none);
	skip = c->n;
	EMIT(c, RESTORE_RAX, RESTORE_R11, RESTORE_RCX);
	stub_emit_jump(c, c->address + g->back);
	emit_rest(c, f, &rest, NULL, skip);
	emit_values(c, f, &wanted, &rest, skip);
}

void stub_emit_exit_gate(struct stub_code *c, uint32_t id, struct stub_gate *g)
{
	size_t over;

	EMIT(c, GS_HALF, 0x39, GATE_SP, GS_DISP); /* cmp %esp, %gs:TOP */
	emit_u32(c, turn_at(id, TURN_TOP));
	g->due = emit_near_branch(c, NEAR_JE);
	g->back = c->n;
	EMIT(c, GS_HALF, 0x39, GATE_SP, GS_DISP); /* cmp %esp, %gs:OUTER */
	emit_u32(c, turn_at(id, TURN_OUTER));
	over = emit_branch(c, JNE);
	EMIT(c, GS_HALF, 0xc7, 0x04, GS_DISP); /* movl $0, %gs:OUTER */
	emit_u32(c, turn_at(id, TURN_OUTER));
	emit_u32(c, 0);
	resolve_branch(c, over);
}

void stub_emit_exit_rest(struct stub_code *c, const struct stub_facts *f, uint32_t id, bool returns,
			 const struct stub_gate *g)
{
	static const uint8_t load_base[] = { 0x65, 0x48, 0x8b, 0x0c, 0x25, BLOCK_BASE, 0, 0, 0 },
			     test_base[] = { 0x48, 0x85, 0xc9 }; /* %rcx */
	const struct wanted wanted = exit_values(id, 0, returns);
	struct rest rest;
	size_t skip;

	resolve_near_branch(c, g->due);
	EMIT(c, SAVE_RAX, SAVE_RDX, SAVE_R11, SAVE_RCX);
	EMIT(c, 0x0f, 0x01, 0xf9); /* rdtscp */
	EMIT(c, JOIN_CLOCK);
	emit_turn_call(c, f->end, id, 0);
	emit_reserve(c, &rest, load_base, test_base);
	emit_values_branch(c, &wanted, &rest);
	emit_record_address(c, f, 0xcb); /* %rcx */
	emit_record_fields(c, wanted.what, 0);
	EMIT(c, COMMIT);
	resolve_near_branch(c, rest.none);
	skip = c->n;
	EMIT(c, RESTORE_RAX, RESTORE_RDX, RESTORE_R11, RESTORE_RCX);
	stub_emit_jump(c, c->address + g->back);
	emit_rest(c, f, &rest, NULL, skip);
	emit_values(c, f, &wanted, &rest, skip);
}

/* ---- a site ---- */

void stub_emit_site_entry(struct stub_code *c, struct stub_site *s)
{
	if (s->is_entry && s->is_sampled)
		stub_emit_entry_gate(c, &s->entry, &s->in);
	else if (s->is_entry)
		stub_emit_entry(c, s->facts, &s->entry);
}

void stub_emit_site_exit(struct stub_code *c, struct stub_site *s)
{
	if (s->is_exit && s->is_sampled)
		stub_emit_exit_gate(c, s->entry.id, &s->out);
	else if (s->is_exit)
		stub_emit_exit(c, s->facts, s->entry.id, 0, s->returns);
}

void stub_emit_site_rest(struct stub_code *c, const struct stub_site *s)
{
	if (s->is_entry && s->is_sampled)
		stub_emit_entry_rest(c, s->facts, &s->entry, &s->in);
	if (s->is_exit && s->is_sampled)
		stub_emit_exit_rest(c, s->facts, s->entry.id, s->returns, &s->out);
}

void stub_emit_nop(struct stub_code *c)
{
	EMIT(c, 0x0f, 0x1f, 0x44, 0x00, 0x00);
}

void stub_emit_return(struct stub_code *c)
{
	EMIT(c, 0xc3);
}

/* ---- jumps that were written ---- */

enum { JUMP = 0xe9, SHORT_JUMP = 0xeb, BREAKPOINT = 0xcc, JUMP_BYTES = 5, SHORT_BYTES = 2 };

uint64_t stub_jump_goal(uint64_t at, const uint8_t *jump, size_t n)
{
	int32_t distance = (int8_t)jump[1];

	if (n == JUMP_BYTES)
		memcpy(&distance, jump + 1, sizeof(distance));
	if (!(n == JUMP_BYTES && *jump == JUMP) && !(n == SHORT_BYTES && *jump == SHORT_JUMP))
		return 0;
	return at + n + (uint64_t)(int64_t)distance;
}

size_t stub_breakpoint_bytes(const uint8_t *code)
{
	return *code == BREAKPOINT;
}

#endif
