/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the aarch64 code of one range, s->start to s->end. */
#ifndef ISPOT_PROBES_PATCH_SWEEP_ARM64_H
#define ISPOT_PROBES_PATCH_SWEEP_ARM64_H

struct sweep;

void sweep_arm64(struct sweep *s);

#endif
