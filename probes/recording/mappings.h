/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files the processes map while they are recorded: the kernel's events of all processes. */
#ifndef ISPOT_PROBES_RECORDING_MAPPINGS_H
#define ISPOT_PROBES_RECORDING_MAPPINGS_H

struct err;
struct recording;

/* Opens the events on every CPU that is online. */
int mappings_watch(struct recording *r, struct err *err);
/* Reads the mappings so far, then closes their rings. */
void mappings_unwatch(struct recording *r);
/* Writes a notice, which the terminal shows with -v only, if some mappings are unknown. */
void mappings_report(struct recording *r);

#endif
