/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which instruction of a static probe gets the kernel's probe, and at what cost. */
#ifndef ISPOT_PROBES_PLACE_MARKER_PLACE_H
#define ISPOT_PROBES_PLACE_MARKER_PLACE_H

#include <stdint.h>

struct planned;
struct probeset;

/* From the place that a marker's note names to the nop that is cheap to probe. */
uint32_t marker_offset(unsigned kernel_version);
/* Placement and exit of the planned block; kernel_version as KERNEL_VERSION(). */
void marker_plan(struct planned *p, unsigned kernel_version);
/* Adds probes that only count the marker's begins. */
void marker_add_counts(struct probeset *set, const struct planned *p, const char *path,
		       uint32_t function_id);
void marker_add_points(struct probeset *set, const struct planned *p, const char *path,
		       uint32_t function_id);

#endif
