/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a perf.data as perf record writes it (tools/perf/Documentation/perf.data-file-format.txt):
 * seekable or from a pipe, compressed or not. Records come in the order of the file: those of a
 * CPU follow each other, those of different CPUs do not; PERFDATA_ROUND marks where what came
 * before the previous mark is complete. Nothing in the file is believed: a record that does not
 * fit ends the reading.
 */
#ifndef ISPOT_IMPORT_PERFDATA_H
#define ISPOT_IMPORT_PERFDATA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct err;
struct source;

/* Records that perf itself makes. */
#define PERFDATA_ATTR	      64
#define PERFDATA_TRACING_DATA 66
#define PERFDATA_ROUND	      68
#define PERFDATA_AUXTRACE     71
#define PERFDATA_UPDATE	      78
#define PERFDATA_FEATURE      80
#define PERFDATA_COMPRESSED   81
#define PERFDATA_COMPRESSED2  83

/* A recorded event: one attribute and its name, "probe_app:f". */
struct perfdata_event {
	struct perf_event_attr attr;
	char *name; /* NULL: the file does not say */
};

struct perfdata {
	struct {
		VEC(struct perfdata_event)
	} events;
	struct map by_id;			     /* of perf's ids -> index in events */
	uint64_t ids_read;			     /* of the header's attributes */
	char *command, *hostname, *kernel, *machine; /* NULL: the file does not say */
	uint8_t *tracing; /* for formats.h; NULL: the file has none, or too much */
	size_t tracing_bytes;
	uint32_t cpus;
	bool is_pipe, is_described; /* a pipe's descriptions are known, as it was read once */
	bool cut_off; /* the file ends within a record, or with something that is not a record */
	uint64_t stopped_at; /* offset where Ctrl-C stopped reading, taken as the end of the file;
				0: nowhere */
};

bool perfdata_is(const void *start, size_t n); /* the first 16 bytes of a file */

/*
 * Reads the header and the descriptions that precede the records. -EINVAL, with its sentence in
 * err: malformed. Release p in any case.
 */
int perfdata_open(struct perfdata *p, struct source *source, const char *path, struct err *err);
/*
 * Calls back for every record; h is aligned to 8. A pipe's descriptions are read with its first
 * records. After Ctrl-C (base/interrupt.h) the reading ends without an error, and later readings
 * end at the same place.
 */
int perfdata_each(struct perfdata *p, struct source *source,
		  int (*record)(void *ctx, const struct perf_event_header *h), void *ctx,
		  struct err *err);
void perfdata_release(struct perfdata *p);

#endif
