/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the files of dso.h: dso.c opens and identifies, symbols.c makes the table of functions,
 * lines.c reads DWARF, closure.c finds libraries with what dynamic.c, loader.c and ldcache.c read.
 * Only they include elfutils.
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
	uint64_t start, end; /* virtual addresses in the file's terms */
};

struct dso_segment {
	uint64_t address, file_offset, file_size, memory_size;
	bool executable;
};

struct dso_variable {
	const char *symbol;
	const char *name; /* demangled; NULL: not asked for yet */
	uint64_t address, size;
};

struct dso_lines; /* lines.c */

struct dso {
	char *path;
	struct stat st;
	int fd;		       /* of the file, or of its copy (file.h) */
	int original_fd;       /* of what was copied; -1: nothing was */
	uint64_t copied_bytes; /* of it and its debug files */
	bool is_roots;	       /* root reads it, in its own process: nobody else can write it */
	Elf *elf;	       /* NULL: parser.c has it */
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
	} code; /* executable sections, sorted; segments where a file has no sections */

	char *kernel_path; /* NULL: it was not asked for yet */
	bool given_up;	   /* something of it is missing */

	Dwfl *dwfl; /* opened by dso_module(), kept: it caches symbol tables and DWARF */
	Dwfl_Module *module;
	bool module_tried;
	bool shared_found; /* the file that its debug file shares with others */

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
	void (*serve)(struct dso *dso, int fd); /* what the child of parser.c runs */
	struct arena strings;
};

/* Answers the requests that come over fd, in the child (answer.c); does not return. */
_Noreturn void dso_serve(struct dso *dso, int fd);
/* libdwfl's view of the file; NULL where libdwfl refuses it. */
Dwfl_Module *dso_module(struct dso *dso);
/* Everything that dso_get() promises, from the open file (elf.c). */
int dso_read_elf(struct dso *dso, struct err *err);
/* libdw opens what several debug files share by the name that one of them says, whatever is there:
 * not if the search here has not found it. */
void dso_no_other_files(struct dso *dso, Dwarf *dwarf);
/*
 * Each address and offset is looked for in them: a file has no more segments than these (the kernel
 * loads none with more than 1,170 headers), and one with more ranges counts as one without
 * sections.
 */
#define DSO_SEGMENTS_MAX 128
#define DSO_CODE_MAX	 4096
void dso_add_segment(struct dso *dso, const struct dso_segment *s);
void dso_add_code(struct dso *dso, uint64_t address, uint64_t size);
void dso_finish_code(struct dso *dso); /* all of it was added */

/* The unit with the functions of a skeleton, from the .dwo file that it names. False: none. */
bool dso_split_unit(struct dso *dso, Dwarf_CU *cu, Dwarf_Die *unit, Dwarf_Die *split);
const struct dso_range *dso_code_range(const struct dso *dso,
				       uint64_t address); /* NULL: not code */
/* Whether s ends within the mapped file it points into: libelf does not check this for libdwfl. */
bool dso_string_ends(Elf *elf, const char *s);
/* The DIE of the function that the code at address belongs to. */
bool dso_subprogram(struct dso *dso, uint64_t address, Dwarf_Die *die);
/* An address in the file's terms as DWARF has it, which may lie in a file of its own. */
Dwarf_Addr dso_dwarf_address(struct dso *dso, uint64_t address);

/* Reads an integer from a file's bytes, which need not be aligned. */
static inline int32_t signed_at(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

#endif
