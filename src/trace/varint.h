/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LEB128 varints: seven bits a byte, lowest first, the top bit says that more follow; at most
 * ten bytes. Signed values are zigzag-folded first (0, -1, 1, -2 … become 0, 1, 2, 3 …).
 */
#ifndef ISPOT_TRACE_VARINT_H
#define ISPOT_TRACE_VARINT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_MAX 10 /* bytes of one value */

static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* Room for VARINT_MAX bytes at p; returns the byte behind the value. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* The byte behind the value, or NULL: the value does not end before end, or not in 64 bits. */
static inline const uint8_t *varint_get(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
	uint64_t v = 0;

	for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
		uint8_t byte = *p++;

		if (shift == 63 && byte > 1)
			return NULL;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*value = v;
			return p;
		}
	}
	return NULL;
}

#endif
