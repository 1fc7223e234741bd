/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking the patches of some functions out of a process that keeps those of the others. */
#ifndef ISPOT_PROBES_INJECT_TAKEOUT_H
#define ISPOT_PROBES_INJECT_TAKEOUT_H

#include <stdbool.h>
#include <sys/types.h>

struct patched;

/* pid: the process, or one that it forked. wanted[function]. False: it could not be stopped, and
 * has them still; another try may succeed. */
bool takeout(const struct patched *p, pid_t pid, const bool *wanted);

#endif
