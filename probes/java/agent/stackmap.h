/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StackMapTable (JVM specification, 4.7.4): what the verifier believes at each branch target. */
#ifndef ISPOT_PROBES_JAVA_AGENT_STACKMAP_H
#define ISPOT_PROBES_JAVA_AGENT_STACKMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct class_out;
struct code;
struct code_layout;
struct code_names;

/* A reference is in the first variable in every frame; n_locals: of variables at the begin. */
bool stackmap_keeps_first(const uint8_t *info, size_t n, uint32_t n_locals);
/* The table's info for the new code; info NULL: there was none. False: malformed. */
bool stackmap_write(const uint8_t *info, size_t n, const struct code *c,
		    const struct code_layout *l, const struct code_names *names,
		    struct class_out *out);

#endif
