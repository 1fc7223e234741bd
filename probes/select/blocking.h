/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that wait, by name: a table of rows, for the exits (place/exitmech.h), for the hybrid
 * selection and for what check says.
 */
#ifndef ISPOT_PROBES_SELECT_BLOCKING_H
#define ISPOT_PROBES_SELECT_BLOCKING_H

#include <stdbool.h>

/*
 * Functions that wait: the kind of waiting as a cause kind; "unknown" where it depends on what the
 * descriptor is (read, write, poll). NULL: not known to wait.
 */
const char *blocking_kind(const char *symbol);
bool blocking_by_descriptor(const char *symbol);
/* Threads make each other wait there: a lock, a condition, a barrier. */
bool blocking_on_threads(const char *symbol);
/* Returns the function that releases the lock that such a function takes; NULL: none is known. */
const char *blocking_release(const char *symbol);
/* Whether it releases a lock, and wakes at most who waits for that. */
bool blocking_is_unlock(const char *symbol);
/* A part of one of them that no program calls, or where a thread begins: not to be chosen. */
bool blocking_part(const char *symbol);
/* All their names, for the hybrid selection; NULL-terminated. */
const char *const *blocking_names(void);

#endif
