// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/stub.h"

#include <stdlib.h>
#include <string.h>

#include "probes/inject/blob.h"
#include "probes/inproc/inproc.h"

#define REL8_BYTES 2

void stub_put(struct stub_code *c, const void *bytes, size_t n)
{
	if (n > c->room - c->n)
		n = c->room - c->n;
	memcpy(c->bytes + c->n, bytes, n);
	c->n += n;
}

#define PUT(c, ...) \
	stub_put(c, (const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))

static void put_u32(struct stub_code *c, uint32_t value)
{
	stub_put(c, &value, sizeof(value));
}

void stub_jump(struct stub_code *c, uint64_t to)
{
	PUT(c, 0xe9);
	put_u32(c, (uint32_t)(to - (c->address + c->n + sizeof(uint32_t))));
}

/* Emits a short forward branch to a target that is not known yet. Returns where its distance is. */
static size_t put_branch(struct stub_code *c, uint8_t opcode)
{
	PUT(c, opcode, 0);
	return c->n - 1;
}

static void put_goal(struct stub_code *c, size_t distance_at)
{
	const size_t distance = c->n - distance_at - 1;

	if (distance > INT8_MAX)
		abort();
	c->bytes[distance_at] = (uint8_t)distance;
}

/* Emits a short backward branch. */
static void put_back(struct stub_code *c, uint8_t opcode, size_t to)
{
	PUT(c, opcode, (uint8_t)(to - (c->n + REL8_BYTES)));
}

enum { JB = 0x72, JAE = 0x73, JE = 0x74, JNE = 0x75, JMP = 0xeb };

/* Calls a routine of the blob without the stack: the routine returns to the address in %r11, which
 * is that after the jump. */
static void put_call(struct stub_code *c, uint64_t blob)
{
	PUT(c, 0x4c, 0x8d, 0x1d); /* lea 5(%rip), %r11 */
	put_u32(c, 5);
	stub_jump(c, blob);
}

/* What the end of a stub needs to know of its beginning. */
struct rest {
	size_t retry, got;	  /* positions to go back to */
	size_t claim, full, none; /* branches that go to the end */
};

/* Emits code that leaves the reserved position in %r11, and BLOCK_BASE in the register that
 * load_base names. */
static void put_reserve(struct stub_code *c, struct rest *r, const uint8_t load_base[9],
			const uint8_t test_base[3])
{
	r->retry = c->n;
	PUT(c, 0x64, 0x48, 0x8b, 0x14, 0x25, 0, 0, 0, 0);	  /* mov %fs:0, %rdx */
	PUT(c, 0x65, 0x48, 0x3b, 0x14, 0x25, BLOCK_KEY, 0, 0, 0); /* cmp %gs:KEY, %rdx */
	r->claim = put_branch(c, JNE);
	PUT(c, 0x41, 0xbb, 16, 0, 0, 0);				/* mov $16, %r11d */
	PUT(c, 0x65, 0x4c, 0x0f, 0xc1, 0x1c, 0x25, BLOCK_POS, 0, 0, 0); /* xadd %r11, %gs:POS */
	PUT(c, 0x65, 0x4c, 0x3b, 0x1c, 0x25, BLOCK_LIMIT, 0, 0, 0);	/* cmp %gs:LIMIT, %r11 */
	r->full = put_branch(c, JAE);
	r->got = c->n;
	stub_put(c, load_base, 9);
	stub_put(c, test_base, 3);
	r->none = put_branch(c, JE);
}

/* Emits the seldom used code below the stub's end: the first record, and a full ring. %rdx is free
 * there. */
static void put_rest(struct stub_code *c, const struct stub_facts *f, const struct rest *r,
		     size_t skip)
{
	put_goal(c, r->claim);
	put_call(c, f->claim);
	put_back(c, JB, skip);
	stub_jump(c, c->address + r->retry);
	put_goal(c, r->full);
	PUT(c, 0x4c, 0x89, 0xda); /* mov %r11, %rdx */
	put_call(c, f->full);
	put_back(c, JB, skip);
	PUT(c, 0x49, 0x89, 0xd3); /* mov %rdx, %r11 */
	stub_jump(c, c->address + r->got);
}

static void put_place(struct stub_code *c, const struct stub_facts *f, uint8_t add_base_modrm)
{
	PUT(c, 0x41, 0x81, 0xe3); /* and $(ring_bytes - 1), %r11d */
	put_u32(c, f->ring_bytes - 1);
	PUT(c, 0x49, 0x01, add_base_modrm); /* add base, %r11 */
}

static void put_what(struct stub_code *c, uint32_t what, int32_t sp)
{
	PUT(c, 0x41, 0xc7, 0x43, 0x08); /* movl $what, 8(%r11) */
	put_u32(c, what);
	PUT(c, 0x8d, 0x94, 0x24); /* lea sp(%rsp), %edx */
	put_u32(c, (uint32_t)sp);
	PUT(c, 0x41, 0x89, 0x53, 0x0c); /* mov %edx, 12(%r11) */
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

#define RED_ZONE    128
#define FLAGS_BYTES 8

/* Returns how far the stack pointer moves down. */
static int32_t put_keep(struct stub_code *c, const struct stub_entry *e)
{
	if (!e->keeps_flags && !e->keeps_red_zone)
		return 0;
	PUT(c, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea -128(%rsp), %rsp */
	if (!e->keeps_flags)
		return RED_ZONE;
	PUT(c, 0x9c); /* pushfq */
	return RED_ZONE + FLAGS_BYTES;
}

static void put_kept(struct stub_code *c, const struct stub_entry *e)
{
	if (e->keeps_flags)
		PUT(c, 0x9d); /* popfq */
	if (e->keeps_flags || e->keeps_red_zone)
		PUT(c, 0x48, 0x8d, 0xa4, 0x24, RED_ZONE, 0, 0, 0); /* lea 128(%rsp), %rsp */
}

void stub_entry(struct stub_code *c, const struct stub_facts *f, const struct stub_entry *e)
{
	static const uint8_t load_base[] = { 0x65, 0x48, 0x8b, 0x04, 0x25, BLOCK_BASE, 0, 0, 0 },
			     test_base[] = { 0x48, 0x85, 0xc0 }; /* %rax */
	const int32_t down = put_keep(c, e);
	struct rest rest;
	size_t skip, over;

	PUT(c, SAVE_RAX, SAVE_RDX, SAVE_R11);
	put_reserve(c, &rest, load_base, test_base);
	put_place(c, f, 0xc3); /* %rax */
	put_what(c, e->id << 1, e->sp + down);
	PUT(c, 0x0f, 0x31); /* rdtsc, as late as possible */
	PUT(c, JOIN_CLOCK, COMMIT);
	put_goal(c, rest.none);
	skip = c->n;
	PUT(c, RESTORE_RAX, RESTORE_RDX, RESTORE_R11);
	over = put_branch(c, JMP);
	put_rest(c, f, &rest, skip);
	put_goal(c, over);
	put_kept(c, e);
}

/* rdtscp waits for the loads before it, which are the function's. */
void stub_exit(struct stub_code *c, const struct stub_facts *f, uint32_t id, int32_t sp)
{
	static const uint8_t load_base[] = { 0x65, 0x48, 0x8b, 0x0c, 0x25, BLOCK_BASE, 0, 0, 0 },
			     test_base[] = { 0x48, 0x85, 0xc9 }; /* %rcx */
	struct rest rest;
	size_t skip, over;

	PUT(c, SAVE_RAX, SAVE_RDX, SAVE_R11, SAVE_RCX);
	PUT(c, 0x0f, 0x01, 0xf9); /* rdtscp */
	PUT(c, JOIN_CLOCK);
	put_reserve(c, &rest, load_base, test_base);
	put_place(c, f, 0xcb); /* %rcx */
	put_what(c, id << 1 | 1, sp);
	PUT(c, COMMIT);
	put_goal(c, rest.none);
	skip = c->n;
	PUT(c, RESTORE_RAX, RESTORE_RDX, RESTORE_R11, RESTORE_RCX);
	over = put_branch(c, JMP);
	put_rest(c, f, &rest, skip);
	put_goal(c, over);
}

/* ---- one call in several ---- */

enum { NEAR_JB = 0x82, NEAR_JAE = 0x83, NEAR_JE = 0x84, NEAR_JNE = 0x85, NEAR_JA = 0x87 };

#define GS_DISP	 0x25 /* SIB byte: a 32-bit address follows */
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

/* Emits a forward branch of any distance to a target that is not known yet. Returns where its
 * distance is. */
static size_t put_near(struct stub_code *c, uint8_t condition)
{
	PUT(c, 0x0f, condition);
	put_u32(c, 0);
	return c->n - sizeof(uint32_t);
}

static void put_near_goal(struct stub_code *c, size_t distance_at)
{
	const uint32_t distance = (uint32_t)(c->n - distance_at - sizeof(uint32_t));

	if (distance_at + sizeof(distance) <= c->room)
		memcpy(c->bytes + distance_at, &distance, sizeof(distance));
}

static void put_near_back(struct stub_code *c, uint8_t condition, size_t to)
{
	PUT(c, 0x0f, condition);
	put_u32(c, (uint32_t)(to - c->n - sizeof(uint32_t)));
}

/* Emits code that leaves the address of the rows in %rdx, and the flags unchanged. */
static void put_rows(struct stub_code *c)
{
	PUT(c, GS_WORD, 0x8b, GATE_RDX, GS_DISP); /* mov %gs:ROWS, %rdx */
	put_u32(c, BLOCK_ROWS);
}

static void put_count(struct stub_code *c, uint32_t row)
{
	PUT(c, 0x48, 0xff, 0x82); /* incq row(%rdx) */
	put_u32(c, row);
}

static void put_sp(struct stub_code *c, int32_t sp)
{
	PUT(c, 0x8d, 0x94, 0x24); /* lea sp(%rsp), %edx */
	put_u32(c, (uint32_t)sp);
}

static int32_t kept_bytes(const struct stub_entry *e)
{
	return e->keeps_flags ? RED_ZONE + FLAGS_BYTES : e->keeps_red_zone ? RED_ZONE : 0;
}

/* A signal handler may call the function between any two of these instructions. Then the handler's
 * calls are counted, too, and this call is perhaps recorded a turn later. */
void stub_entry_gate(struct stub_code *c, const struct stub_entry *e, struct stub_gate *g)
{
	const int32_t down = put_keep(c, e);

	PUT(c, SAVE_RDX);
	g->retry = c->n;
	PUT(c, 0x64, 0x48, 0x8b, 0x14, 0x25, 0, 0, 0, 0);	  /* mov %fs:0, %rdx */
	PUT(c, 0x65, 0x48, 0x3b, 0x14, 0x25, BLOCK_KEY, 0, 0, 0); /* cmp %gs:KEY, %rdx */
	g->claim = put_near(c, NEAR_JNE);
	put_rows(c);
	put_count(c, row_at(e->id, offsetof(struct inproc_row, calls)));
	PUT(c, 0x48, 0x8b, 0x92); /* mov row(%rdx), %rdx */
	put_u32(c, row_at(e->id, offsetof(struct inproc_row, calls)));
	PUT(c, GS_WORD, 0x3b, GATE_RDX, GS_DISP); /* cmp %gs:NEXT, %rdx */
	put_u32(c, turn_at(e->id, TURN_NEXT));
	g->take = put_near(c, NEAR_JAE);
	put_sp(c, e->sp + down);
	PUT(c, GS_HALF, 0x39, GATE_RDX, GS_DISP); /* cmp %edx, %gs:OUTER */
	put_u32(c, turn_at(e->id, TURN_OUTER));
	g->inner = put_near(c, NEAR_JA);
	PUT(c, GS_HALF, 0x89, GATE_RDX, GS_DISP); /* mov %edx, %gs:OUTER */
	put_u32(c, turn_at(e->id, TURN_OUTER));
	g->back = c->n;
	PUT(c, RESTORE_RDX);
	put_kept(c, e);
}

/* A thread without a slot claims one and starts again. If there is no slot, its call is lost. */
static void put_gate_claim(struct stub_code *c, const struct stub_facts *f,
			   const struct stub_gate *g)
{
	put_near_goal(c, g->claim);
	PUT(c, SAVE_R11);
	put_call(c, f->claim);
	PUT(c, RESTORE_R11);
	put_near_back(c, NEAR_JB, g->back);
	stub_jump(c, c->address + g->retry);
}

static void put_gate_inner(struct stub_code *c, uint32_t id, const struct stub_gate *g)
{
	put_near_goal(c, g->inner);
	put_rows(c);
	put_count(c, row_at(id, offsetof(struct inproc_row, inner)));
	stub_jump(c, c->address + g->back);
}

static void put_turn(struct stub_code *c, uint64_t blob, uint32_t id, int32_t sp)
{
	PUT(c, 0xb9); /* mov $id, %ecx */
	put_u32(c, id);
	put_sp(c, sp);
	put_call(c, blob);
}

void stub_entry_rest(struct stub_code *c, const struct stub_facts *f, const struct stub_entry *e,
		     const struct stub_gate *g)
{
	static const uint8_t load_base[] = { 0x65, 0x48, 0x8b, 0x04, 0x25, BLOCK_BASE, 0, 0, 0 },
			     test_base[] = { 0x48, 0x85, 0xc0 }; /* %rax */
	const int32_t sp = e->sp + kept_bytes(e);
	struct rest rest;
	size_t skip, none;

	put_gate_claim(c, f, g);
	put_gate_inner(c, e->id, g);
	put_near_goal(c, g->take);
	PUT(c, SAVE_RAX, SAVE_R11, SAVE_RCX);
	put_turn(c, f->begin, e->id, sp);
	none = put_branch(c, JB);
	put_reserve(c, &rest, load_base, test_base);
	put_place(c, f, 0xc3); /* %rax */
	put_what(c, e->id << 1, sp);
	PUT(c, 0x41, 0x09, 0x4b, 0x08); /* or %ecx, 8(%r11): INPROC_INNER or not */
	PUT(c, 0x0f, 0x31);		/* rdtsc, as late as possible */
	PUT(c, JOIN_CLOCK, COMMIT);
	put_goal(c, rest.none);
	put_goal(c, none);
	skip = c->n;
	PUT(c, RESTORE_RAX, RESTORE_R11, RESTORE_RCX);
	stub_jump(c, c->address + g->back);
	put_rest(c, f, &rest, skip);
}

void stub_exit_gate(struct stub_code *c, uint32_t id, struct stub_gate *g)
{
	size_t over;

	PUT(c, GS_HALF, 0x39, GATE_SP, GS_DISP); /* cmp %esp, %gs:TOP */
	put_u32(c, turn_at(id, TURN_TOP));
	g->take = put_near(c, NEAR_JE);
	g->back = c->n;
	PUT(c, GS_HALF, 0x39, GATE_SP, GS_DISP); /* cmp %esp, %gs:OUTER */
	put_u32(c, turn_at(id, TURN_OUTER));
	over = put_branch(c, JNE);
	PUT(c, GS_HALF, 0xc7, 0x04, GS_DISP); /* movl $0, %gs:OUTER */
	put_u32(c, turn_at(id, TURN_OUTER));
	put_u32(c, 0);
	put_goal(c, over);
}

void stub_exit_rest(struct stub_code *c, const struct stub_facts *f, uint32_t id,
		    const struct stub_gate *g)
{
	static const uint8_t load_base[] = { 0x65, 0x48, 0x8b, 0x0c, 0x25, BLOCK_BASE, 0, 0, 0 },
			     test_base[] = { 0x48, 0x85, 0xc9 }; /* %rcx */
	struct rest rest;
	size_t skip;

	put_near_goal(c, g->take);
	PUT(c, SAVE_RAX, SAVE_RDX, SAVE_R11, SAVE_RCX);
	PUT(c, 0x0f, 0x01, 0xf9); /* rdtscp */
	PUT(c, JOIN_CLOCK);
	put_turn(c, f->end, id, 0);
	put_reserve(c, &rest, load_base, test_base);
	put_place(c, f, 0xcb); /* %rcx */
	put_what(c, id << 1 | 1, 0);
	PUT(c, COMMIT);
	put_goal(c, rest.none);
	skip = c->n;
	PUT(c, RESTORE_RAX, RESTORE_RDX, RESTORE_R11, RESTORE_RCX);
	stub_jump(c, c->address + g->back);
	put_rest(c, f, &rest, skip);
}
