/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a session, up to the point where it is ready to record, and frees it. */
#ifndef ISPOT_PROBES_SESSION_OPEN_H
#define ISPOT_PROBES_SESSION_OPEN_H

struct err;
struct session;
struct session_options;

/* Does everything up to the moment before the target runs or is changed. */
int session_open(struct session **s, const struct session_options *o, struct err *err);
void session_free(struct session *s); /* s may be NULL */
/* Adds advice to an error if no descriptor was left. Callers add none. */
void session_report_descriptors(int code, struct err *err);
/* Returns -EMFILE if a running recording could not open its files, which would fail silently in
 * places. */
int session_need_descriptors(struct err *err);

#endif
