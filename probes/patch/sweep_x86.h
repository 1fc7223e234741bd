/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the x86-64 code of one range, s->start to s->end. */
#ifndef ISPOT_PROBES_PATCH_SWEEP_X86_H
#define ISPOT_PROBES_PATCH_SWEEP_X86_H

struct sweep;

void sweep_x86(struct sweep *s);

#endif
