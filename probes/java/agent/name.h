/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names as Java writes them, from those of class files. */
#ifndef ISPOT_PROBES_JAVA_AGENT_NAME_H
#define ISPOT_PROBES_JAVA_AGENT_NAME_H

#include <stddef.h>

struct rewrite_method;

#define NAME_MAX_BYTES 1024

/* "com.example.Store.get"; longer ones are cut. */
void name_plain(char *buf, size_t n, const struct rewrite_method *m);
/* "com.example.Store.get(int,String[])": parameters by their simple names. */
void name_full(char *buf, size_t n, const struct rewrite_method *m);

/* "com.example.Store" of "com/example/Store" or "Lcom/example/Store;"; an array stays "[I". */
void name_class(char *buf, size_t n, const char *name);

#endif
