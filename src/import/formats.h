/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the fields in the samples of a tracepoint. perf copies the kernel's event formats into the
 * perf.data ("tracing data"), and libtraceevent parses them. Only this module includes that
 * library. The library trusts its input, which comes from the kernel, but anybody can write a file.
 * So the library never sees the file. It gets a text made here, of the requested events only, with
 * only those fields whose lines look as the kernel writes them. Print formats, a language of their
 * own, are left out.
 */
#ifndef ISPOT_IMPORT_FORMATS_H
#define ISPOT_IMPORT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct formats;
struct tep_event;

#define FORMATS_BYTES_MAX (16u << 20) /* of the tracing data: all events of a kernel have 4 MB */

/* A field in a sample's raw data. Names live as long as the formats. */
struct format_field {
	const char *name, *type;
	uint32_t offset, bytes; /* bytes 0: there is no such field */
	bool is_signed;
};

/*
 * Reads the requested events from the tracing data. Returns NULL if this is not tracing data, is
 * from a machine of another byte order, or is empty. Reading ends at malformed data,
 * and the events before it are kept.
 */
struct formats *formats_new(const void *tracing_data, size_t n,
			    bool (*wanted)(void *ctx, uint64_t id), void *ctx);
void formats_free(struct formats *f);

/* Returns the event with that id, or NULL if it is unknown. */
const struct tep_event *formats_event(const struct formats *f, uint64_t id);
/* Returns a name like "sched:sched_switch", which the caller frees. */
char *format_event_name(const struct tep_event *event);
/* Finds a number of 1, 2, 4 or 8 bytes by its name. Returns false if there is none. */
bool format_find(const struct tep_event *event, const char *name, struct format_field *field);
/*
 * Lists the numeric fields of the event other than those that all events have, in order; returns
 * how many, at most room.
 */
size_t format_numbers(const struct tep_event *event, struct format_field *fields, size_t room);

/*
 * Reads a field; signed numbers are extended to 64 bits. Returns false if the sample is too short.
 */
bool format_read(const struct format_field *field, const uint8_t *raw, size_t raw_bytes,
		 uint64_t *value);

#endif
