/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement of a function of an ELF file: gathers what placement_find() wants to know (the code
 * and its parts that lie elsewhere, other entry points, what the kernel can do).
 */
#ifndef ISPOT_PROBES_PLACE_FUNCTION_H
#define ISPOT_PROBES_PLACE_FUNCTION_H

#include <stdint.h>

#include "probes/place/placement.h"

struct dso;
struct dso_function;

/*
 * argument_mask as in code_input; kernel_version as KERNEL_VERSION(). Where it is not
 * possible (no code in the file, another machine's) out->reason says why.
 */
void placement_of_function(struct dso *dso, const struct dso_function *f, uint32_t argument_mask,
			   unsigned kernel_version, struct placement *out);

#endif
