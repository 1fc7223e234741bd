/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The monitors that threads have waited for, and the locks of java.util.concurrent. Each has a
 * number, which is reported to the recorder once, with a name. A thread that releases a monitor
 * asks here whether another one waits for it, which costs little while no thread waits for any. The
 * objects can be garbage-collected nevertheless; their numbers are not used again.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_MONITOR_H
#define ISPOT_PROBES_JAVA_AGENT_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

struct JNINativeInterface_;
struct _jobject;
struct jvmtiInterface_1_;
struct ring_thread;

/*
 * Returns the number of an object that a thread is about to wait for, or 0 if there are too many
 * objects.
 */
uint32_t monitor_number(const struct jvmtiInterface_1_ **jvmti,
			const struct JNINativeInterface_ **jni, struct _jobject *object);
/* Whether the class is of the package java.util.concurrent.locks. */
bool monitor_is_lock_class(const struct jvmtiInterface_1_ **jvmti, struct _jobject *class);
void monitor_wait_begins(uint32_t number);
/* Ends the thread's wait, and records that from now on it has the monitor, or waits no more. */
void monitor_wait_over(struct ring_thread *t, uint64_t now_ns);
/* Returns the object's number if a thread waits for it now; otherwise, or if it has no number, 0.
 */
uint32_t monitor_awaited(const struct JNINativeInterface_ **jni, struct _jobject *object);
/*
 * Returns the object's identity hash. This is quick for an object that threads have waited for.
 */
uint32_t monitor_hash(const struct jvmtiInterface_1_ **jvmti, struct _jobject *object);

#endif
