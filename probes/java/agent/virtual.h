/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Virtual threads (Java 21 and later) have no rings: their calls are in that of the thread which
 * carries them. A call that goes on when its virtual thread leaves the carrier has no end, wherever
 * it ends.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_VIRTUAL_H
#define ISPOT_PROBES_JAVA_AGENT_VIRTUAL_H

struct jvmtiInterface_1_;

/* Adds what it takes to a jvmtiCapabilities, where this machine has virtual threads. */
void virtual_ask(const struct jvmtiInterface_1_ **jvmti, void *capabilities);
void virtual_watch(const struct jvmtiInterface_1_ **jvmti);

#endif
