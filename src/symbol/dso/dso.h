/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An ELF file's functions, lines and dependencies (elfutils; only this folder includes it). Symbols
 * come from the first source that has them: .symtab, a .gnu_debuglink or build-id file, debuginfod
 * where the user has configured it, .gnu_debugdata (MiniDebugInfo), .dynsym. Opened once per
 * (device, inode) and kept until dso_cache_free().
 */
#ifndef ISPOT_SYMBOL_DSO_DSO_H
#define ISPOT_SYMBOL_DSO_DSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct dso;
struct dso_cache;

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

struct dso_cache *dso_cache_new(void);
void dso_cache_free(struct dso_cache *cache);

/*
 * Borrowed from the cache. Errors: -ENOENT, -EACCES, -ENOEXEC with a sentence saying what the
 * file is instead ("a script for /bin/sh; name the program it starts", "a 32-bit ELF", "empty").
 */
int dso_get(struct dso_cache *cache, const char *path, struct dso **dso, struct err *err);

/* Who has led to a path. */
enum dso_origin {
	DSO_OURS,   /* its owner and mode say who writes it */
	DSO_THEIRS, /* a process with another mount namespace, whose root may write what is root's
		       here, too: it is copied before it is read */
	DSO_ENDED,  /* a process that cannot be asked any more: as THEIRS, unless it is known */
};
/* Of paths to what the process has mapped. */
enum dso_origin dso_origin_of_process(pid_t pid);
/* A file that DSO_OURS has led to first may be two: who keeps that one goes on with it. */
int dso_get_of(struct dso_cache *cache, enum dso_origin origin, const char *path, struct dso **dso,
	       struct err *err);

const char *dso_path(const struct dso *dso);
/*
 * Returns a path by which the kernel opens this very file for a call of this process, whatever
 * somebody else puts into its place meanwhile. path: one that led to the file. Valid as long as the
 * dso.
 */
const char *dso_kernel_path(struct dso *dso, const char *path);
const char *dso_build_id(const struct dso *dso); /* lower-case hex, "" none */
dev_t dso_device(const struct dso *dso);
ino_t dso_inode(const struct dso *dso);
enum dso_machine dso_machine(const struct dso *dso);
bool dso_is_static(const struct dso *dso); /* no PT_INTERP and no DT_NEEDED */
bool dso_is_go(const struct dso *dso);	   /* .go.buildinfo, .gopclntab */
/* Some of its code is restarted by the kernel where it was interrupted (rseq). */
bool dso_is_restartable(const struct dso *dso);
bool dso_is_setuid(const struct dso *dso);
const char *dso_interp(const struct dso *dso); /* PT_INTERP, NULL none */
const char *dso_symbol_source(
	struct dso *dso); /* ".symtab" "debuglink" "debuginfod" ".gnu_debugdata" ".dynsym" "none" */
bool dso_has_dwarf(struct dso *dso);

/*
 * All functions, sorted by address; aliases at one address stand next to each other, the most
 * public name first. Names are demangled when asked for: libstdc++ has thousands, a pattern needs
 * few.
 */
size_t dso_functions(struct dso *dso, const struct dso_function **functions);
const char *dso_function_name(struct dso *dso, const struct dso_function *f); /* fills f->name */
const char *dso_function_bare_name(struct dso *dso,
				   const struct dso_function *f); /* fills f->bare_name */
/* A name that the file has, as demangle() of demangle.h; to be freed. */
char *dso_demangle(struct dso *dso, const char *symbol);
const struct dso_function *
dso_function_at(struct dso *dso, uint64_t address); /* that contains it, with its name; NULL */
/* Functions of exactly this symbol, default version first: indices into dso_functions(). */
size_t dso_find(struct dso *dso, const char *symbol, const uint32_t **indices);
/* Functions named symbol + "." + more: what compilers call parts and copies of it. */
size_t dso_find_clones(struct dso *dso, const char *symbol, const uint32_t **indices);
/* Names of functions imported through the PLT/GOT (undefined dynamic symbols). */
size_t dso_imports(struct dso *dso, const char *const **names);
/* The function of another object, as linked, that the call instruction calls which returns to that
 * address in the file's terms; NULL: it is none, or calls by a pointer. */
const char *dso_called_import(struct dso *dso, uint64_t returns_to);
/* Static markers, in the file's order; a name may have several places. */
size_t dso_markers(struct dso *dso, const struct dso_marker **markers);
enum dso_language dso_language_at(struct dso *dso,
				  uint64_t address); /* of the compile unit, else by mangling */

/* The code bytes at a file-terms address: pointer into the mapping and how many follow in the
 * section. NULL: none. */
const uint8_t *dso_code(struct dso *dso, uint64_t address, size_t *n);
/*
 * The stretch of code that one unwind entry covers: the bounds of a function, or of a part of one
 * that lies elsewhere (.cold), in stripped files too. False: the file has none there.
 */
bool dso_frame_range(struct dso *dso, uint64_t address, uint64_t *start, uint64_t *size);
/* Addresses of .eh_frame_hdr and of its n sorted entries of 8 bytes; false: none of the usual kind.
 */
bool dso_unwind_table(struct dso *dso, uint64_t *header, uint64_t *entries, uint64_t *n);
/* n bytes of what is loaded from the file, code or data; NULL: not all of them are in it. */
const uint8_t *dso_bytes(const struct dso *dso, uint64_t address, uint64_t n);
/* The i-th stretch of code, by address; and of what is loaded from the file, code among it. False:
 * there are not so many. */
bool dso_code_stretch(const struct dso *dso, size_t i, uint64_t *start, uint64_t *end);
bool dso_loaded_stretch(const struct dso *dso, size_t i, uint64_t *start, uint64_t *end);
uint64_t dso_offset_to_address(const struct dso *dso,
			       uint64_t file_offset); /* UINT64_MAX: not in a PT_LOAD */
uint64_t dso_address_to_offset(const struct dso *dso, uint64_t address);

/* The variable that an address in the file's terms lies in, demangled, and how far in it; NULL:
 * none is known there. Valid as long as the dso. */
const char *dso_variable_at(struct dso *dso, uint64_t address, uint64_t *offset);
bool dso_is_data(const struct dso *dso, uint64_t address); /* loaded, and no code */
/* How far above the file's terms it is loaded where its code at file_offset is mapped at start;
 * UINT64_MAX: there is no code at file_offset. */
uint64_t dso_load_bias(const struct dso *dso, uint64_t start, uint64_t file_offset);

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
/* From DWARF; false: there is none for it. Strings live as long as the dso. */
bool dso_prototype(struct dso *dso, const struct dso_function *f, struct dso_prototype *out);

struct dso_line dso_line_at(struct dso *dso, uint64_t address);
/* Where the function is defined: its first instruction may be inlined from another file. */
struct dso_line dso_function_line(struct dso *dso, const struct dso_function *f);
/* Inlined functions around address, innermost first; returns how many (at most n). */
size_t dso_inlines_at(struct dso *dso, uint64_t address, struct dso_inline *chain, size_t n);
bool dso_only_inlined(struct dso *dso,
		      const char *name); /* DWARF knows it, but only as inlined copies */

/*
 * Files the dynamic loader would map for a program: itself, every DT_NEEDED library, the
 * interpreter; in load order, each once. Free with dso_closure_release.
 */
struct dso_closure {
	char **paths;
	size_t n;
};
int dso_closure(struct dso_cache *cache, const char *program, struct dso_closure *out,
		struct err *err);
/* In another environment than ispot's own (LD_LIBRARY_PATH, LD_PRELOAD). */
int dso_closure_in(struct dso_cache *cache, const char *program, char *const *environment,
		   struct dso_closure *out, struct err *err);
void dso_closure_release(struct dso_closure *c);

#endif
