/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ispot record` of a user without privileges, through the probes of shared.h. */
#ifndef ISPOT_PROBES_SHARED_RECORD_H
#define ISPOT_PROBES_SHARED_RECORD_H

struct err;
struct session_options;
struct session_result;

/* Records the command as the user who calls. */
int shared_record(const struct session_options *o, struct session_result *result, struct err *err);

#endif
