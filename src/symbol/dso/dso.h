/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An ELF file: what it is, its bytes, and what the modules beside this one find in it (elfutils;
 * only this folder includes it). cache.h opens files; symbols.h has their functions, lines.h the
 * source lines, prototype.h parameters, markers.h static markers, called.h what a call instruction
 * calls, data.h variables, frames.h unwind tables.
 */
#ifndef ISPOT_SYMBOL_DSO_DSO_H
#define ISPOT_SYMBOL_DSO_DSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct dso;

enum dso_machine { DSO_OTHER, DSO_X86_64, DSO_AARCH64 };
enum dso_language { LANG_UNKNOWN, LANG_C, LANG_CXX, LANG_RUST, LANG_GO, LANG_FORTRAN };

struct dso_function {
	const char *symbol;    /* as linked, with @VERSION cut off */
	const char *name;      /* demangled, equals symbol for C; NULL in dso_functions() until
				  dso_function_name() */
	const char *bare_name; /* without parameters; NULL until dso_function_bare_name() */
	uint64_t address;      /* st_value: virtual address in the file's terms */
	uint64_t file_offset;  /* of its first byte */
	uint64_t size;	       /* in the section */
	bool size_guessed;     /* the symbol gives none */
	bool ifunc;	       /* address is the resolver's; not to be probed itself */
	bool default_version;  /* pthread_cond_wait@@GLIBC_2.3.2, or unversioned */
	bool exported;	       /* in .dynsym */
};

struct dso_line {
	const char *file; /* "" unknown; valid as long as the dso */
	uint32_t line;
};

struct dso_marker { /* of <sys/sdt.h> */
	const char *provider, *name;
	const char *arguments; /* "8@%rdi -4@$3": size@where each */
	uint64_t address;      /* of the nop, in the file's terms */
	uint64_t file_offset;
	uint64_t semaphore_offset; /* in the file, of the counter that switches it on; 0: none */
};

struct dso_inline {
	const char *name;     /* demangled */
	struct dso_line call; /* where it was inlined into its caller */
};

const char *dso_path(const struct dso *dso);
/*
 * Returns a path by which the kernel opens this very file for a call of this process, whatever
 * somebody else puts into its place meanwhile. path: one that led to the file. Valid as long as the
 * dso.
 */
const char *dso_kernel_path(struct dso *dso, const char *path);
const char *dso_build_id(const struct dso *dso); /* lower-case hex, "" none */
/* The whole file, mapped, and how many bytes it has. */
const uint8_t *dso_image(const struct dso *dso, size_t *n);
dev_t dso_device(const struct dso *dso);
ino_t dso_inode(const struct dso *dso);
enum dso_machine dso_machine(const struct dso *dso);
bool dso_is_static(const struct dso *dso); /* no PT_INTERP and no DT_NEEDED */
bool dso_is_go(const struct dso *dso);	   /* .go.buildinfo, .gopclntab */
/* Some of its code is restarted by the kernel where it was interrupted (rseq). */
bool dso_is_restartable(const struct dso *dso);
bool dso_is_setuid(const struct dso *dso);
const char *dso_interp(const struct dso *dso); /* PT_INTERP, NULL none */
/*
 * Returns the code at an address of the file, and in *n how many bytes of its section follow, or
 * NULL if there is no code.
 */
const uint8_t *dso_code(struct dso *dso, uint64_t address, size_t *n);
/* Returns n bytes of what is loaded from the file, code or data, or NULL if not all are in it. */
const uint8_t *dso_bytes(const struct dso *dso, uint64_t address, uint64_t n);
/*
 * Find the i-th stretch of code, and the i-th of all that is loaded from the file, in the order of
 * their addresses. Return false if there are not so many.
 */
bool dso_code_stretch(const struct dso *dso, size_t i, uint64_t *start, uint64_t *end);
bool dso_loaded_stretch(const struct dso *dso, size_t i, uint64_t *start, uint64_t *end);
/* Both return UINT64_MAX for what no PT_LOAD covers. */
uint64_t dso_offset_to_address(const struct dso *dso, uint64_t file_offset);
uint64_t dso_address_to_offset(const struct dso *dso, uint64_t address);

/* How a value travels between functions. NOT: there is none (void). */
enum dso_passed { DSO_PASSED_NOT, DSO_PASSED_INTEGER, DSO_PASSED_FLOAT, DSO_PASSED_AGGREGATE };

struct dso_parameter {
	const char *name, *type; /* as in C: "count", "size_t"; name "": none */
	enum dso_passed passed;
	uint32_t bytes;
	bool is_signed, is_pointer;
	uint32_t place; /* integer register at the entry, as the convention counts them, by DWARF's
			   locations; DSO_NO_PLACE: none, or not known */
};

#define DSO_NO_PLACE	   UINT32_MAX
#define DSO_PARAMETERS_MAX 16
struct dso_prototype {
	struct dso_parameter result, parameters[DSO_PARAMETERS_MAX];
	uint32_t n;
	bool variadic;
	bool changed; /* the compiler has left out parameters: the others are where `place` says */
	const char *text; /* "ssize_t write(int fd, const void *buf, size_t count)" */
};

#endif
