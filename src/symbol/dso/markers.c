/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads static markers (SDT): a nop in the code, and a note in .note.stapsdt that gives its
 * address, as <sys/sdt.h> writes them: three words (place, base, semaphore), then three strings.
 */
#include "symbol/dso/markers.h"

#include <string.h>

#include "symbol/dso/internal.h"
#include "symbol/dso/parser.h"

#define NOTE_STAPSDT 3

/*
 * Returns the string at *at of the descriptor and moves *at behind it, or returns NULL if the
 * string does not end.
 */
static const char *read_string(const char *desc, size_t n, size_t *at)
{
	const char *s = desc + *at;
	const char *end = *at < n ? memchr(s, '\0', n - *at) : NULL;

	if (end)
		*at = (size_t)(end - desc) + 1;
	return end ? s : NULL;
}

/*
 * A note has the addresses as they were before the linker or prelink moved .stapsdt.base. They
 * moved by the same distance.
 */
static void add_marker(struct dso *dso, const char *desc, size_t n, uint64_t base)
{
	struct dso_marker marker = { 0 };
	uint64_t words[3], moved;
	size_t at = sizeof(words);

	if (n < sizeof(words))
		return;
	memcpy(words, desc, sizeof(words));
	moved = base ? base - words[1] : 0;
	marker.address = words[0] + moved;
	marker.provider = read_string(desc, n, &at);
	marker.name = marker.provider ? read_string(desc, n, &at) : NULL;
	marker.arguments = marker.name ? read_string(desc, n, &at) : NULL;
	marker.file_offset = dso_address_to_offset(dso, marker.address);
	if (words[2])
		marker.semaphore_offset = dso_address_to_offset(dso, words[2] + moved);
	if (marker.arguments && dso_code_range(dso, marker.address) &&
	    marker.file_offset != UINT64_MAX && marker.semaphore_offset != UINT64_MAX)
		*vec_add(&dso->markers) = marker;
}

static void read_notes(struct dso *dso, Elf_Data *data, uint64_t base)
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr note;

	while (data && (next = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type == NOTE_STAPSDT && note.n_namesz == sizeof("stapsdt") &&
		    !memcmp(bytes + name, "stapsdt", sizeof("stapsdt")))
			add_marker(dso, bytes + desc, note.n_descsz, base);
		at = next;
	}
}

static Elf_Scn *find_section(struct dso *dso, const char *wanted, GElf_Shdr *sh)
{
	size_t names = 0;

	elf_getshdrstrndx(dso->elf, &names);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(dso->elf, scn)) && gelf_getshdr(scn, sh);) {
		const char *name = elf_strptr(dso->elf, names, sh->sh_name);

		if (name && !strcmp(name, wanted))
			return scn;
	}
	return NULL;
}

size_t dso_markers(struct dso *dso, const struct dso_marker **markers)
{
	GElf_Shdr base = { 0 }, notes;
	Elf_Scn *scn;

	if (!dso->markers_loaded && dso_is_foreign(dso)) {
		parser_markers(dso);
	} else if (!dso->markers_loaded) {
		dso->markers_loaded = true;
		if (!find_section(dso, ".stapsdt.base", &base))
			base.sh_addr = 0;
		scn = find_section(dso, ".note.stapsdt", &notes);
		if (scn && notes.sh_type == SHT_NOTE)
			read_notes(dso, elf_getdata(scn, NULL), base.sh_addr);
	}
	*markers = dso->markers.data;
	return dso->markers.n;
}
