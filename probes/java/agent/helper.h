/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The class in the Java machine that rewritten methods call (rewrite.h). */
#ifndef ISPOT_PROBES_JAVA_AGENT_HELPER_H
#define ISPOT_PROBES_JAVA_AGENT_HELPER_H

#include <stdint.h>

struct JNINativeInterface_;
struct _jobject;
struct inproc_cost;
struct ring_thread;

#define HELPER_NOBODY (-1) /* argument of calls that only show that a method is there */

/* Defines the class and has the machine find its native methods. Returns NULL if this machine does
 * not allow it. */
struct _jobject *helper_define(const struct JNINativeInterface_ **jni);
/*
 * Returns the cost in ns of an entry and an exit, from Java and back: the least of some rounds, or
 * 0 if it is unknown. *cost: the part of it that the call's duration contains. *scratch is set to
 * the thread to which calls of REWRITE_CALIBRATE belong.
 */
uint32_t helper_calibrate(const struct JNINativeInterface_ **jni, struct _jobject *helper,
			  struct ring_thread **scratch, struct inproc_cost *cost);

#endif
