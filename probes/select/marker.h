/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks between static probes: the markers of probes/ispot.h (-F marker:NAME), and pairs of the
 * USDT probes that programs have anyway (-F usdt:PROVIDER:BEGIN..END). A block is what an object
 * has of one name: its begins, its ends, however often the compiler copied them.
 *
 * USDT names may have one `*` each, which then stands for the same text: `*__start..*__done`. Ends
 * may be several, `begin..done|failed`; without `..END` the probe's hits are counted.
 */
#ifndef ISPOT_PROBES_SELECT_MARKER_H
#define ISPOT_PROBES_SELECT_MARKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "symbol/dso/dso.h"

struct err;
struct pattern;
struct planned;
struct probeset;

#define MARKER_PROVIDER "ispot"

struct marker_point {
	uint64_t address; /* of the nop that the note names, in the file's terms */
	uint64_t file_offset, semaphore_offset;
	const char *arguments; /* as the note has them; borrowed from the dso */
	uint8_t operands;      /* row of those that are recorded (operand.h), 0: none is */
};

struct marker_points {
	VEC(struct marker_point)
};

struct marker {
	/* Stands for the block where functions are named; its place is that of the first begin.
	 * Its symbol is the pattern that means this block: "marker:NAME", "usdt:P:BEGIN..END". */
	struct dso_function function;
	uint64_t period; /* of a loop: one iteration in so many is recorded; 1: every one */
	struct marker_points begins, ends;
};

/* Blocks of an object that a pattern means, each new; the caller frees them. */
struct marker_list {
	VEC(struct marker *)
};
void markers_match(const struct pattern *p, struct dso *dso, struct marker_list *found);
bool marker_matches(const struct pattern *p, const struct marker *m);
void marker_free(struct marker *m);
bool marker_is_endless(const struct marker *m); /* against what ispot.h says */
bool markers_are_in(struct dso *dso);		/* of probes/ispot.h */

/* "marker:…" and "usdt:…" behind the !; 0, or the sentence with exit status 2. */
int marker_pattern_parse(struct pattern *p, const char *rest, struct err *err);

#endif
