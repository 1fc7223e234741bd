// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What root's process reads itself of an object of others: unwind tables, by libunwind and by
 * frames.c, and the dynamic section. The ELF headers are sound, so that the bytes are what they
 * lead to: first the stack, then the object: its table of unwind entries, everything that this
 * names, and at a place that the bytes choose the dynamic section.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "given.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/dynamic.h"
#include "symbol/dso/frames.h"
#include "symbol/dso/internal.h"
#include "symbol/dso/unwind.h"
#include "symbol/maps.h"

#define ADDRESS	    0x10000 /* of the file's first byte, in its terms */
#define LOADED	    0x7f0000000000ull
#define STACK	    0x7ffc00000000ull
#define STACK_BYTES 256 /* of the given ones */
#define HEADERS	    (sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr))
#define FRAMES	    32

static uint64_t sum;

static Elf64_Phdr part(uint32_t type, uint64_t offset, uint64_t bytes)
{
	return (Elf64_Phdr){ .p_type = type,
			     .p_flags = PF_R | PF_X,
			     .p_offset = offset,
			     .p_vaddr = ADDRESS + offset,
			     .p_paddr = ADDRESS + offset,
			     .p_filesz = bytes,
			     .p_memsz = bytes,
			     .p_align = 4096 };
}

static const char *make_object(const uint8_t *data, size_t size, uint16_t dynamic_at)
{
	static uint8_t file[HEADERS + 65536];
	const uint64_t all = HEADERS + size, dynamic = HEADERS + dynamic_at % size;
	const Elf64_Phdr parts[] = { part(PT_LOAD, 0, all), part(PT_GNU_EH_FRAME, HEADERS, size),
				     part(PT_DYNAMIC, dynamic, all - dynamic) };
	Elf64_Ehdr head = { .e_type = ET_DYN,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(head),
			    .e_ehsize = sizeof(head),
			    .e_phentsize = sizeof(parts[0]),
			    .e_phnum = sizeof(parts) / sizeof(parts[0]) };

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	head.e_ident[EI_VERSION] = EV_CURRENT;
#if defined(__x86_64__)
	head.e_machine = EM_X86_64;
#else
	head.e_machine = EM_AARCH64;
#endif
	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), parts, sizeof(parts));
	memcpy(file + HEADERS, data, size);
	return given_file(file, all);
}

/* From every so many bytes of it, as if that was the instruction. */
static void unwind(struct dso *dso, const uint8_t *stack, size_t bytes)
{
	struct mapping one = { .start = LOADED, .end = LOADED + bytes, .path = "given" };
	struct mappings maps = { 0 };
	struct unwinder *u = unwinder_new();
	uint64_t registers[40], ips[FRAMES], places[FRAMES];

	*vec_add(&maps) = one;
	for (size_t at = HEADERS; at < bytes; at += 1 + bytes / 4) {
		struct unwind_input in = { .registers = registers,
					   .register_mask = unwind_register_mask,
					   .stack = stack,
					   .stack_bytes = STACK_BYTES,
					   .at_entry = at & 1,
					   .maps = &maps,
					   .dsos = &dso };
		unsigned n = 0;

		for (unsigned i = 0; i < 40; i++)
			if (unwind_register_mask >> i & 1)
				registers[n++] = i == unwind_register_ip   ? LOADED + at
						 : i == unwind_register_sp ? STACK
									   : STACK + 8 * i;
		sum += unwind_stack(u, &in, ips, places, FRAMES) + unwinder_refused(u);
	}
	unwinder_free(u);
	vec_release(&maps);
}

static void read_dynamic(const struct dso *dso)
{
	struct dso_dynamic dynamic;

	dso_dynamic_read(dso, &dynamic);
	vec_for_each (&dynamic.needed, const struct dso_needed, needed)
		sum += strlen(needed->name);
	sum += dynamic.soname ? strlen(dynamic.soname) : 0;
	sum += dynamic.rpath ? strlen(dynamic.rpath) : 0;
	sum += dynamic.runpath ? strlen(dynamic.runpath) : 0;
	dso_dynamic_release(&dynamic);
}

static void read_ranges(struct dso *dso, size_t bytes)
{
	uint64_t start, size;

	for (size_t at = 0; at < bytes; at += 1 + bytes / 64)
		if (dso_frame_range(dso, ADDRESS + at, &start, &size))
			sum += start + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t object = STACK_BYTES + 2;
	struct dso_cache *cache;
	struct err err = { 0 };
	struct dso *dso;
	const char *path;
	uint8_t *stack;

	if (size < object + 16 || size > 32768)
		return -1;
	path = make_object(data + object, size - object,
			   (uint16_t)(data[STACK_BYTES] | data[STACK_BYTES + 1] << 8));
	if (!path)
		return -1;
	stack = malloc(STACK_BYTES);
	if (!stack)
		abort();
	memcpy(stack, data, STACK_BYTES);
	cache = dso_cache_new();
	if (dso_get(cache, path, &dso, &err))
		abort(); /* its headers are sound: nothing would be looked at */
	unwind(dso, stack, HEADERS + size - object);
	read_ranges(dso, HEADERS + size - object);
	read_dynamic(dso);
	dso_cache_free(cache);
	free(stack);
	return 0;
}
