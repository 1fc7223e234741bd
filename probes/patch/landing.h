/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the unwind table (.eh_frame) of an object, and the tables that it leads to, of the places
 * where exceptions land (LSDA, in .gcc_except_table).
 */
#ifndef ISPOT_PROBES_PATCH_LANDING_H
#define ISPOT_PROBES_PATCH_LANDING_H

struct dso;
struct targets;

/*
 * Fills the frames, and marks where exceptions land. Frames that cannot be read are marked. Returns
 * NULL, or a clause that says why none can be read.
 */
const char *landing_read(struct targets *t, struct dso *dso);

#endif
