/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where control leaves a function: its rets, and its jumps into other functions. */
#ifndef ISPOT_PROBES_PLACE_EXITS_H
#define ISPOT_PROBES_PLACE_EXITS_H

#include <stddef.h>

struct code;
struct placement;
struct code_input;
struct walk;

/* Fills ret_sites, ret_sites_complete and ret_sites_reason of out. */
void exits_find(const struct code *code, const struct code_input *in, struct placement *out);

enum jump_kind { JUMP_SWITCH, JUMP_LEAVES, JUMP_UNCLEAR };

/* Where instruction i of the walked code goes, which is an indirect jump. */
enum jump_kind exits_jump_kind(const struct walk *walk, size_t i);

#endif
