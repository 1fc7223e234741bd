/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the samples of a tracepoint have their fields: perf copies what the kernel says of its
 * events into the perf.data ("tracing data"), and libtraceevent reads it. Only this module includes
 * that library.
 *
 * The library was made for the kernel's own words, and a file's may be anybody's. So it never sees
 * the file: it is given a text that is made here, of the events that are wanted, with the fields
 * that are written as the kernel writes them. How an event is printed is a language of its own,
 * which is left out.
 */
#ifndef ISPOT_IMPORT_FORMATS_H
#define ISPOT_IMPORT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct formats;
struct tep_event;

#define FORMATS_BYTES_MAX (16u << 20) /* of the tracing data: all events of a kernel have 4 MB */

/* In a sample's raw data. Names live as long as the formats. */
struct format_field {
	const char *name, *type;
	uint32_t offset, bytes; /* bytes 0: there is no such field */
	bool is_signed;
};

/*
 * The events of the tracing data whose numbers are wanted. NULL: it is no tracing data, or that of
 * a machine of another byte order, or there is none. What is malformed ends the reading: what
 * stands before it counts.
 */
struct formats *formats_new(const void *tracing_data, size_t n,
			    bool (*wanted)(void *ctx, uint64_t id), void *ctx);
void formats_free(struct formats *f);

/* NULL: nothing is known of it. */
const struct tep_event *formats_event(const struct formats *f, uint64_t id);
/* "sched:sched_switch"; to be freed. */
char *format_event_name(const struct tep_event *event);
/* A number in 1, 2, 4 or 8 bytes; false: there is none of that name. */
bool format_find(const struct tep_event *event, const char *name, struct format_field *field);
/* The numbers that the event has of its own, in order; returns how many, at most room. */
size_t format_numbers(const struct tep_event *event, struct format_field *fields, size_t room);

/* False: the sample is too short for it. Signed ones are extended to 64 bits. */
bool format_read(const struct format_field *field, const uint8_t *raw, size_t raw_bytes,
		 uint64_t *value);

#endif
