/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/buildid.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/regular.h"

#define PARTS_MAX  256
#define NOTES_MAX  (64u << 10) /* bytes of one segment */
#define NAME_BYTES 4	       /* "GNU" */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

static bool read_at(int fd, void *buf, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, buf, n, (off_t)at) == (ssize_t)n;
}

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/*
 * Returns 1 if the note at *at is the build ID, which is then written to hex; 0 if another note,
 * after which *at is moved, was there; -1 if there are no more notes.
 */
static int read_note(const uint8_t *notes, size_t n, size_t to, size_t *at, char *hex)
{
	Elf64_Nhdr note; /* the same layout in 32-bit files */
	size_t name = *at + sizeof(note), id;

	if (n < name)
		return -1;
	memcpy(&note, notes + *at, sizeof(note));
	id = round_up(name + note.n_namesz, to);
	if (id > n || note.n_descsz > n - id)
		return -1;
	*at = round_up(id + note.n_descsz, to);
	if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != NAME_BYTES ||
	    memcmp(notes + name, "GNU", NAME_BYTES) != 0 || note.n_descsz > BUILD_ID_MAX)
		return 0;
	for (size_t i = 0; i < note.n_descsz; i++)
		sprintf(hex + 2 * i, "%02x", notes[id + i]);
	return 1;
}

static bool read_notes(int fd, uint64_t offset, uint64_t bytes, uint64_t align, char *hex)
{
	uint8_t *notes = bytes && bytes <= NOTES_MAX ? xmalloc(bytes) : NULL;
	int found = notes && read_at(fd, notes, bytes, offset) ? 0 : -1;

	for (size_t at = 0; !found;)
		found = read_note(notes, bytes, align == 8 ? 8 : 4, &at, hex);
	free(notes);
	return found > 0;
}

static void read_64(int fd, char *hex)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (!read_at(fd, &head, sizeof(head), 0) || head.e_phentsize != sizeof(part))
		return;
	for (uint64_t i = 0; i < head.e_phnum && i < PARTS_MAX; i++)
		if (!read_at(fd, &part, sizeof(part), head.e_phoff + i * sizeof(part)) ||
		    (part.p_type == PT_NOTE &&
		     read_notes(fd, part.p_offset, part.p_filesz, part.p_align, hex)))
			return;
}

static void read_32(int fd, char *hex)
{
	Elf32_Ehdr head;
	Elf32_Phdr part;

	if (!read_at(fd, &head, sizeof(head), 0) || head.e_phentsize != sizeof(part))
		return;
	for (uint64_t i = 0; i < head.e_phnum && i < PARTS_MAX; i++)
		if (!read_at(fd, &part, sizeof(part), head.e_phoff + i * sizeof(part)) ||
		    (part.p_type == PT_NOTE &&
		     read_notes(fd, part.p_offset, part.p_filesz, part.p_align, hex)))
			return;
}

void dso_file_build_id(const char *path, char *hex, size_t n)
{
	char all[2 * BUILD_ID_MAX + 1] = "";
	int fd = regular_open(path, NULL);
	unsigned char ident[EI_NIDENT];

	if (fd >= 0 && read_at(fd, ident, sizeof(ident), 0) && !memcmp(ident, ELFMAG, SELFMAG) &&
	    ident[EI_DATA] == OWN_ORDER) {
		if (ident[EI_CLASS] == ELFCLASS64)
			read_64(fd, all);
		else if (ident[EI_CLASS] == ELFCLASS32)
			read_32(fd, all);
	}
	if (fd >= 0)
		close(fd);
	snprintf(hex, n, "%s", all);
}
