// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as a file of fleet samples, with the checksums made right: read, and added up into
 * rows. */
#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/rows.h"
#include "base/crc.h"
#include "base/err.h"
#include "given.h"
#include "trace/fleet/file.h"

#define BEFORE_HEADER 16 /* magic, version, length of the header */

/* What guards the rest: without it hardly a change of a block would be read. */
static void make_whole(uint8_t *data, size_t size)
{
	struct fleet_block_head head;
	uint32_t header;
	size_t at;

	memcpy(&header, data + 8, sizeof(header));
	if (header > size - BEFORE_HEADER)
		return;
	for (at = BEFORE_HEADER + header; at + sizeof(head) <= size;
	     at += sizeof(head) + head.body_bytes) {
		memcpy(&head, data + at, sizeof(head));
		head.magic = FLEET_BLOCK_MAGIC;
		if (head.body_bytes > size - at - sizeof(head))
			head.body_bytes = (uint32_t)(size - at - sizeof(head));
		head.body_crc = crc32_of(data + at + sizeof(head), head.body_bytes);
		head.head_crc = crc32_of(&head, sizeof(head) - sizeof(head.head_crc));
		memcpy(data + at, &head, sizeof(head));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t indicators[FLEET_INDICATORS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const struct fleet_rows_options o = { .bucket_ns = 3600000000000ull,
					      .indicators = indicators };
	struct fleet_rows rows = { 0 };
	struct fleet_block_head head;
	struct fleet_reader r;
	struct err err = { 0 };
	uint8_t *copy;
	const char *path;

	if (size < BEFORE_HEADER || memcmp(data, FLEET_MAGIC, 8) != 0)
		return -1; /* it is none: not kept */
	copy = malloc(size);
	memcpy(copy, data, size);
	make_whole(copy, size);
	path = given_file(copy, size);
	free(copy);
	if (!path || fleet_reader_open(&r, path, &err))
		return 0;
	while (fleet_reader_next(&r, &head, &err) > 0) {
		struct fleet_block b = { 0 };

		if (fleet_reader_block(&r, &head, &b))
			fleet_rows_add(&rows, &b, &r.header.topology, r.header.type, &o, NULL);
		fleet_block_release(&b);
	}
	fleet_reader_close(&r);
	fleet_rows_release(&rows);
	return 0;
}
