/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The zstd seekable format's table (contrib/seekable_format in zstd's sources): a skippable
 * frame at the end of the file with the compressed and decompressed size of every frame.
 *
 *	0x184D2A5E, size of the rest, n × { compressed, decompressed }, n, descriptor, 0x8F92EAB1
 *
 * Little-endian 32-bit numbers, the descriptor one byte: bit 7 set means that each entry has a
 * checksum more; ours is 0.
 */
#ifndef ISPOT_TRACE_FRAME_SEEKTABLE_H
#define ISPOT_TRACE_FRAME_SEEKTABLE_H

#include <stddef.h>
#include <stdint.h>

#define SEEKTABLE_FRAMES_MAX 0x8000000u
#define SEEKTABLE_HEAD	     8 /* bytes before the entries */
#define SEEKTABLE_FOOT	     9 /* and behind them */

struct seekable_frame {
	uint32_t compressed, decompressed;
};

static inline uint64_t seektable_bytes(uint64_t n_frames)
{
	return SEEKTABLE_HEAD + n_frames * sizeof(struct seekable_frame) + SEEKTABLE_FOOT;
}

void seektable_head(uint8_t head[SEEKTABLE_HEAD], uint32_t n_frames);
void seektable_foot(uint8_t foot[SEEKTABLE_FOOT], uint32_t n_frames);

/*
 * From the last bytes of a file: how many frames its table has and how large an entry is (8, or
 * 12 with checksums). -ENOENT: these bytes are not a table's foot.
 */
int seektable_read_foot(const uint8_t foot[SEEKTABLE_FOOT], uint32_t *n_frames,
			uint32_t *entry_bytes);

#endif
