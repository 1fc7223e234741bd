/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places the probes of a function of an ELF file: gathers the input of placement_find() (the code
 * and its parts that lie elsewhere, other entry points, what the kernel can do).
 */
#ifndef ISPOT_PROBES_PLACE_FUNCTION_H
#define ISPOT_PROBES_PLACE_FUNCTION_H

#include <stdint.h>

#include "probes/place/placement.h"

struct dso;
struct dso_function;

/*
 * argument_mask is that of code_input; kernel_version is a KERNEL_VERSION(). If placement is not
 * possible (no code in the file, code of another machine), out->reason has the reason.
 */
void placement_of_function(struct dso *dso, const struct dso_function *f, uint32_t argument_mask,
			   unsigned kernel_version, struct placement *out);

#endif
