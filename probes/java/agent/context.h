/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where calls were called from: Java stacks, each of which is told to the recorder once. */
#ifndef ISPOT_PROBES_JAVA_AGENT_CONTEXT_H
#define ISPOT_PROBES_JAVA_AGENT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;

/*
 * Takes the stack of the running thread and returns its id; 0: none could be had. waits: the thread
 * is about to wait for a monitor; else the innermost frame is the helper's, and left out.
 */
uint32_t context_record(const struct jvmtiInterface_1_ **jvmti,
			const struct JNINativeInterface_ **jni, bool waits);

#endif
