/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C++ and Rust names, through libiberty (the one file that includes it is demangle.c). */
#ifndef ISPOT_SYMBOL_DEMANGLE_H
#define ISPOT_SYMBOL_DEMANGLE_H

#include <stdbool.h>

/*
 * Returns the demangled name, or a copy of symbol if it is not mangled; the caller frees it. Rust
 * hashes are cut off.
 */
char *demangle(const char *symbol);
/* The same without return type and parameter list: "ns::find<int>". */
char *demangle_bare(const char *symbol);
bool symbol_is_mangled(const char *symbol); /* looks at two bytes only */
bool symbol_is_cxx(const char *symbol);
bool symbol_is_rust(const char *symbol);

#endif
