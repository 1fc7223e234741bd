/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directory through which the recorder and the Java machines exchange data. It holds the agent
 * and a directory for each user.
 */
#ifndef ISPOT_PROBES_JAVA_PLACE_H
#define ISPOT_PROBES_JAVA_PLACE_H

#include <stdint.h>
#include <sys/types.h>

struct err;
struct pmu_list;
struct session_options;

/*
 * Makes the directory of inproc.h. It holds the agent and the library to preload, which only the
 * recorder can change, and a directory for each user whose programs are recorded. counted: what
 * calls count. The caller frees
 * *path, and java_place_remove() removes the directory. -ENOTSUP: this ispot was built without the
 * agent.
 */
int java_place_make(const struct session_options *o, const struct pmu_list *counted, char **path,
		    struct err *err);
/* Returns the user's directory in it; the caller frees the path. */
char *java_place_of(const char *place, uid_t uid);
void java_place_remove(const char *place);
/*
 * Removes the directories that killed recorders of this user have left in a directory that
 * everybody may write to.
 */
void java_place_sweep(const char *in);
/* Returns the bytes of a thread's ring as the agents get them: a whole number of records. */
uint64_t java_place_ring_bytes(const struct session_options *o);

#endif
