/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/vdso.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

static const uint8_t *image(void)
{
	return (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
}

static const Elf64_Phdr *program_header(uint32_t type)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)image();

	for (uint16_t i = 0; head && i < head->e_phnum; i++) {
		const Elf64_Phdr *ph = (const Elf64_Phdr *)(image() + head->e_phoff) + i;

		if (ph->p_type == type)
			return ph;
	}
	return NULL;
}

const uint8_t *vdso_bytes(uint64_t address, uint64_t n)
{
	const Elf64_Phdr *loaded = program_header(PT_LOAD);

	if (!loaded || loaded->p_vaddr || address > loaded->p_filesz ||
	    n > loaded->p_filesz - address)
		return NULL;
	return image() + address;
}

bool vdso_unwind_table(uint64_t *header, uint64_t *entries, uint64_t *n)
{
	/* version and encodings of .eh_frame_hdr, as in symbol/dso/frames.c */
	static const uint8_t usual[4] = { 1, 0x1b, 0x03, 0x3b };
	const Elf64_Phdr *ph = program_header(PT_GNU_EH_FRAME);
	const uint8_t *head = ph ? vdso_bytes(ph->p_vaddr, ph->p_filesz) : NULL;
	uint32_t count;

	if (!head || ph->p_filesz < 12 || memcmp(head, usual, sizeof(usual)) != 0)
		return false;
	memcpy(&count, head + 8, sizeof(count));
	*header = ph->p_vaddr;
	*entries = ph->p_vaddr + 12;
	*n = count;
	return count && count <= (ph->p_filesz - 12) / 8;
}
