/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One record of a perf.data: what perf recorded beside it, in the order of the kernel's format. */
#ifndef ISPOT_IMPORT_PERFDATA_SAMPLE_H
#define ISPOT_IMPORT_PERFDATA_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_header;
struct perfdata;
struct perfdata_event;

/* A sample, or what the kernel appends to other records. What is not recorded is 0. */
struct perfdata_sample {
	const struct perfdata_event *event; /* NULL: not known which */
	uint64_t time_ns, ip, sp;
	uint32_t pid, tid, cpu;
	bool has_sp;
	const uint8_t *raw; /* of a tracepoint: its fields */
	uint32_t raw_bytes;
};

/* The sample in a PERF_RECORD_SAMPLE, or at the end of any other record of the kernel; false: it
 * is malformed. */
bool perfdata_sample(const struct perfdata *p, const struct perf_event_header *h,
		     struct perfdata_sample *s);

#endif
