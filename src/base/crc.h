/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CRC-32 as zlib, gzip and Ethernet have it (reflected, polynomial 0xedb88320). */
#ifndef ISPOT_BASE_CRC_H
#define ISPOT_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32_of(const void *data, size_t n);

#endif
