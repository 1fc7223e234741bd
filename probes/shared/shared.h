/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Probes that an administrator registers once (ispot probe add) and that users then record with,
 * without any privilege, on processes of their own: engine B (design facts 3 and 17). Each probe
 * is a tracefs event of its own with one point: an event of one point that somebody has open is
 * refused to be deleted (-EBUSY), which one of several points is not on every kernel. Registered
 * and not open they cost nobody anything.
 *
 * What is registered stands in a file that everybody may read, for tracefs itself only root reads.
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
	char *event;  /* its name: function, and __return or __retN behind it for its exits */
	char *symbol; /* of the function */
	char *path;   /* of the file that it is in */
	uint64_t offset;
};

struct shared_probes {
	VEC(struct shared_probe)
};

/* None is no error. */
int shared_read(struct shared_probes *all, struct err *err);
void shared_release(struct shared_probes *all);
/*
 * Which of them -F means, in the grammar of select.h but for arguments, which these probes have
 * not; no pattern that chooses: all. wanted: one for each. *none: a pattern that means none of
 * them, NULL: there is none such. Errors: as patterns_parse().
 */
int shared_select(const struct shared_probes *all, const char *const *patterns, size_t n,
		  bool *wanted, char **none, struct err *err);

/*
 * Registers the functions that the inspection can trace and that are not registered yet. *added:
 * how many.
 */
int shared_add(const struct inspection *in, size_t *added, struct err *err);
/* *removed and *busy: how many probes; busy ones are open and stay. */
int shared_remove(const char *const *patterns, size_t n, size_t *removed, size_t *busy,
		  struct err *err);

#endif
