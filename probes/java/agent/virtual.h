/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Virtual threads (Java 21 and later) have no rings: their calls are in the ring of the thread that
 * carries them. If a virtual thread leaves its carrier during a call, the call gets no end,
 * wherever it ends.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_VIRTUAL_H
#define ISPOT_PROBES_JAVA_AGENT_VIRTUAL_H

struct jvmtiInterface_1_;

/* Adds the needed bit to a jvmtiCapabilities if this machine has virtual threads. */
void virtual_ask(const struct jvmtiInterface_1_ **jvmti, void *capabilities);
void virtual_watch(const struct jvmtiInterface_1_ **jvmti);

#endif
