/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ispot record` of a user without privileges: what a shared recorder records for them. */
#ifndef ISPOT_PROBES_SHARED_RECORD_H
#define ISPOT_PROBES_SHARED_RECORD_H

struct err;
struct shared_recording;
struct shared_result;

/* The command, recorded through them as whoever calls. */
int shared_record(const struct shared_recording *o, struct shared_result *result, struct err *err);

#endif
