/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording of Java programs: an agent inside the program (probes/java/agent) measures its
 * methods, and the records go into the same kind of file as any. The recorder needs only to be the
 * program's user or root, because the kernel probes no function. As root it also records the
 * scheduler (switches.h).
 */
#ifndef ISPOT_PROBES_JAVA_RECORD_H
#define ISPOT_PROBES_JAVA_RECORD_H

struct err;
struct session_options;
struct session_result;

/* Runs the recording to its end. */
int java_record(const struct session_options *o, struct session_result *result, struct err *err);

#endif
