/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/cost/interrupted.h"

/* A time slice is a millisecond or more; a probe that misses every cache takes a few medians. */
#define MEDIANS	 20
#define LEAST_NS 50000

size_t interrupted_from(const uint64_t *sorted, size_t n)
{
	uint64_t most_ns = n ? MEDIANS * sorted[(n - 1) / 2] : 0;

	if (most_ns < LEAST_NS)
		most_ns = LEAST_NS;
	while (n && sorted[n - 1] > most_ns)
		n--;
	return n;
}
