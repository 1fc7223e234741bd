/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arguments of static markers, as their notes describe them for assemblers: "-4@%eax 8@-80(%rbx)
 * -4@$1000" on x86-64, "-4@w1 8@[sp, 24] -4@1000" on aarch64: the bytes of the value, negative if
 * it is signed, and its location when the probe fires. The location may differ between the places
 * of a marker, so each place names a row of a table that the BPF program reads.
 */
#ifndef ISPOT_PROBES_PLACE_OPERAND_H
#define ISPOT_PROBES_PLACE_OPERAND_H

#include <stdint.h>

#include "base/vec.h"
#include "probes/bpf/wire.h"

struct err;
struct planned;

struct operand_rows {
	VEC(struct wire_operands) /* [row]; row 0 has no operands */
};

/*
 * Parses the operands of a note, at most WIRE_ARGS_MAX of them, and returns how many the note has.
 * why[i] is NULL, or the reason for which the i-th cannot be read. machine: enum dso_machine.
 */
uint32_t operands_parse(const char *note, int machine, struct wire_operands *out,
			const char *why[WIRE_ARGS_MAX]);

/*
 * Chooses the arguments that are recorded: those behind the '@' of the pattern, or without an '@',
 * all of a marker of ispot.h and none of other markers. Assigns a row to each begin. If the pattern
 * names an argument that does not exist, the error has exit status 2.
 */
int operands_choose(struct planned *p, struct operand_rows *rows, struct err *err);

#endif
