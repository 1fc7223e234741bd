/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Removes the patches of some functions from a process that keeps those of the others. */
#ifndef ISPOT_PROBES_INJECT_UNPATCH_H
#define ISPOT_PROBES_INJECT_UNPATCH_H

#include <stdbool.h>
#include <sys/types.h>

struct patched;

/* pid: the process, or one that it forked. wanted[function]: the functions to remove. Returns false
 * if the process could not be stopped and still has them; another try may succeed. */
bool unpatch(const struct patched *p, pid_t pid, const bool *wanted);

#endif
