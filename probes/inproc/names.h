/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names that a region's program gave to functions, places, stacks and locks. */
#ifndef ISPOT_PROBES_INPROC_NAMES_H
#define ISPOT_PROBES_INPROC_NAMES_H

struct inproc_drain;
struct inproc_region;

/* Writes the lines of the names that the program has added since the last call. */
void inproc_read_names(struct inproc_drain *d, struct inproc_region *g);

#endif
