/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the instruction of a static marker that gets the kernel's probe, and its cost. */
#ifndef ISPOT_PROBES_PLACE_MARKER_PLACE_H
#define ISPOT_PROBES_PLACE_MARKER_PLACE_H

#include <stdint.h>

struct planned;
struct probeset;

/* Returns the distance from the address of a marker's note to the nop that is cheap to probe. */
uint32_t marker_offset(unsigned kernel_version);
/* Plans placement and exit of a marker; kernel_version is a KERNEL_VERSION(). */
void marker_plan(struct planned *p, unsigned kernel_version);
/* Adds probes that only count how often the marker begins. */
void marker_add_counts(struct probeset *set, const struct planned *p, const char *path,
		       uint32_t function_id);
void marker_add_points(struct probeset *set, const struct planned *p, const char *path,
		       uint32_t function_id);

#endif
