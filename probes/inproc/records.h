/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the records of in-process calls to the file. With --keep-slower a call's records wait
 * until the call proves long; short calls are only summed up. */
#ifndef ISPOT_PROBES_INPROC_RECORDS_H
#define ISPOT_PROBES_INPROC_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

struct arguments;
struct inproc_drain;
struct keep_entry;
struct wire_call;
struct wire_head;

/* Keeps the writer's first error, which inproc_drain_run() returns. */
void inproc_note_error(struct inproc_drain *d, int ret);
/* Writes a record of the kind with the time and the thread of h, whose other members are unused. */
void inproc_write_record(struct inproc_drain *d, const struct wire_head *h, uint32_t kind,
			 const uint64_t *values, uint32_t n_values);
/* Writes that the functions are recorded from this time on, or were until then. */
void inproc_write_set(struct inproc_drain *d, bool on, uint64_t time_ns);

/* Sums up calls that are shorter, and notes that in the file; called before the first run. */
void inproc_sum_up_shorter(struct inproc_drain *d, uint64_t ns);
/* Does the same without the note. */
void inproc_drain_keep_slower(struct inproc_drain *d, uint64_t slower_ns);

/* beside: the entry with the records that come before it, or NULL if there are none. */
void inproc_enter(struct inproc_drain *d, const struct wire_call *call,
		  const struct keep_entry *beside);
/* Returns the arguments that are recorded of a function of stamped regions, or NULL. */
const struct arguments *inproc_arguments_of(const struct inproc_drain *d, uint32_t function);
/* stack: the file's id of the stack at the exit, or 0. returned: the value that the function has
 * returned, if its arguments say that it is recorded, or NULL. */
void inproc_leave(struct inproc_drain *d, const struct wire_call *call, uint32_t stack,
		  const uint64_t *returned);
/* Write the sums of the short calls of a thread that ended, or of all threads. */
void inproc_end_thread(struct inproc_drain *d, uint32_t tid, uint64_t time_ns);
void inproc_end_all(struct inproc_drain *d, uint64_t time_ns);
/* Returns the number of entries and exits that were summed up instead of written. */
uint64_t inproc_drain_left_out(const struct inproc_drain *d);

#endif
