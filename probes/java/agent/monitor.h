/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The monitors that threads have waited for: each has a number, which is told to the recorder with
 * its name once. Who gives one back learns here whether somebody waits for it, for little while
 * nobody waits for any. Objects may be collected all the same; numbers are not used again.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_MONITOR_H
#define ISPOT_PROBES_JAVA_AGENT_MONITOR_H

#include <stdint.h>

struct JNINativeInterface_;
struct _jobject;
struct jvmtiInterface_1_;

/*
 * Returns the number of an object that a thread is about to wait for. 0: there are more than are
 * told apart.
 */
uint32_t monitor_number(const struct jvmtiInterface_1_ **jvmti,
			const struct JNINativeInterface_ **jni, struct _jobject *object);
void monitor_wait_begins(uint32_t number);
void monitor_wait_ends(uint32_t number);
/* The object's number if a thread waits for it now; 0: none does, or it has none. */
uint32_t monitor_awaited(const struct JNINativeInterface_ **jni, struct _jobject *object);
/*
 * Returns the object's identity hash. It takes no longer than necessary where the object has a
 * monitor that threads have waited for or in.
 */
uint32_t monitor_hash(const struct jvmtiInterface_1_ **jvmti, struct _jobject *object);

#endif
