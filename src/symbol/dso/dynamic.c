/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dynamic section of a file, as the loader itself finds it: what the file asks of the loader.
 */
#include "symbol/dso/internal.h"

#include <string.h>

/* No linker writes more entries than this. */
#define ENTRIES_MAX 65536
#define NEEDED_MAX  4096
#define STRING_MAX  65536

/* A string that is loaded from the file; NULL: it is not there, or has no end. */
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

static void take(const struct dso *dso, uint64_t strings, const Elf64_Dyn *dyn,
		 struct dso_dynamic *out)
{
	const char *s = string_at(dso, strings + dyn->d_un.d_val);

	switch (dyn->d_tag) {
	case DT_NEEDED:
	case DT_FILTER:
	case DT_AUXILIARY:
		if (s && *s && out->needed.n < NEEDED_MAX)
			*vec_add(&out->needed) =
				(struct dso_needed){ s, dyn->d_tag == DT_AUXILIARY };
		break;
	case DT_SONAME:
		out->soname = s;
		break;
	case DT_RPATH:
		out->rpath = s;
		break;
	case DT_RUNPATH:
		out->runpath = s;
		break;
	case DT_FLAGS_1:
		out->no_default_directories = dyn->d_un.d_val & DF_1_NODEFLIB;
		break;
	}
}

void dso_dynamic_read(const struct dso *dso, struct dso_dynamic *out)
{
	uint64_t strings = 0;
	Elf64_Dyn dyn;

	*out = (struct dso_dynamic){ 0 };
	for (uint64_t i = 0; entry_at(dso, i, &dyn); i++)
		if (dyn.d_tag == DT_STRTAB)
			strings = dyn.d_un.d_ptr;
	for (uint64_t i = 0; strings && entry_at(dso, i, &dyn); i++)
		take(dso, strings, &dyn, out);
}

void dso_dynamic_release(struct dso_dynamic *d)
{
	vec_release(&d->needed);
}
