/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as if drawn (xorshift), the same in every run of a test; a state of 0 is a first seed. */
#ifndef ISPOT_TESTS_DICE_H
#define ISPOT_TESTS_DICE_H

#include <stdint.h>

static inline uint64_t dice(uint64_t *state)
{
	if (!*state)
		*state = 88172645463325252ull;
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline uint64_t dice_below(uint64_t *state, uint64_t n)
{
	return dice(state) % n;
}

#endif
