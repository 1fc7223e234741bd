/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plans where the functions of an object can be patched, so that jumps to a recorder's code stand
 * at their entries and at all their exits. This folder reads files, never a process, and does not
 * know what is recorded or how. It may call probes/code, probes/place and src/symbol/dso. The code
 * that writes into a process calls this folder: for each site it asks patch_relocate() for the
 * displaced instructions, puts its own code into their gap, and writes the jump last.
 *
 * The planner promises of all sites of one plan:
 * - No two sites overlap, islands included, and no jump lies on two pages.
 * - No direct branch of the object, switch table, relocation, address that code computes, data word
 *   or landing pad leads to a byte inside a displaced range. They may lead to the first byte of an
 *   exit's range.
 * - A call is never displaced, so no return address points inside a range, except to its first
 *   byte.
 * - Another tool's probe on a function's first instruction runs a copy of it and continues behind
 *   it. So a jump covers that instruction alone, or none of it.
 *
 * On aarch64 a jump is one instruction and displaces one, so nothing can lead into its middle, and
 * there are no islands. bti c and paciasp, at which indirect calls must arrive, stay where they
 * are.
 *
 * Objects for other machines than x86-64 and aarch64 are refused.
 */
#ifndef ISPOT_PROBES_PATCH_PLAN_H
#define ISPOT_PROBES_PATCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/patch/relocate.h"
#include "probes/patch/site.h"

struct dso;
struct dso_function;

struct patch_function {
	const struct dso_function *function;
	const char *refusal;		/* a clause, "calls setjmp"; NULL: it has sites */
	const struct patch_site *sites; /* the entry, then all exits by address */
	size_t n_sites;
	/* A call takes no longer than its records, so the function is only timed if the user asks
	 * for it. */
	bool is_brief;
};

struct patch_plan;

/*
 * Reads all code of the object for branch targets, which takes about a second for 10 MB. Never
 * NULL; the dso must outlive it.
 */
struct patch_plan *patch_plan_new(struct dso *dso);
void patch_plan_free(struct patch_plan *plan);
/* Returns NULL, or a clause that says why no function of the object can be patched. */
const char *patch_plan_refusal(const struct patch_plan *plan);
/*
 * Plans a function of dso_functions() when it is first asked for. The result, also a refusal, stays
 * the same and valid until patch_plan_free(). Aliases have the same sites.
 */
const struct patch_function *patch_plan_function(struct patch_plan *plan,
						 const struct dso_function *f);

#endif
