/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the recorder and the Java machines meet: a directory with the agent and one for each user.
 */
#ifndef ISPOT_PROBES_JAVA_PLACE_H
#define ISPOT_PROBES_JAVA_PLACE_H

#include <stdint.h>
#include <sys/types.h>

struct err;
struct java_recording;

/*
 * The directory of inproc.h, with the agent and what is preloaded in it, which only the
 * recorder can change, and in it one for each user whose programs are recorded. *path: to be freed,
 * and removed by java_place_remove(). -ENOTSUP: this ispot has no agent.
 */
int java_place_make(const struct java_recording *o, char **path, struct err *err);
/* The user's directory in it; to be freed. */
char *java_place_of(const char *place, uid_t uid);
void java_place_remove(const char *place);
/*
 * Removes the directories that killed recorders of this user have left in a directory of
 * everybody's.
 */
void java_place_sweep(const char *in);
/* Bytes of a thread's ring, as the agents are told: whole records. */
uint64_t java_place_ring_bytes(const struct java_recording *o);

#endif
