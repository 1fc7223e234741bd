// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/frame/seektable.h"

#include <errno.h>
#include <string.h>

#define SKIPPABLE_MAGIC 0x184D2A5Eu
#define SEEKABLE_MAGIC	0x8F92EAB1u
#define HAS_CHECKSUMS	0x80
#define RESERVED_BITS	0x7c

void seektable_head(uint8_t head[SEEKTABLE_HEAD], uint32_t n_frames)
{
	uint32_t words[2] = { SKIPPABLE_MAGIC,
			      (uint32_t)seektable_bytes(n_frames) - SEEKTABLE_HEAD };

	memcpy(head, words, sizeof(words));
}

void seektable_foot(uint8_t foot[SEEKTABLE_FOOT], uint32_t n_frames)
{
	uint32_t magic = SEEKABLE_MAGIC;

	memcpy(foot, &n_frames, 4);
	foot[4] = 0;
	memcpy(foot + 5, &magic, 4);
}

int seektable_read_foot(const uint8_t foot[SEEKTABLE_FOOT], uint32_t *n_frames,
			uint32_t *entry_bytes)
{
	uint32_t magic;

	memcpy(&magic, foot + 5, 4);
	memcpy(n_frames, foot, 4);
	if (magic != SEEKABLE_MAGIC || foot[4] & RESERVED_BITS || *n_frames > SEEKTABLE_FRAMES_MAX)
		return -ENOENT;
	*entry_bytes = foot[4] & HAS_CHECKSUMS ? 12 : 8;
	return 0;
}
