/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Demangled names of C++ and Rust functions, made short enough for people to read. */
#ifndef ISPOT_SYMBOL_NAME_H
#define ISPOT_SYMBOL_NAME_H

#include <stddef.h>

struct text;

/*
 * Appends the name of a function without return type, parameters and what stands in templates:
 * "void ns::Map<int>::insert<char>(char) [clone .isra.0]" becomes "ns::Map<>::insert<>", Rust's
 * "<ns::Lru<T> as Drop>::drop" "ns::Lru<>::drop". A chain of callers ("f(int) in g(int)") is
 * shortened name by name, a place in brackets inside them. A thread's first function in libstdc++
 * gets the name of the lambda that it runs. Other text stays as it is, and what is no name at all
 * (brackets that nothing closes, over 4,096 bytes).
 */
void name_add_short(struct text *out, const char *s);
/* The same for a sentence: the short name, by text_shortened() (base/text.h). */
char *name_brief(char *buf, size_t n, const char *s, size_t columns);

#endif
