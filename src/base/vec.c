/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/vec.h"

#include <stdint.h>

#include "base/mem.h"

void vec_reserve_(void **data, size_t *room, size_t want, size_t size)
{
	size_t n = *room;

	if (want <= n)
		return;
	n = n < 8 ? 8 : n + n / 2;
	if (n < want)
		n = want;
	/* SIZE_MAX cannot be had: the allocator ends the run. */
	*data = xrealloc(*data, n > SIZE_MAX / size ? SIZE_MAX : n * size);
	*room = n;
}
