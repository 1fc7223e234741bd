// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/detour.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "probes/inject/stub.h"
#include "probes/inject/tracee.h"
#include "symbol/maps.h"

#define PAGE	   4096ull
#define NEAR_JUMP  5		  /* bytes of a jump within 2 GiB */
#define FAR_JUMP   14		  /* and of one to anywhere */
#define ENTRY_MARK 0xfffu	  /* injection.c counts its own marks from 0 */
#define START_NS   60000000000ull /* longest time for loading libraries */

#define EMIT(c, ...) \
	stub_emit(c, (const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))

void detour_emit_save(struct stub_code *c)
{
	EMIT(c, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea -128(%rsp), %rsp */
	/* pushfq; push rax rcx rdx rbx rsi rdi */
	EMIT(c, 0x9c, 0x50, 0x51, 0x52, 0x53, 0x56, 0x57);
	EMIT(c, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x41, 0x53); /* push r8 r9 r10 r11 */
}

void detour_emit_restore(struct stub_code *c)
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

void detour_emit_resume(struct stub_code *c, uint64_t resume)
{
	detour_emit_restore(c);
	emit_far_jump(c, resume);
}

void detour_emit_call(struct stub_code *c, uint32_t number)
{
	EMIT(c, 0xb8); /* mov $number, %eax */
	stub_emit(c, &number, sizeof(number));
	EMIT(c, 0x0f, 0x05); /* syscall */
}

void detour_emit_mark(struct stub_code *c, uint32_t tag)
{
	EMIT(c, 0x48, 0x89, 0xc7); /* mov %rax, %rdi */
	EMIT(c, 0xbe);		   /* mov $tag, %esi */
	stub_emit(c, &tag, sizeof(tag));
	detour_emit_call(c, SYS_getpid);
}

/* ---- unused bytes ---- */

static uint64_t end_of_segment(int fd, const struct mapping *m)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(ph))
		return 0;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		off_t at = (off_t)(eh.e_phoff + i * sizeof(ph));

		if (pread(fd, &ph, sizeof(ph), at) != sizeof(ph))
			return 0;
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X && ph.p_filesz == ph.p_memsz &&
		    (ph.p_offset & ~(PAGE - 1)) == m->file_offset)
			return m->start + (ph.p_offset & (PAGE - 1)) + ph.p_filesz;
	}
	return 0;
}

/* near: an address in the object whose bytes are wanted, or 0 for any object. Returns the address
 * of the bytes, or 0 if there are none. */
static uint64_t find_room(pid_t pid, uint64_t near, uint64_t bytes)
{
	struct mappings maps = { 0 };
	uint64_t found = 0;

	if (mappings_read(&maps, pid, NULL))
		maps.n = 0;
	for (size_t i = 0; !found && i < maps.n; i++) {
		const struct mapping *m = &maps.data[i];
		uint64_t end;
		int fd;

		if (near && (near < m->start || near >= m->end))
			continue;
		fd = mapping_open(m, pid);
		end = fd < 0 ? 0 : (end_of_segment(fd, m) + 15) & ~15ull;
		if (fd >= 0)
			close(fd);
		if (end > m->start && end + bytes <= m->end && m->end - end < PAGE)
			found = end;
	}
	mappings_release(&maps);
	return found;
}

uint64_t detour_room(pid_t pid)
{
	return find_room(pid, 0, DETOUR_ROOM + DETOUR_ENTRY);
}

/* Both ranges may be in the same object, so the one that detour_room() finds is left free. near: as
 * above. */
static uint64_t entry_room(pid_t pid, uint64_t near)
{
	const uint64_t both = find_room(pid, near, DETOUR_ROOM + DETOUR_ENTRY);

	return both ? both + DETOUR_ROOM : find_room(pid, near, DETOUR_ENTRY);
}

/* ---- running to the entry point ---- */

static uint64_t entry_of(pid_t pid)
{
	Elf64_auxv_t row;
	uint64_t found = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "re");
	while (f && !found && fread(&row, sizeof(row), 1, f) == 1)
		if (row.a_type == AT_ENTRY)
			found = row.a_un.a_val;
	if (f)
		fclose(f);
	return found;
}

/* How a thread gets from the entry point to the room for its detour. */
struct way {
	uint64_t entry, room;
	uint8_t original[DETOUR_ENTRY_BYTES]; /* the code at the entry point */
	size_t jump, moved; /* bytes of the jump there, and of the instructions that make way */
};

size_t detour_movable_bytes(const uint8_t *p, size_t jump)
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

/* Finds room in the program or, as 3 in 100 have none, anywhere, which takes a longer jump. */
static bool find_way(const struct tracees *t, struct way *w)
{
	w->entry = entry_of(t->pid);
	if (!w->entry || tracees_read(t, w->entry, w->original, sizeof(w->original)))
		return false;
	w->jump = NEAR_JUMP;
	w->room = entry_room(t->pid, w->entry);
	if (!w->room) {
		w->jump = FAR_JUMP;
		w->room = entry_room(t->pid, 0);
	}
	w->moved = detour_movable_bytes(w->original, w->jump);
	return w->room && w->moved && w->entry % PAGE + w->jump <= PAGE;
}

static void emit_jump(struct stub_code *c, const struct way *w, uint64_t to)
{
	if (w->jump == NEAR_JUMP)
		stub_emit_jump(c, to);
	else
		emit_far_jump(c, to);
}

static int run_to_entry(struct tracees *t, const struct way *w, struct err *err)
{
	uint8_t bytes[DETOUR_ENTRY], jump[FAR_JUMP];
	struct stub_code c = { .bytes = bytes, .address = w->room, .room = sizeof(bytes) },
			 j = { .bytes = jump, .address = w->entry, .room = sizeof(jump) };
	int64_t unused;
	int ret;

	detour_emit_save(&c);
	detour_emit_mark(&c, DETOUR_TAG + ENTRY_MARK);
	detour_emit_restore(&c);
	stub_emit(&c, w->original, w->moved);
	emit_jump(&c, w, w->entry + w->moved);
	emit_jump(&j, w, w->room);
	ret = tracees_write(t, w->room, bytes, c.n);
	if (!ret)
		ret = tracees_write(t, w->entry, jump, j.n);
	if (ret)
		return err_set(
			err, ret,
			"process %d cannot be written to: %s; record it with --engine kernel",
			t->pid, strerror(-ret));
	t->runner = &t->threads.data[0];
	ret = tracees_run_to_mark(t, DETOUR_TAG + ENTRY_MARK, START_NS, &unused, err);
	tracees_write(t, w->entry, w->original, j.n);
	return ret;
}

int detour_to_entry(struct tracees *t, struct err *err)
{
	struct way w;

	if (!find_way(t, &w))
		return err_set(err, -ENOTSUP,
			       "the start of process %d is unusual; record it with --engine kernel",
			       t->pid);
	return run_to_entry(t, &w, err);
}
