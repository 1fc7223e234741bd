// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/place/function.h"

#include <linux/version.h>
#include <stdio.h>
#include <string.h>

#include "symbol/dso/dso.h"
#include "symbol/dso/frames.h"
#include "symbol/dso/parser.h"
#include "symbol/dso/symbols.h"

/*
 * Functions whose switches lead to many cold parts are rare, and each part costs another pass over
 * the function.
 */
#define PARTS_MAX 8

/*
 * Returns the offset of another symbol inside the function, or 0: hand-written code may have two
 * entries (read and __read_nocancel).
 */
static uint32_t entry_limit(struct dso *dso, const struct dso_function *f, uint64_t size)
{
	const struct dso_function *functions;
	size_t n = dso_functions(dso, &functions);

	if (f < functions || f >= functions + n)
		return 0;
	for (const struct dso_function *next = f + 1; next < functions + n; next++)
		if (next->address > f->address)
			return next->address - f->address < size
				       ? (uint32_t)(next->address - f->address)
				       : 0;
	return 0;
}

/*
 * Whether the code at start, to which a function jumps, may be a part of the function. Code with a
 * name is another function, except a cold part, whose stem may be an alias of the function
 * (_IO_new_fclose.cold).
 */
static bool is_part(struct dso *dso, uint64_t start)
{
	const struct dso_function *named = dso_function_at(dso, start);

	return !named || named->size_guessed || strstr(named->symbol, ".cold");
}

static bool find_part(struct dso *dso, const struct dso_function *f, uint64_t address,
		      struct code_part *part)
{
	uint64_t start, size;
	size_t readable;

	if (!dso_frame_range(dso, address, &start, &size) || !is_part(dso, start))
		return false;
	if (f->address - start < size) /* its own entry: the symbol is shorter than the code */
		return false;
	part->address = start;
	part->code = dso_code(dso, start, &readable);
	part->size_bytes = size < readable ? size : readable;
	return part->code && part->size_bytes;
}

static void refuse(struct placement *out, const char *why)
{
	*out = (struct placement){ .class = CLASS_N,
				   .return_class = CLASS_N,
				   .naive_class = CLASS_N,
				   .alone_class = CLASS_N };
	snprintf(out->reason, sizeof(out->reason), "%s", why);
}

static void place(struct dso *dso, const struct dso_function *f, uint32_t argument_mask,
		  unsigned kernel_version, struct placement *out)
{
	struct code_part parts[PARTS_MAX];
	struct code_input in = {
		.machine = dso_machine(dso) == DSO_AARCH64 ? CODE_AARCH64 : CODE_X86_64,
		.address = f->address,
		.argument_mask = argument_mask,
		.nop5_optimised = kernel_version >= KERNEL_VERSION(6, 18, 0),
		.parts = parts,
	};
	uint64_t size = f->size;
	size_t readable = 0;

	if (dso_machine(dso) == DSO_OTHER) {
		refuse(out, "is code of another machine");
		return;
	}
	in.code = dso_code(dso, f->address, &readable);
	if (!in.code) {
		refuse(out, "its code is not in the file");
		return;
	}
	in.size_bytes = size < readable ? size : readable;
	in.entry_limit = entry_limit(dso, f, in.size_bytes);
	placement_find(&in, out);
	while (out->possible && out->continues_at && in.n_parts < PARTS_MAX &&
	       find_part(dso, f, out->continues_at, &parts[in.n_parts])) {
		in.n_parts++;
		placement_find(&in, out);
	}
}

void placement_of_function(struct dso *dso, const struct dso_function *f, uint32_t argument_mask,
			   unsigned kernel_version, struct placement *out)
{
	uint64_t began_ns;

	if (!parser_may_work(dso, &began_ns)) {
		refuse(out, "is in a file whose functions take too long to look at");
		return;
	}
	place(dso, f, argument_mask, kernel_version, out);
	parser_has_worked(dso, began_ns);
}
