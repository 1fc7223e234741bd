/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses one record of a perf.data, whose fields are in the order of the kernel's format. */
#ifndef ISPOT_IMPORT_PERFDATA_SAMPLE_H
#define ISPOT_IMPORT_PERFDATA_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_header;
struct perfdata;
struct perfdata_event;

/*
 * A sample, or the fields that the kernel appends to other records. Fields that were not recorded
 * are 0.
 */
struct perfdata_sample {
	const struct perfdata_event *event; /* NULL: not known which */
	uint64_t time_ns, ip, sp;
	uint32_t pid, tid, cpu;
	bool has_sp;
	const uint8_t *raw; /* of a tracepoint: its fields */
	uint32_t raw_bytes;
};

/*
 * Parses the sample in a PERF_RECORD_SAMPLE, or at the end of any other record of the kernel.
 * Returns false if it is malformed.
 */
bool perfdata_sample(const struct perfdata *p, const struct perf_event_header *h,
		     struct perfdata_sample *s);

#endif
