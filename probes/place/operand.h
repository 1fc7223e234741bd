/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arguments of static probes, as their notes describe them for assemblers: "-4@%eax 8@-80(%rbx)
 * -4@$1000" on x86-64, "-4@w1 8@[sp, 24] -4@1000" on aarch64: bytes of the value, negative if it is
 * signed, and where it is at the probe. Each place of a marker may have it elsewhere, so a place
 * names a row of a table that the BPF program reads.
 */
#ifndef ISPOT_PROBES_PLACE_OPERAND_H
#define ISPOT_PROBES_PLACE_OPERAND_H

#include <stdint.h>

#include "base/vec.h"
#include "probes/bpf/wire.h"

struct err;
struct planned;

struct operand_rows {
	VEC(struct wire_operands) /* [row]; the first stands for none */
};

/*
 * Operands of a note, the first WIRE_ARGS_MAX of them; how many there are. why[i]: why the i-th
 * cannot be read, NULL: it can. machine: enum dso_machine.
 */
uint32_t operands_parse(const char *note, int machine, struct wire_operands *out,
			const char *why[WIRE_ARGS_MAX]);

/*
 * Which arguments of the planned block are recorded: those behind the '@' of its pattern, else all
 * of a marker of ispot.h and none of other probes. Gives each begin its row. Exit status 2 for one
 * that there is not.
 */
int operands_choose(struct planned *p, struct operand_rows *rows, struct err *err);

#endif
