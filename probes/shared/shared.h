/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Probes that an administrator registers once (ispot probe add), so that users can record their own
 * processes with them without any privilege. This is engine B (design facts 3 and 17). Each probe
 * is a tracefs event of its own with one point: every kernel refuses to delete such an event while
 * somebody has it open (-EBUSY), but not all refuse it for an event of several points. A registered
 * probe costs nothing while nobody has it open.
 *
 * Only root can read tracefs, so the registered probes are listed in a file that everybody may
 * read: the registry.
 */
#ifndef ISPOT_PROBES_SHARED_SHARED_H
#define ISPOT_PROBES_SHARED_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct err;
struct inspection;

#define SHARED_GROUP "ispot_probes"

enum shared_kind { SHARED_ENTRY = 'p', SHARED_RETURN = 'r', SHARED_EXIT = 'x' };

struct shared_probe {
	char kind; /* enum shared_kind */
	uint32_t perf_id;
	char *event;  /* name of the event: the function's, and for exits "__return" or "__retN" */
	char *symbol; /* of the function */
	char *path;   /* of the function's file */
	uint64_t offset;
};

struct shared_probes {
	VEC(struct shared_probe)
};

/* Reads the registry. If there is none, *all is empty and the result is 0. */
int shared_read(struct shared_probes *all, struct err *err);
void shared_release(struct shared_probes *all);
/*
 * Selects the probes that the words of -F match, in the grammar of select.h, but without arguments,
 * which these probes do not record. Without a pattern that selects, all are selected. wanted: a
 * flag for each probe. *none: a pattern that matches no probe, which the caller frees, or NULL.
 * Returns the errors of patterns_parse().
 */
int shared_select(const struct shared_probes *all, const char *const *patterns, size_t n,
		  bool *wanted, char **none, struct err *err);

/* Registers probes on the functions that the inspection can trace and that have none yet. *added:
 * the number of these functions. */
int shared_add(const struct inspection *in, size_t *added, struct err *err);
/* Removes the probes that the patterns match. *removed, *busy: numbers of probes; somebody has the
 * busy ones open, so they stay. */
int shared_remove(const char *const *patterns, size_t n, size_t *removed, size_t *busy,
		  struct err *err);

#endif
