/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that wait, by name. The table serves the choice of exits (place/exitmech.h), the hybrid
 * selection, and the output of check.
 */
#ifndef ISPOT_PROBES_SELECT_BLOCKING_H
#define ISPOT_PROBES_SELECT_BLOCKING_H

#include <stdbool.h>

/*
 * Returns the kind of waiting of a function, as a cause kind, "unknown" if it depends on the
 * descriptor (read, write, poll), or NULL if the function is not known to wait.
 */
const char *blocking_kind(const char *symbol);
bool blocking_by_descriptor(const char *symbol);
/* Whether threads make each other wait in it: a lock, a condition, a barrier. */
bool blocking_on_threads(const char *symbol);
/* Whether it takes a lock. */
bool blocking_is_lock(const char *symbol);
/* Returns the function that releases what symbol waits for, or NULL if none is known. */
const char *blocking_release(const char *symbol);
/* Whether it releases a lock, and thus wakes only threads that wait for this lock. */
bool blocking_is_unlock(const char *symbol);
/* Whether it waits, or releases a lock. Functions that cost too much are given up before those. */
bool blocking_waits_or_unlocks(const char *symbol);
/*
 * Whether it is an internal part of a waiting function, or where a thread begins: not to be chosen.
 */
bool blocking_part(const char *symbol);
/* Returns all their names, NULL-terminated, for the hybrid selection. */
const char *const *blocking_names(void);

#endif
