/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unwind table (.eh_frame) of an object and what it leads to: the tables of where exceptions
 * land (LSDA, in .gcc_except_table).
 */
#ifndef ISPOT_PROBES_PATCH_LANDING_H
#define ISPOT_PROBES_PATCH_LANDING_H

struct dso;
struct targets;

/*
 * Fills the frames, and marks where exceptions land. Returns why that cannot be known, a clause;
 * NULL: it is, but for frames that are marked as unreadable.
 */
const char *landing_read(struct targets *t, struct dso *dso);

#endif
