/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads ELF and DWARF of a file that others may write, for root. A child in a sandbox (sandbox.h)
 * with the rights of the file's owner reads the file and demangles names, and answers over a
 * socket. The loaded code and data are mapped in this process, too, which reads only instructions
 * and unwind tables from them. The functions of dso.h ask the child if dso_is_foreign(); the child
 * runs the same functions on its own copy of the dso. A child that dies, takes too long
 * (patience.h) or sends invalid answers is ended, and the file counts as one without symbols.
 */
#ifndef ISPOT_SYMBOL_DSO_PARSER_H
#define ISPOT_SYMBOL_DSO_PARSER_H

#include "symbol/dso/dso.h"

struct err;
struct parser;

/* Whether root reads a file that others may write. False in the child that does the reading. */
bool dso_is_foreign(const struct dso *dso);

/*
 * Asks for time to work on another user's file in this process, for example to decode its code. The
 * file determines how much work there is, so the work counts as waiting does (patience.h). Returns
 * false if no time is left.
 */
bool parser_may_work(struct dso *dso, uint64_t *began_ns);
void parser_has_worked(struct dso *dso, uint64_t began_ns);

/* The child does what dso_read_elf() does, and this process maps the file as dso->image. */
int parser_elf(struct dso *dso, struct err *err);
/* Each fills the members of the dso that it is named after. */
void parser_imports(struct dso *dso);
void parser_markers(struct dso *dso);
void parser_slots(struct dso *dso);
void parser_functions(struct dso *dso); /* fills functions, symbol_source */
void parser_variables(struct dso *dso);
/* Fills name and bare_name of the function, and of its neighbors in the table. */
void parser_names(struct dso *dso, struct dso_function *f);
char *parser_demangle(struct dso *dso, const char *symbol); /* freed by the caller */
bool parser_has_dwarf(struct dso *dso);
struct dso_line parser_line(struct dso *dso, uint64_t address);
struct dso_line parser_function_line(struct dso *dso, const struct dso_function *f);
size_t parser_inlines(struct dso *dso, uint64_t address, struct dso_inline *chain, size_t n);
enum dso_language parser_language(struct dso *dso, uint64_t address);
bool parser_only_inlined(struct dso *dso, const char *name);
bool parser_prototype(struct dso *dso, const struct dso_function *f, struct dso_prototype *out);

/* All kept answers together take at most so many bytes; later ones are dropped, with a notice. */
extern uint64_t parser_bytes_most;

void parser_free(struct parser *p); /* ends the child */

#endif
