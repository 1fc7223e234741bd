/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes names from class files as Java writes them. */
#ifndef ISPOT_PROBES_JAVA_AGENT_NAME_H
#define ISPOT_PROBES_JAVA_AGENT_NAME_H

#include <stddef.h>

struct rewrite_method;

#define NAME_MAX_BYTES 1024

/* Writes "com.example.Store.get", cut to n bytes. */
void name_plain(char *buf, size_t n, const struct rewrite_method *m);
/* Writes "com.example.Store.get(int,String[])", with the simple names of the parameters' types. */
void name_full(char *buf, size_t n, const struct rewrite_method *m);

/* Writes "com.example.Store" for "com/example/Store" or "Lcom/example/Store;". An array stays "[I".
 */
void name_class(char *buf, size_t n, const char *name);

#endif
