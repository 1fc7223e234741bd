// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef __aarch64__ /* on others it is never run */
#include "probes/inject/machine/steps.h"

#include <string.h>
#include <sys/syscall.h>

#include "probes/inject/machine/stub.h"

#define ROOM	   208u
#define ENTRY	   112u
#define NEAR_JUMP  5	       /* bytes of a jump within 2 GiB */
#define FAR_JUMP   14	       /* and of one to anywhere */
#define NEAR_BYTES 0x7f000000u /* how far a near jump reaches, less some room */

#define EMIT(c, ...) \
	stub_emit(c, (const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))

size_t steps_room(void)
{
	return ROOM;
}

size_t steps_entry(void)
{
	return ENTRY;
}

void steps_save(struct stub_code *c)
{
	EMIT(c, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea -128(%rsp), %rsp */
	/* pushfq; push rax rcx rdx rbx rsi rdi */
	EMIT(c, 0x9c, 0x50, 0x51, 0x52, 0x53, 0x56, 0x57);
	EMIT(c, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x41, 0x53); /* push r8 r9 r10 r11 */
}

void steps_restore(struct stub_code *c)
{
	EMIT(c, 0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58);
	EMIT(c, 0x5f, 0x5e, 0x5b, 0x5a, 0x59, 0x58, 0x9d);
	EMIT(c, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0); /* lea 128(%rsp), %rsp */
}

static void emit_far_jump(struct stub_code *c, uint64_t to)
{
	EMIT(c, 0xff, 0x25, 0, 0, 0, 0); /* jmp *to */
	stub_emit(c, &to, sizeof(to));
}

void steps_resume(struct stub_code *c, uint64_t resume, uint64_t *back)
{
	(void)back;
	steps_restore(c);
	emit_far_jump(c, resume);
}

void steps_arguments(struct stub_code *c, const uint64_t args[6])
{
	static const uint8_t moves[6][2] = { { 0x48, 0xbf }, { 0x48, 0xbe }, { 0x48, 0xba },
					     { 0x49, 0xba }, { 0x49, 0xb8 }, { 0x49, 0xb9 } };

	for (unsigned i = 0; i < 6; i++) {
		stub_emit(c, moves[i], 2);
		stub_emit(c, &args[i], sizeof(args[i]));
	}
}

void steps_call(struct stub_code *c, uint32_t number)
{
	EMIT(c, 0xb8); /* mov $number, %eax */
	stub_emit(c, &number, sizeof(number));
	EMIT(c, 0x0f, 0x05); /* syscall */
}

void steps_mark(struct stub_code *c, uint32_t tag)
{
	EMIT(c, 0x48, 0x89, 0xc7); /* mov %rax, %rdi */
	EMIT(c, 0xbe);		   /* mov $tag, %esi */
	stub_emit(c, &tag, sizeof(tag));
	steps_call(c, SYS_getpid);
}

/* The mark has left it in %rdi. */
void steps_told_argument(struct stub_code *c, uint64_t second, uint64_t third)
{
	const uint32_t low = (uint32_t)third;

	EMIT(c, 0x48, 0xbe); /* mov $second, %rsi */
	stub_emit(c, &second, sizeof(second));
	EMIT(c, 0xba); /* mov $third, %edx */
	stub_emit(c, &low, sizeof(low));
}

void steps_go_to_told(struct stub_code *c)
{
	size_t failed, unwritten;

	EMIT(c, 0x48, 0x85, 0xff, 0x78, 0); /* test %rdi, %rdi; js */
	failed = c->n;
	EMIT(c, 0x48, 0x83, 0x3f, 0, 0x74, 0); /* cmpq $0, (%rdi); je */
	unwritten = c->n;
	EMIT(c, 0xff, 0xe7); /* jmp *%rdi */
	c->bytes[failed - 1] = (uint8_t)(c->n - failed);
	c->bytes[unwritten - 1] = (uint8_t)(c->n - unwritten);
}

void steps_keep(struct stub_code *c)
{
	EMIT(c, 0x89, 0xc3); /* mov %eax, %ebx */
}

void steps_kept_first(struct stub_code *c)
{
	EMIT(c, 0x89, 0xdf); /* mov %ebx, %edi */
}

void steps_kept_fifth(struct stub_code *c)
{
	EMIT(c, 0x41, 0x89, 0xd8); /* mov %ebx, %r8d */
}

size_t steps_fixed_bytes(const uint8_t *p)
{
	(void)p;
	return 0;
}

size_t steps_movable_bytes(const uint8_t *p, size_t jump)
{
	static const struct {
		uint8_t n, bytes[4];
	} known[] = {
		{ 4, { 0xf3, 0x0f, 0x1e, 0xfa } }, /* endbr64 */
		{ 2, { 0x31, 0xed } },		   /* xor %ebp, %ebp */
		{ 3, { 0x48, 0x31, 0xed } },	   /* xor %rbp, %rbp */
		{ 3, { 0x49, 0x89, 0xd1 } },	   /* mov %rdx, %r9 */
		{ 3, { 0x48, 0x89, 0xe7 } },	   /* mov %rsp, %rdi */
		{ 1, { 0x5e } },		   /* pop %rsi */
		{ 3, { 0x48, 0x89, 0xe2 } },	   /* mov %rsp, %rdx */
		{ 4, { 0x48, 0x83, 0xe4, 0xf0 } }, /* and $-16, %rsp */
		{ 1, { 0x50 } },		   /* push %rax */
	};
	size_t n = 0, before;

	do {
		before = n;
		for (size_t i = 0; i < sizeof(known) / sizeof(*known) && n == before; i++)
			if (!memcmp(p + n, known[i].bytes, known[i].n))
				n += known[i].n;
	} while (n > before && n < jump);
	return n >= jump ? n : 0;
}

size_t steps_near_jump(void)
{
	return NEAR_JUMP;
}

size_t steps_far_jump(void)
{
	return FAR_JUMP;
}

uint64_t steps_reach(void)
{
	return NEAR_BYTES;
}

void steps_jump(struct stub_code *c, uint64_t to, size_t bytes)
{
	if (bytes == NEAR_JUMP)
		stub_emit_jump(c, to);
	else
		emit_far_jump(c, to);
}

#endif
