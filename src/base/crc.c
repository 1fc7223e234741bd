// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/crc.h"

#include <zlib.h>

uint32_t crc32_of(const void *data, size_t n)
{
	return (uint32_t)crc32_z(0, data, n);
}
