/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds where control leaves a function: its rets, and its jumps into other functions. */
#ifndef ISPOT_PROBES_PLACE_EXITS_H
#define ISPOT_PROBES_PLACE_EXITS_H

#include <stddef.h>

struct code;
struct placement;
struct code_input;
struct walk;

/* Fills the members of out from n_ret_sites on: the exits, and what the walk to them finds. */
void exits_find(const struct code *code, const struct code_input *in, struct placement *out);

enum jump_kind { JUMP_SWITCH, JUMP_LEAVES, JUMP_UNCLEAR };

/* Returns where instruction i of the walked code, an indirect jump, leads. */
enum jump_kind exits_jump_kind(const struct walk *walk, size_t i);

#endif
