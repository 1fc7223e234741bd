/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An ELF file: its kind, its bytes, and what the other modules of this folder find in it with
 * elfutils, which only this folder includes. cache.h opens files; symbols.h has their functions,
 * lines.h the source lines, prototype.h parameters, markers.h static markers, called.h the
 * functions that calls lead to, data.h variables, frames.h unwind tables.
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
	uint64_t file_offset;  /* of the first byte */
	uint64_t size;	       /* in bytes, within the section */
	bool size_guessed;     /* the symbol has no size */
	bool ifunc;	       /* address is that of the resolver, which must not be probed */
	bool default_version;  /* pthread_cond_wait@@GLIBC_2.3.2, or unversioned */
	bool exported;	       /* in .dynsym */
};

struct dso_line {
	const char *file; /* "" unknown; valid as long as the dso */
	uint32_t line;
};

struct dso_marker { /* a static marker of <sys/sdt.h> */
	const char *provider, *name;
	const char *arguments; /* as "8@%rdi -4@$3": size@location of each */
	uint64_t address;      /* of the nop, as in the file */
	uint64_t file_offset;
	uint64_t semaphore_offset; /* in the file, of the counter that enables it; 0: none */
};

struct dso_inline {
	const char *name;     /* demangled */
	struct dso_line call; /* where it was inlined into its caller */
};

const char *dso_path(const struct dso *dso);
/*
 * Returns a path by which the kernel opens this very file for a call of this process, even if
 * somebody exchanges the file at the original path. path is a path that led to the file. The result
 * is valid as long as the dso.
 */
const char *dso_kernel_path(struct dso *dso, const char *path);
const char *dso_build_id(const struct dso *dso); /* lower-case hex, "" none */
/* Returns the whole mapped file, and sets *n to its size in bytes. */
const uint8_t *dso_image(const struct dso *dso, size_t *n);
dev_t dso_device(const struct dso *dso);
ino_t dso_inode(const struct dso *dso);
enum dso_machine dso_machine(const struct dso *dso);
bool dso_is_static(const struct dso *dso); /* no PT_INTERP and no DT_NEEDED */
bool dso_is_go(const struct dso *dso);	   /* .go.buildinfo, .gopclntab */
/* Whether the kernel restarts some code of the file after an interruption (rseq). */
bool dso_is_restartable(const struct dso *dso);
bool dso_is_setuid(const struct dso *dso);
const char *dso_interp(const struct dso *dso); /* PT_INTERP, NULL none */
/*
 * Returns the code at an address of the file, and in *n how many bytes of its section follow, or
 * NULL if there is no code.
 */
const uint8_t *dso_code(struct dso *dso, uint64_t address, size_t *n);
/*
 * Returns n loaded bytes of the file, code or data, or NULL if the file does not contain all of
 * them.
 */
const uint8_t *dso_bytes(const struct dso *dso, uint64_t address, uint64_t n);
/*
 * Find the i-th range of code, and the i-th range loaded from the file, in the order of their
 * addresses. Return false if there are fewer.
 */
bool dso_code_stretch(const struct dso *dso, size_t i, uint64_t *start, uint64_t *end);
bool dso_loaded_stretch(const struct dso *dso, size_t i, uint64_t *start, uint64_t *end);
/* Both return UINT64_MAX for what no PT_LOAD covers. */
uint64_t dso_offset_to_address(const struct dso *dso, uint64_t file_offset);
uint64_t dso_address_to_offset(const struct dso *dso, uint64_t address);

/* How a value is passed between functions; DSO_PASSED_NOT: there is no value (void). */
enum dso_passed { DSO_PASSED_NOT, DSO_PASSED_INTEGER, DSO_PASSED_FLOAT, DSO_PASSED_AGGREGATE };

struct dso_parameter {
	const char *name, *type; /* as in C: "count", "size_t"; name may be "" */
	enum dso_passed passed;
	uint32_t bytes;
	bool is_signed, is_pointer;
	uint32_t place; /* index of the integer register at the entry, in the order of the calling
			   convention, from DWARF's locations; DSO_NO_PLACE: none or unknown */
};

#define DSO_NO_PLACE	   UINT32_MAX
#define DSO_PARAMETERS_MAX 16
struct dso_prototype {
	struct dso_parameter result, parameters[DSO_PARAMETERS_MAX];
	uint32_t n;
	bool variadic;
	bool changed;	  /* the compiler removed parameters; `place` tells where the others are */
	const char *text; /* "ssize_t write(int fd, const void *buf, size_t count)" */
};

#endif
