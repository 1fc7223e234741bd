// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Finds the bounds of code in the unwind table (.eh_frame_hdr), which stripped files keep, too. The
 * parts of a function that the compiler moved away (.cold) have entries of their own, but may have
 * no symbol. Stripped programs of Go keep a table of their own, with names.
 *
 * The table is sorted by start address, and every entry leads to its FDE. The length field of the
 * FDE is read in the one encoding that linkers write (pc-relative, 4 bytes), and used only if the
 * FDE has the same start as the table.
 */
#include "symbol/dso/frames.h"

#include <string.h>

#include "symbol/dso/internal.h"

struct table {
	const uint8_t *entries; /* 8 bytes each: start, FDE; relative to address */
	uint64_t address;	/* of .eh_frame_hdr */
	size_t n;
};

static bool open_table(const struct dso *dso, struct table *t)
{
	/* version 1; frame pointer pcrel sdata4, count udata4, table datarel sdata4 */
	static const uint8_t usual[4] = { 1, 0x1b, 0x03, 0x3b };
	const uint8_t *head;

	if (dso->frames_bytes < 12)
		return false;
	head = dso_bytes(dso, dso->frames_address, dso->frames_bytes);
	if (!head || memcmp(head, usual, sizeof(usual)) != 0)
		return false;
	t->address = dso->frames_address;
	t->entries = head + 12;
	t->n = (uint32_t)signed_at(head + 8);
	if (t->n > (dso->frames_bytes - 12) / 8)
		t->n = (dso->frames_bytes - 12) / 8;
	return t->n > 0;
}

static uint64_t entry_start(const struct table *t, size_t i)
{
	return t->address + (uint64_t)(int64_t)signed_at(t->entries + 8 * i);
}

/*
 * Returns the last entry that starts at or before address, or the first entry if all start later.
 */
static size_t find_entry(const struct table *t, uint64_t address)
{
	size_t low = 0, high = t->n;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (entry_start(t, middle) <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint64_t entry_size(const struct dso *dso, const struct table *t, size_t i)
{
	uint64_t at = t->address + (uint64_t)(int64_t)signed_at(t->entries + 8 * i + 4);
	const uint8_t *fde = dso_bytes(dso, at, 16); /* length, CIE, start, size */

	if (!fde || at + 8 + (uint64_t)(int64_t)signed_at(fde + 8) != entry_start(t, i))
		return 0;
	return (uint32_t)signed_at(fde + 12);
}

bool dso_frame_range(struct dso *dso, uint64_t address, uint64_t *start, uint64_t *size)
{
	struct table t;
	size_t i;

	if (!open_table(dso, &t))
		return false;
	i = find_entry(&t, address);
	*start = entry_start(&t, i);
	*size = entry_size(dso, &t, i);
	return *start <= address && address - *start < *size;
}

bool dso_unwind_table(struct dso *dso, uint64_t *header, uint64_t *entries, uint64_t *n)
{
	struct table t;

	if (!open_table(dso, &t))
		return false;
	*header = t.address;
	*entries = t.address + 12;
	*n = t.n;
	return true;
}

/* The offsets in .gopclntab since Go 1.18. The table at GO_TABLE has two numbers of 4 bytes for
 * each function: where it begins after the start of the text, and where its facts are, the second
 * of which is its name. */
enum { GO_MAGIC = 0xfffffff0, GO_COUNT = 8, GO_TEXT = 24, GO_NAMES = 32, GO_TABLE = 64 };

struct bytes {
	const uint8_t *at;
	uint64_t n;
};

static struct bytes section(struct dso *dso, const char *wanted)
{
	size_t names = 0;
	GElf_Shdr sh;

	elf_getshdrstrndx(dso->elf, &names);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(dso->elf, scn)) && gelf_getshdr(scn, &sh);) {
		const char *name = elf_strptr(dso->elf, names, sh.sh_name);

		if (name && !strcmp(name, wanted) && sh.sh_offset <= dso->image_bytes &&
		    sh.sh_size <= dso->image_bytes - sh.sh_offset)
			return (struct bytes){ dso->image + sh.sh_offset, sh.sh_size };
	}
	return (struct bytes){ 0 };
}

static uint64_t number_at(struct bytes b, uint64_t offset, size_t size)
{
	uint64_t number = 0;

	if (offset <= b.n && size <= b.n - offset)
		memcpy(&number, b.at + offset, size);
	return number;
}

void dso_go_functions(struct dso *dso, dso_function_visitor *visit, void *ctx)
{
	const struct bytes b = section(dso, ".gopclntab");
	const uint64_t text = number_at(b, GO_TEXT, 8), names = number_at(b, GO_NAMES, 8);
	const uint64_t table = number_at(b, GO_TABLE, 8);
	uint64_t n = number_at(b, GO_COUNT, 8);

	if ((number_at(b, 0, 4) & ~1u) != GO_MAGIC || !text || table > b.n)
		return;
	if (n > (b.n - table) / 8)
		n = (b.n - table) / 8;
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t start = number_at(b, table + 8 * i, 4);
		const uint64_t end = number_at(b, table + 8 * i + 8, 4);
		const uint64_t facts = table + number_at(b, table + 8 * i + 4, 4);
		const uint64_t name = names + number_at(b, facts + 4, 4);

		if (end > start && name < b.n && memchr(b.at + name, 0, b.n - name))
			visit(ctx, (const char *)b.at + name, text + start, end - start);
	}
}
