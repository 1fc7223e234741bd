/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StackMapTable (JVM specification, 4.7.4): the types that the verifier expects at each branch
 * target. */
#ifndef ISPOT_PROBES_JAVA_AGENT_STACKMAP_H
#define ISPOT_PROBES_JAVA_AGENT_STACKMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct class_out;
struct code;
struct code_layout;
struct code_names;

/* Returns whether the first variable is a reference in every frame. n_locals: number of variables
 * at the method's begin. */
bool stackmap_keeps_first(const uint8_t *info, size_t n, uint32_t n_locals);
/* Writes the table's info for the new code. info: that of the old code, NULL if there is none.
 * Returns false if it is malformed. */
bool stackmap_write(const uint8_t *info, size_t n, const struct code *c,
		    const struct code_layout *l, const struct code_names *names,
		    struct class_out *out);

#endif
