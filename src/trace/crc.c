// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/crc.h"

#include <pthread.h>
#include <string.h>

/* tables[k][b]: CRC of byte b followed by k zero bytes; eight input bytes cost eight look-ups. */
static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
		tables[0][b] = crc;
	}
	for (int k = 1; k < 8; k++)
		for (uint32_t b = 0; b < 256; b++)
			tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 0xff];
}

uint32_t crc32_of(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint32_t crc = 0xffffffffu;

	pthread_once(&tables_once, fill_tables);
	for (; n >= 8; n -= 8, p += 8) {
		uint32_t low, high;

		memcpy(&low, p, 4);
		memcpy(&high, p + 4, 4);
		low ^= crc;
		crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^
		      tables[5][low >> 16 & 0xff] ^ tables[4][low >> 24] ^ tables[3][high & 0xff] ^
		      tables[2][high >> 8 & 0xff] ^ tables[1][high >> 16 & 0xff] ^
		      tables[0][high >> 24];
	}
	for (; n; n--, p++)
		crc = crc >> 8 ^ tables[0][(crc ^ *p) & 0xff];
	return ~crc;
}
