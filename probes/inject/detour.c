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
#include "probes/inject/machine/steps.h"
#include "probes/inject/machine/stub.h"
#include "probes/inject/tracee.h"
#include "symbol/maps.h"

#define PAGE	   4096ull
#define ENTRY_MARK 0xfffu	  /* injection.c counts its own marks from 0 */
#define START_NS   60000000000ull /* longest time for loading libraries */

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

/* Which object's bytes are wanted: that of an address, one within reach of it, or any. */
struct wish {
	uint64_t near;	/* 0: any */
	uint64_t reach; /* 0: the object of the address */
};

static bool is_wanted(const struct wish *w, const struct mapping *m, uint64_t end)
{
	const uint64_t distance = end > w->near ? end - w->near : w->near - end;

	if (!w->near)
		return true;
	return w->reach ? distance < w->reach : w->near >= m->start && w->near < m->end;
}

/* Returns the address of the bytes, or 0 if there are none. */
static uint64_t find_room(pid_t pid, const struct wish *w, uint64_t bytes)
{
	struct mappings maps = { 0 };
	uint64_t found = 0;

	if (mappings_read(&maps, pid, NULL))
		maps.n = 0;
	for (size_t i = 0; !found && i < maps.n; i++) {
		const struct mapping *m = &maps.data[i];
		uint64_t end;
		int fd;

		if (!is_wanted(w, m, m->end))
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

uint64_t detour_room(pid_t pid, uint64_t resume)
{
	/* steps_resume() tells which way back reaches how far */
	const struct wish w = { .near = steps_far_jump() ? 0 : resume, .reach = steps_reach() };

	return find_room(pid, &w, steps_room() + steps_entry());
}

/* Both ranges may be in the same object, so the one that detour_room() finds is left free. */
static uint64_t entry_room(pid_t pid, const struct wish *w)
{
	const uint64_t both = find_room(pid, w, steps_room() + steps_entry());

	return both ? both + steps_room() : find_room(pid, w, steps_entry());
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
	uint64_t entry, room;		       /* entry: where the jump is */
	uint8_t original[STEPS_JUMP_MOST + 8]; /* the code there */
	size_t jump, moved; /* bytes of the jump there, and of the instructions that make way */
};

static bool read_entry(const struct tracees *t, struct way *w)
{
	size_t fixed;

	if (!w->entry || tracees_read(t, w->entry, w->original, sizeof(w->original)))
		return false;
	fixed = steps_fixed_bytes(w->original);
	w->entry += fixed;
	return !fixed || !tracees_read(t, w->entry, w->original, sizeof(w->original));
}

/* Finds room in the program or, as 3 in 100 have none, anywhere, which takes a longer jump, if
 * there is one. */
static bool find_way(const struct tracees *t, struct way *w)
{
	struct wish wish = { 0 };

	w->entry = entry_of(t->pid);
	if (!read_entry(t, w))
		return false;
	w->jump = steps_near_jump();
	wish.near = w->entry;
	w->room = entry_room(t->pid, &wish);
	if (!w->room && steps_far_jump()) {
		w->jump = steps_far_jump();
		wish.near = 0;
	}
	wish.reach = steps_reach();
	if (!w->room)
		w->room = entry_room(t->pid, &wish);
	w->moved = steps_movable_bytes(w->original, w->jump);
	return w->room && w->moved && w->entry % PAGE + w->jump <= PAGE;
}

static int run_to_entry(struct tracees *t, const struct way *w, struct err *err)
{
	uint8_t bytes[STEPS_ENTRY_MOST], jump[STEPS_JUMP_MOST];
	struct stub_code c = { .bytes = bytes, .address = w->room, .room = sizeof(bytes) },
			 j = { .bytes = jump, .address = w->entry, .room = sizeof(jump) };
	int64_t unused;
	int ret;

	steps_save(&c);
	steps_mark(&c, DETOUR_TAG + ENTRY_MARK);
	steps_restore(&c);
	stub_emit(&c, w->original, w->moved);
	steps_jump(&c, w->entry + w->moved, w->jump);
	steps_jump(&j, w->room, w->jump);
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
