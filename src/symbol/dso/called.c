/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names the function of another object that a call instruction calls: directly through a slot of
 * the global offset table, or through a stub (PLT) that jumps through such a slot. The name comes
 * from the slot's relocation.
 */
#include "symbol/dso/called.h"

#include <string.h>

#include "symbol/dso/internal.h"
#include "symbol/dso/parser.h"

static void add_slots(struct dso *dso, Elf_Data *relocations, Elf_Scn *symbols)
{
	Elf_Data *data = symbols ? elf_getdata(symbols, NULL) : NULL;
	GElf_Shdr sh;
	GElf_Rela rela;
	GElf_Sym sym;

	if (!data || !gelf_getshdr(symbols, &sh))
		return;
	for (int i = 0; gelf_getrela(relocations, i, &rela); i++) {
		const char *name;

		if (!gelf_getsym(data, (int)GELF_R_SYM(rela.r_info), &sym))
			continue;
		name = elf_strptr(dso->elf, sh.sh_link, sym.st_name);
		if (!name || !*name || !dso_string_ends(dso->elf, name))
			continue;
		map_put(&dso->slots, rela.r_offset, (uint32_t)dso->slot_names.n);
		*vec_add(&dso->slot_names) = name;
	}
}

void dso_load_slots(struct dso *dso)
{
	GElf_Shdr sh;

	if (dso_is_foreign(dso)) {
		parser_slots(dso);
		return;
	}
	dso->slots_loaded = true;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(dso->elf, scn)) && gelf_getshdr(scn, &sh);)
		if (sh.sh_type == SHT_RELA && sh.sh_flags & SHF_ALLOC && elf_getdata(scn, NULL))
			add_slots(dso, elf_getdata(scn, NULL), elf_getscn(dso->elf, sh.sh_link));
}

#define NOWHERE UINT64_MAX

#define STUB_MOST  11u /* bytes up to the end of a stub's jump */
#define JUMP_BYTES 6u

/* The stub is jmp *slot(%rip), which may come behind endbr64 and a bnd prefix. */
const uint8_t *dso_stub_jump(const uint8_t *code, size_t n)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint8_t *end = code + n;

	if (n >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		code += sizeof(endbr64);
	code += code < end && *code == 0xf2;
	return (size_t)(end - code) >= JUMP_BYTES && code[0] == 0xff && code[1] == 0x25 ? code
											: NULL;
}

static uint64_t slot_of_stub_x86(const struct dso *dso, uint64_t stub)
{
	const uint8_t *code = dso_bytes(dso, stub, STUB_MOST), *jump;
	size_t n = code ? STUB_MOST : JUMP_BYTES; /* the last one of a segment may be short */

	if (!code)
		code = dso_bytes(dso, stub, JUMP_BYTES);
	jump = code ? dso_stub_jump(code, n) : NULL;
	return jump ? stub + (uint64_t)(jump - code) + JUMP_BYTES +
			       (uint64_t)(int64_t)signed_at(jump + 2)
		    : NOWHERE;
}

static uint64_t called_slot_x86(const struct dso *dso, uint64_t returns_to)
{
	const uint8_t *call = dso_bytes(dso, returns_to - 6, 6);
	uint64_t relative = call ? (uint64_t)(int64_t)signed_at(call + 2) : 0;

	if (call && call[0] == 0xff && call[1] == 0x15)
		return returns_to + relative;
	return call && call[1] == 0xe8 ? slot_of_stub_x86(dso, returns_to + relative) : NOWHERE;
}

#define STUB_BYTES_ARM64 12u /* up to the load of the slot */

/* The stub is adrp x16, page; ldr x17, [x16, #offset], which may come behind bti. */
static bool is_stub_arm64(uint32_t adrp, uint32_t ldr)
{
	return (adrp & 0x9f00001f) == 0x90000010 && (ldr & 0xffc003ff) == 0xf9400211;
}

static bool is_bti_c(const uint8_t *code)
{
	return (uint32_t)signed_at(code) == 0xd503245f;
}

bool dso_is_stub_arm64(const uint8_t *code, size_t n)
{
	if (n < STUB_BYTES_ARM64)
		return false;
	code += is_bti_c(code) ? 4 : 0;
	return is_stub_arm64((uint32_t)signed_at(code), (uint32_t)signed_at(code + 4));
}

static uint64_t slot_of_stub_arm64(const struct dso *dso, uint64_t stub)
{
	const uint8_t *code = dso_bytes(dso, stub, STUB_BYTES_ARM64);
	uint32_t adrp, ldr;
	int64_t pages;

	if (!code)
		return NOWHERE;
	if (is_bti_c(code))
		code += 4, stub += 4;
	adrp = (uint32_t)signed_at(code);
	ldr = (uint32_t)signed_at(code + 4);
	if (!is_stub_arm64(adrp, ldr))
		return NOWHERE;
	pages = (int32_t)((adrp >> 5 & 0x7ffff) << 13) >> 11 | (adrp >> 29 & 3);
	return (stub & ~0xfffull) + (uint64_t)pages * 4096 + (ldr >> 10 & 0xfff) * 8;
}

static uint64_t called_slot_arm64(const struct dso *dso, uint64_t returns_to)
{
	const uint8_t *call = dso_bytes(dso, returns_to - 4, 4);
	uint32_t bl = call ? (uint32_t)signed_at(call) : 0;

	if (bl >> 26 != 0x25)
		return NOWHERE;
	return slot_of_stub_arm64(dso, returns_to - 4 + (uint64_t)((int32_t)(bl << 6) >> 4));
}

const char *dso_called_import(struct dso *dso, uint64_t returns_to)
{
	uint64_t slot = dso->ehdr.e_machine == EM_X86_64    ? called_slot_x86(dso, returns_to)
			: dso->ehdr.e_machine == EM_AARCH64 ? called_slot_arm64(dso, returns_to)
							    : NOWHERE;
	uint32_t name;

	if (slot == NOWHERE)
		return NULL;
	if (!dso->slots_loaded)
		dso_load_slots(dso);
	name = map_get(&dso->slots, slot);
	return name == MAP_NONE ? NULL : dso->slot_names.data[name];
}
