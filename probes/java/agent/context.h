/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Java stacks of calls. Each one is reported to the recorder once. */
#ifndef ISPOT_PROBES_JAVA_AGENT_CONTEXT_H
#define ISPOT_PROBES_JAVA_AGENT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;

/*
 * Returns the id of the running thread's stack, or 0 if there is none. in_helper: the innermost
 * frame is the helper's, and is left out. waits: the thread is about to wait for a lock.
 */
uint32_t context_record(const struct jvmtiInterface_1_ **jvmti,
			const struct JNINativeInterface_ **jni, bool in_helper, bool waits);

#endif
