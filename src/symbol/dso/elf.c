/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the ELF headers of a file: its kind, segments, sections and build ID. */
#include "symbol/dso/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <elfutils/libdwelf.h>

#include "base/err.h"
#include "symbol/dso/buildid.h"
#include "symbol/dso/dynamic.h"

static int check_kind(const struct dso *dso, struct err *err)
{
	const char *ident = (const char *)dso->ehdr.e_ident;

	if (ident[EI_CLASS] != ELFCLASS64)
		return err_set(err, -ENOEXEC, "%s is a 32-bit ELF; ispot traces 64-bit programs",
			       dso->path);
	if (ident[EI_DATA] != ELFDATA2LSB)
		return err_set(err, -ENOEXEC,
			       "%s is a big-endian ELF; ispot traces little-endian programs",
			       dso->path);
	if (dso->ehdr.e_type == ET_REL)
		return err_set(err, -ENOEXEC, "%s is an unlinked object file; link it first",
			       dso->path);
	if (dso->ehdr.e_type == ET_CORE)
		return err_set(err, -ENOEXEC, "%s is a core dump; name the program that left it",
			       dso->path);
	return 0;
}

static int read_header(struct dso *dso, struct err *err)
{
	dso->elf = elf_begin(dso->fd, ELF_C_READ_MMAP, NULL);
	if (!dso->elf || elf_kind(dso->elf) != ELF_K_ELF || !gelf_getehdr(dso->elf, &dso->ehdr))
		return err_set(err, -ENOEXEC, "%s is cut off or damaged; build or install it again",
			       dso->path);
	dso->image = (const uint8_t *)elf_rawfile(dso->elf, &dso->image_bytes);
	return check_kind(dso, err);
}

static void add_segment(struct dso *dso, const GElf_Phdr *ph)
{
	struct dso_segment s = { .address = ph->p_vaddr,
				 .file_offset = ph->p_offset,
				 .file_size = ph->p_filesz,
				 .memory_size = ph->p_memsz,
				 .executable = ph->p_flags & PF_X };

	/* Cuts the segment to the file, so that other code need not check this again. */
	if (s.file_offset > dso->image_bytes)
		return;
	if (s.file_size > dso->image_bytes - s.file_offset)
		s.file_size = dso->image_bytes - s.file_offset;
	dso_add_segment(dso, &s);
}

static void read_interp(struct dso *dso, const GElf_Phdr *ph)
{
	const char *s;

	if (dso->interp || ph->p_offset >= dso->image_bytes ||
	    ph->p_filesz > dso->image_bytes - ph->p_offset)
		return;
	s = (const char *)dso->image + ph->p_offset;
	dso->interp = xstrndup(s, strnlen(s, ph->p_filesz));
}

static void read_dynamic(struct dso *dso, const GElf_Phdr *ph)
{
	struct dso_dynamic d;

	dso->dynamic_address = ph->p_vaddr;
	dso->dynamic_bytes = ph->p_filesz;
	dso_dynamic_read(dso, &d);
	dso->has_needed = d.needed.n > 0;
	dso_dynamic_release(&d);
}

static void read_segments(struct dso *dso)
{
	GElf_Phdr ph, dynamic = { 0 };
	size_t n = 0;

	if (elf_getphdrnum(dso->elf, &n))
		return;
	for (size_t i = 0; i < n && gelf_getphdr(dso->elf, (int)i, &ph); i++) {
		if (ph.p_type == PT_LOAD)
			add_segment(dso, &ph);
		else if (ph.p_type == PT_INTERP)
			read_interp(dso, &ph);
		else if (ph.p_type == PT_DYNAMIC)
			dynamic = ph;
		if (ph.p_type == PT_GNU_EH_FRAME && !dso->frames_bytes) {
			dso->frames_address = ph.p_vaddr;
			dso->frames_bytes = ph.p_filesz;
		}
	}
	read_dynamic(dso, &dynamic);
}

static void read_sections(struct dso *dso)
{
	size_t names = 0;
	GElf_Shdr sh;

	elf_getshdrstrndx(dso->elf, &names);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(dso->elf, scn)) && gelf_getshdr(scn, &sh);) {
		const char *name = elf_strptr(dso->elf, names, sh.sh_name);

		if (name && (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".gopclntab")))
			dso->go = true;
		if (name && !strncmp(name, "__rseq_cs", 9))
			dso->restartable = true;
		if ((sh.sh_flags & SHF_EXECINSTR) && (sh.sh_flags & SHF_ALLOC) &&
		    sh.sh_type == SHT_PROGBITS)
			dso_add_code(dso, sh.sh_addr, sh.sh_size);
	}
	dso_finish_code(dso);
}

/* hex has room for 2 * BUILD_ID_MAX + 1 bytes. */
static void read_build_id(Elf *elf, char *hex)
{
	const void *bytes = NULL;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);

	*hex = '\0';
	for (ssize_t i = 0; i < n && n <= BUILD_ID_MAX; i++)
		sprintf(hex + 2 * i, "%02x", ((const uint8_t *)bytes)[i]);
}

int dso_read_elf(struct dso *dso, struct err *err)
{
	char build_id[2 * BUILD_ID_MAX + 1];
	int ret = read_header(dso, err);

	if (ret)
		return ret;
	read_segments(dso);
	read_sections(dso);
	read_build_id(dso->elf, build_id);
	dso->build_id = xstrdup(build_id);
	return 0;
}
