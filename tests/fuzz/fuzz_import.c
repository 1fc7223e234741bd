// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as a perf.data: made into a trace, which is read. Built with codec_raw.c. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "import/import.h"
#include "import/perfdata.h"
#include "trace/read/reader.h"
#include "trace/record.h"

static uint64_t sum; /* of what was read, so that it is */

/* libtraceevent 1.7 itself loses what it has read of an event's format where that is damaged. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct record *records;
	struct trace_reader *r;
	struct err err = { 0 };
	static char path[64];
	static int fd = -1;
	size_t n;

	if (size < 16 || !perfdata_is(data, size))
		return -1; /* it is none: not kept */
	if (fd < 0) {
		fd = memfd_create("perf.data", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return -1;
	if (import_open(&r, path, &err))
		return 0;
	while ((n = trace_reader_batch(r, &records)))
		for (size_t i = 0; i < n; i++)
			sum += records[i].time_ns + records[i].n_values;
	trace_reader_free(r);
	return 0;
}
