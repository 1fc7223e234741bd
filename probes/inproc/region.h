/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the regions of in-process producers in the recorder's directory, and checks and maps them.
 */
#ifndef ISPOT_PROBES_INPROC_REGION_H
#define ISPOT_PROBES_INPROC_REGION_H

struct inproc_drain;
struct inproc_region;

/* Adds the regions that appeared since the call before. */
void inproc_find_regions(struct inproc_drain *d);
void inproc_region_release(struct inproc_region *g);

#endif
