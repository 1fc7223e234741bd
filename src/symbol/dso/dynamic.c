/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the dynamic section of a file from the loaded bytes, as the loader does. */
#include "symbol/dso/dynamic.h"

#include <string.h>

#include "symbol/dso/internal.h"

/* No linker writes more entries than this. */
#define ENTRIES_MAX 65536
#define NEEDED_MAX  4096
#define STRING_MAX  65536

/* Returns a string that is loaded from the file, or NULL if it is not there or has no end. */
static const char *string_at(const struct dso *dso, uint64_t address)
{
	vec_for_each (&dso->segments, struct dso_segment, s) {
		uint64_t at = address - s->address, room;
		const char *string;

		if (address < s->address || at >= s->file_size)
			continue;
		room = s->file_size - at < STRING_MAX ? s->file_size - at : STRING_MAX;
		string = (const char *)dso_bytes(dso, address, room);
		return string && memchr(string, '\0', room) ? string : NULL;
	}
	return NULL;
}

static bool entry_at(const struct dso *dso, uint64_t i, Elf64_Dyn *dyn)
{
	const uint8_t *bytes;

	if (i >= ENTRIES_MAX || i >= dso->dynamic_bytes / sizeof(*dyn))
		return false;
	bytes = dso_bytes(dso, dso->dynamic_address + i * sizeof(*dyn), sizeof(*dyn));
	if (bytes)
		memcpy(dyn, bytes, sizeof(*dyn));
	return bytes && dyn->d_tag != DT_NULL;
}

/*
 * Addresses of the strings of which a file has one each; the last entry counts, as in the loader.
 * 0: none.
 */
struct single {
	uint64_t soname, rpath, runpath;
};

static void add_needed(const struct dso *dso, uint64_t address, bool optional,
		       struct dso_dynamic *out)
{
	const char *s = string_at(dso, address);

	if (s && *s)
		*vec_add(&out->needed) = (struct dso_needed){ s, optional };
}

/* Reads at most NEEDED_MAX strings: a damaged file may repeat a string whose end is far away. */
static void read_entries(const struct dso *dso, uint64_t strings, struct dso_dynamic *out,
			 struct single *single)
{
	unsigned n_needed = 0;
	Elf64_Dyn dyn;

	for (uint64_t i = 0; entry_at(dso, i, &dyn); i++) {
		uint64_t address = strings + dyn.d_un.d_val;

		switch (dyn.d_tag) {
		case DT_NEEDED:
		case DT_FILTER:
		case DT_AUXILIARY:
			if (n_needed++ < NEEDED_MAX)
				add_needed(dso, address, dyn.d_tag == DT_AUXILIARY, out);
			break;
		case DT_SONAME:
			single->soname = address;
			break;
		case DT_RPATH:
			single->rpath = address;
			break;
		case DT_RUNPATH:
			single->runpath = address;
			break;
		case DT_FLAGS_1:
			out->no_default_directories = dyn.d_un.d_val & DF_1_NODEFLIB;
			break;
		}
	}
}

void dso_dynamic_read(const struct dso *dso, struct dso_dynamic *out)
{
	struct single single = { 0 };
	uint64_t strings = 0;
	Elf64_Dyn dyn;

	*out = (struct dso_dynamic){ 0 };
	for (uint64_t i = 0; entry_at(dso, i, &dyn); i++)
		if (dyn.d_tag == DT_STRTAB)
			strings = dyn.d_un.d_ptr;
	if (!strings)
		return;
	read_entries(dso, strings, out, &single);
	out->soname = single.soname ? string_at(dso, single.soname) : NULL;
	out->rpath = single.rpath ? string_at(dso, single.rpath) : NULL;
	out->runpath = single.runpath ? string_at(dso, single.runpath) : NULL;
}

void dso_dynamic_release(struct dso_dynamic *d)
{
	vec_release(&d->needed);
}
