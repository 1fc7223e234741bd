// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/machine/blob.h"

#include "probes/inproc/inproc.h"

uint64_t blob_block_bytes(uint32_t period, uint32_t n_functions)
{
	if (period <= 1)
		return BLOCK_BYTES;
	return (BLOCK_BYTES + (uint64_t)n_functions * TURN_BYTES + INPROC_PAGE - 1) &
	       ~(uint64_t)(INPROC_PAGE - 1);
}
