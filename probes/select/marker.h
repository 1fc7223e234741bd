/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks between static probes: the markers of probes/ispot.h (-F marker:NAME), and pairs of the
 * USDT probes that programs have anyway (-F usdt:PROVIDER:BEGIN..END). A block has all begins and
 * ends of one name in an object, as the compiler may copy each of them.
 *
 * Begin and end may have one `*` each, which stands for the same text in both: `*__start..*__done`.
 * A block may have several ends: `begin..done|failed`. Without `..END`, the hits of the probe are
 * counted.
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
	uint64_t address; /* of the nop that the note names, as in the file */
	uint64_t file_offset, semaphore_offset;
	const char *arguments; /* as the note has them; borrowed from the dso */
	uint8_t operands;      /* row of the recorded operands (operand.h); 0: none */
};

struct marker_points {
	VEC(struct marker_point)
};

struct marker {
	/*
	 * Represents the block where a function is expected; its address is that of the first
	 * begin. Its symbol is the pattern for this block: "marker:NAME", "usdt:P:BEGIN..END".
	 */
	struct dso_function function;
	uint64_t period; /* of a loop: one iteration in so many is recorded */
	struct marker_points begins, ends;
};

/* The blocks of an object that match a pattern, all newly made; the caller frees them. */
struct marker_list {
	VEC(struct marker *)
};
void markers_match(const struct pattern *p, struct dso *dso, struct marker_list *found);
bool marker_matches(const struct pattern *p, const struct marker *m);
void marker_free(struct marker *m);
bool marker_is_endless(const struct marker *m); /* lacks an end, which ispot.h demands */
bool markers_are_in(struct dso *dso);		/* of probes/ispot.h */

/* Parses "marker:…" or "usdt:…", without a leading !. Returns 0, or an error with exit status 2. */
int marker_pattern_parse(struct pattern *p, const char *rest, struct err *err);

#endif
