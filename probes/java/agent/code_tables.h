/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the tables of a Code attribute that name instructions for a method's new code. */
#ifndef ISPOT_PROBES_JAVA_AGENT_CODE_TABLES_H
#define ISPOT_PROBES_JAVA_AGENT_CODE_TABLES_H

#include <stdbool.h>

struct class_out;
struct code;
struct code_layout;
struct code_names;

/* Both return false if the tables are malformed. */
bool bytecode_handlers(const struct code *c, const struct code_layout *l, struct class_out *out);
bool bytecode_attributes(const struct code *c, const struct code_layout *l,
			 const struct code_names *names, struct class_out *out);

#endif
