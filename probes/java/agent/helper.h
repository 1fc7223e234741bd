/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The class that rewritten methods call (rewrite.h), in the machine. */
#ifndef ISPOT_PROBES_JAVA_AGENT_HELPER_H
#define ISPOT_PROBES_JAVA_AGENT_HELPER_H

#include <stdint.h>

struct JNINativeInterface_;
struct _jobject;
struct inproc_cost;
struct ring_thread;

#define HELPER_NOBODY (-1) /* what its methods are given to see that they are there */

/* Defines it and has the machine find its native methods. NULL: this machine does not let it be. */
struct _jobject *helper_define(const struct JNINativeInterface_ **jni);
/*
 * Returns the cost of an entry and an exit, from Java and back, in ns: the least of some rounds; 0:
 * it cannot be told. *cost: what of it the call's duration shows. *scratch: the begin of the thread
 * that is recorded for REWRITE_CALIBRATE.
 */
uint32_t helper_calibrate(const struct JNINativeInterface_ **jni, struct _jobject *helper,
			  struct ring_thread **scratch, struct inproc_cost *cost);

#endif
