/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of one function with its parts that lie elsewhere, and every instruction that leaves it.
 */
#ifndef ISPOT_PROBES_PATCH_BODY_H
#define ISPOT_PROBES_PATCH_BODY_H

#include "base/vec.h"
#include "probes/code/flow.h"
#include "probes/code/input.h"
#include "probes/patch/site.h"

struct dso_function;
struct targets;

#define BODY_PARTS_MAX 8
#define BODY_EXITS_MAX 512

struct body_exit {
	size_t insn; /* index in code */
	enum patch_exit kind;
};

struct body {
	struct code_part parts[BODY_PARTS_MAX];
	struct code_input in;
	struct code code;
	struct walk walk;
	struct {
		VEC(struct body_exit)
	} exits; /* in the order of code */
};

/*
 * Reads a function. Returns NULL, or a clause that says why not all of its exits are known, or that
 * other code enters it in its middle.
 */
const char *body_read(struct body *b, const struct targets *t, const struct dso_function *f);
void body_release(struct body *b);
bool body_contains(const struct body *b, uint64_t address);
/* Returns the exit at that instruction, or NULL if it is none. */
const struct body_exit *body_exit_at(const struct body *b, size_t insn);
/* Returns the integer arguments that are still in their registers at that instruction, one of the
 * first straight-line run: bit i is argument i. */
uint32_t body_intact_arguments(const struct body *b, size_t insn);
/*
 * Returns whether a call takes tens of nanoseconds if nothing interrupts it: it is a few
 * instructions without a loop, call, system call or atomic operation.
 */
bool body_is_brief(const struct body *b);

#endif
