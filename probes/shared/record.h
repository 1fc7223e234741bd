/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ispot record` of a user without privileges: what a shared recorder records for them. */
#ifndef ISPOT_PROBES_SHARED_RECORD_H
#define ISPOT_PROBES_SHARED_RECORD_H

struct err;
struct session_options;
struct session_result;

/* The command, recorded through them as whoever calls. */
int shared_record(const struct session_options *o, struct session_result *result, struct err *err);

#endif
