// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Any bytes as the region that a program shares with the recorder: its rings' states, its names and
 * its records, which is drained twice. The first bytes say how long each part is.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "given.h"
#include "probes/inproc/drain.h"
#include "trace/write/writer.h"

#define RECORDS	 64 /* of a ring */
#define RING	 (RECORDS * sizeof(struct inproc_record))
#define RINGS_AT (INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot) + INPROC_NAMES)
#define RINGS	 4 /* that bytes go to */

static char directory[] = "/dev/shm/ispot-fuzz.XXXXXX", own[64], region[96];
static int fd = -1;

static void leave(void)
{
	unlink(region);
	rmdir(own);
	rmdir(directory);
}

static void make_region(void)
{
	const struct inproc_header h = {
		.magic = INPROC_MAGIC,
		.version = INPROC_VERSION,
		.pid = 7,
		.slots = INPROC_SLOTS,
		.names_at = RINGS_AT - INPROC_NAMES,
		.names_bytes = INPROC_NAMES,
		.rings_at = RINGS_AT,
		.ring_bytes = RING,
		.recording = 1,
	};

	if (fd < 0) {
		if (!mkdtemp(directory))
			abort();
		snprintf(own, sizeof(own), "%s/%u", directory, (unsigned)geteuid());
		snprintf(region, sizeof(region), "%s/7" INPROC_SUFFIX, own);
		if (mkdir(own, 0700))
			abort();
		fd = open(region, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		atexit(leave);
	}
	if (ftruncate(fd, 0) || ftruncate(fd, (off_t)(RINGS_AT + INPROC_SLOTS * RING)) ||
	    pwrite(fd, &h, sizeof(h), 0) != sizeof(h))
		abort();
}

/* The next part of the bytes, up to n, to where it belongs; returns how long it was. */
static size_t place(const uint8_t **data, size_t *left, size_t n, uint64_t at)
{
	if (n > *left)
		n = *left;
	if (n && pwrite(fd, *data, n, (off_t)at) != (ssize_t)n)
		abort();
	*data += n;
	*left -= n;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct trace_writer_options o = { .path = "/dev/null", .n_cpus = 1 };
	struct trace_writer *writer = NULL;
	struct inproc_drain drain;
	struct err err = { 0 };
	uint64_t names;
	uint16_t split;

	if (size < 2 + RINGS * sizeof(struct inproc_slot))
		return -1;
	memcpy(&split, data, sizeof(split));
	data += sizeof(split);
	size -= sizeof(split);
	make_region();
	place(&data, &size, RINGS * sizeof(struct inproc_slot), INPROC_PAGE);
	names = RINGS_AT - INPROC_NAMES + place(&data, &size, split, RINGS_AT - INPROC_NAMES);
	if (pwrite(fd, &names, sizeof(names), offsetof(struct inproc_header, names_end)) < 0)
		abort();
	place(&data, &size, RINGS * RING, RINGS_AT);
	if (trace_writer_open(&writer, &o, &err))
		abort();
	inproc_drain_init(&drain, directory, RING, writer);
	drain.quota_most.left = 0; /* at all processes of this machine */
	for (int i = 0; i < 2; i++)
		inproc_drain_run(&drain);
	inproc_drain_stop(&drain);
	inproc_drain_finish(&drain, 1u << 30);
	inproc_drain_release(&drain);
	trace_writer_close(writer, NULL);
	return 0;
}
