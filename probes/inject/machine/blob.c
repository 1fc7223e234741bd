// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/machine/blob.h"

#include "probes/inproc/inproc.h"

uint64_t blob_block_bytes(uint32_t period, uint32_t n_functions, bool gives_up)
{
	const uint64_t each = period > 1 ? TURN_BYTES : gives_up ? BLOCK_MISS_BYTES : 0;

	if (!each)
		return BLOCK_BYTES;
	return (BLOCK_BYTES + n_functions * each + INPROC_PAGE - 1) & ~(uint64_t)(INPROC_PAGE - 1);
}
