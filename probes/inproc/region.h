/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds, checks and maps the regions of in-process producers in the recorder's directory. */
#ifndef ISPOT_PROBES_INPROC_REGION_H
#define ISPOT_PROBES_INPROC_REGION_H

struct inproc_drain;
struct inproc_region;

/* Adds the regions that have appeared since the last call. */
void inproc_find_regions(struct inproc_drain *d);
void inproc_region_release(struct inproc_region *g);

#endif
