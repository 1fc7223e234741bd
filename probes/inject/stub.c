// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/stub.h"

#include <string.h>

#include "probes/inject/blob.h"

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

/* A short branch forward, whose goal is not known yet: where its distance is. */
static size_t put_branch(struct stub_code *c, uint8_t opcode)
{
	PUT(c, opcode, 0);
	return c->n - 1;
}

static void put_goal(struct stub_code *c, size_t distance_at)
{
	c->bytes[distance_at] = (uint8_t)(c->n - distance_at - 1);
}

/* A short one back. */
static void put_back(struct stub_code *c, uint8_t opcode, size_t to)
{
	PUT(c, opcode, (uint8_t)(to - (c->n + REL8_BYTES)));
}

enum { JB = 0x72, JAE = 0x73, JE = 0x74, JNE = 0x75, JMP = 0xeb };

/* From the blob, which goes on behind this. */
static void put_call(struct stub_code *c, uint64_t blob)
{
	PUT(c, 0x4c, 0x8d, 0x1d); /* lea 5(%rip), %r11 */
	put_u32(c, 5);
	stub_jump(c, blob);
}

/* What is left for the end of a stub. */
struct rest {
	size_t retry, got;	  /* places to go back to */
	size_t claim, full, none; /* branches that go on there */
};

/* Leaves in %r11 what is reserved, and in a register what BLOCK_BASE has. */
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

/* Below the stub's end, where it seldom comes: %rdx is free. */
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

/* Returns how far the stack pointer has gone down. */
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
