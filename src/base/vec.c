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
	/* An overflow asks for SIZE_MAX bytes, so that the allocator ends the program. */
	*data = xrealloc(*data, n > SIZE_MAX / size ? SIZE_MAX : n * size);
	*room = n;
}

int vec_by_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int vec_by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}
