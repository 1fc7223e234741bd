/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where control leaves a function: its rets, and its jumps into other functions. */
#ifndef ISPOT_PROBES_PLACE_EXITS_H
#define ISPOT_PROBES_PLACE_EXITS_H

struct code;
struct placement;
struct code_input;

/* Fills ret_sites, ret_sites_complete and ret_sites_reason of out. */
void exits_find(const struct code *code, const struct code_input *in, struct placement *out);

#endif
