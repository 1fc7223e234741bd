/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The struct and the functions that the files of this folder share, which are the only ones to
 * include elfutils: cache.c opens files, elf.c reads their headers, symbols.c makes the table of
 * functions, lines.c reads DWARF.
 */
#ifndef ISPOT_SYMBOL_DSO_INTERNAL_H
#define ISPOT_SYMBOL_DSO_INTERNAL_H

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"
#include "symbol/dso/dso.h"

struct dso_range {
	uint64_t start, end; /* virtual addresses, as in the file */
};

struct dso_segment {
	uint64_t address, file_offset, file_size, memory_size;
	bool executable;
};

struct dso_variable {
	const char *symbol;
	const char *name; /* demangled; NULL: not needed yet */
	uint64_t address, size;
};

struct dso_lines; /* lines.c */

struct dso {
	char *path;
	struct stat st;
	int fd;		       /* of the file, or of its copy (file.h) */
	int original_fd;       /* of the file that was copied; -1: no copy */
	uint64_t copied_bytes; /* of the file and its debug files */
	bool is_roots;	       /* root reads it in its own process: nobody else can write it */
	Elf *elf;	       /* NULL: the child of parser.c has it */
	const uint8_t *image;  /* the whole file, mapped by libelf or by parser.c */
	size_t image_bytes;
	GElf_Ehdr ehdr;
	char *build_id, *interp;
	uint64_t dynamic_address, dynamic_bytes; /* PT_DYNAMIC, cut to the file */
	uint64_t frames_address, frames_bytes;	 /* PT_GNU_EH_FRAME; 0: none */
	bool has_needed, go, restartable;
	struct {
		VEC(struct dso_segment)
	} segments;
	struct {
		VEC(struct dso_range)
	} code; /* executable sections, sorted; segments if the file has no sections */

	char *kernel_path; /* NULL: not needed yet */
	bool given_up;	   /* something of the file could not be read */

	Dwfl *dwfl; /* opened by dso_module() and kept, as it caches symbol tables and DWARF */
	Dwfl_Module *module;
	bool module_tried;
	bool shared_found; /* the file that several debug files share */

	bool symbols_loaded;
	const char *symbol_source;
	struct {
		VEC(struct dso_function)
	} functions;
	uint32_t *by_name; /* indices into functions, sorted by symbol; NULL: not built yet */
	struct {
		VEC(const char *)
	} imports;
	bool markers_loaded;
	struct {
		VEC(struct dso_marker)
	} markers;
	bool imports_loaded;
	struct {
		VEC(struct dso_variable)
	} variables; /* sorted by address */
	bool variables_loaded;
	struct map slots; /* of the global offset table: address -> index of slot_names */
	struct {
		VEC(const char *)
	} slot_names;
	bool slots_loaded;

	struct dso_lines *lines;
	struct parser *parser;			/* parser.c; NULL: not started */
	void (*serve)(struct dso *dso, int fd); /* the function that the child of parser.c runs */
	struct arena strings;
};

/* Answers the requests that arrive at fd, in the child (answer.c); does not return. */
_Noreturn void dso_serve(struct dso *dso, int fd);
/* Returns libdwfl's view of the file, or NULL if libdwfl refuses the file. */
Dwfl_Module *dso_module(struct dso *dso);
/* Returns the name of libdwfl's symbol i and fills in *sym and *elf, the file that has the symbol,
 * or returns NULL if its name is damaged. *elf must be NULL. */
const char *dso_merged_symbol(Dwfl_Module *module, int i, GElf_Sym *sym, Elf **elf);
/* Reads all that dso_get() promises from the open file (elf.c). */
int dso_read_elf(struct dso *dso, struct err *err);
/*
 * libdw opens the file that several debug files share by a name in one of them, whatever is there.
 * This keeps libdw from doing so if the search of debugfile.c has not found the file.
 */
void dso_no_other_files(struct dso *dso, Dwarf *dwarf);
/*
 * The searches for an address or an offset are linear, so a file has bounds: of more segments the
 * rest is ignored (the kernel loads no file with more than 1,170 headers), and a file with more
 * ranges counts as one without sections.
 */
#define DSO_SEGMENTS_MAX 128
#define DSO_CODE_MAX	 4096
void dso_add_segment(struct dso *dso, const struct dso_segment *s);
void dso_add_code(struct dso *dso, uint64_t address, uint64_t size);
void dso_finish_code(struct dso *dso); /* call it after the last range */

/*
 * Finds the unit with the functions of a skeleton unit in the .dwo file that it names. Returns
 * false if there is none.
 */
bool dso_split_unit(struct dso *dso, Dwarf_CU *cu, Dwarf_Die *unit, Dwarf_Die *split);
const struct dso_range *dso_code_range(const struct dso *dso,
				       uint64_t address); /* NULL: not code */
/* Whether s ends within the mapped file of elf: libelf does not check this for libdwfl. */
bool dso_string_ends(Elf *elf, const char *s);
/* Finds the DIE of the function that the code at address belongs to. */
bool dso_subprogram(struct dso *dso, uint64_t address, Dwarf_Die *die);
/* Returns an address of the file as DWARF has it: a debug file may have other addresses. */
Dwarf_Addr dso_dwarf_address(struct dso *dso, uint64_t address);

/* Reads an unaligned integer from a file's bytes. */
static inline int32_t signed_at(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

#endif
