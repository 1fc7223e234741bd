/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that a stopped thread runs as a detour from its own code (tracee.h), and the first room for
 * it: the unused end of the last page of some object's code. A detour does not need the recorder to
 * finish: if the recorder is killed, the thread returns to where it was.
 */
#ifndef ISPOT_PROBES_INJECT_DETOUR_H
#define ISPOT_PROBES_INJECT_DETOUR_H

#include <stdint.h>
#include <sys/types.h>

struct err;
struct tracees;

#define DETOUR_TAG 0x69737000u /* of marks, see tracees_run_to_mark() */

/* Returns the address of steps_room() and steps_entry() unused bytes after the end of some object's
 * code, or 0 if there are none. resume: where the thread goes back to from there. */
uint64_t detour_room(pid_t pid, uint64_t resume);

/*
 * Lets a process that has just executed a program run up to the program's first instruction, when
 * all its libraries are mapped. Returns -ENOTSUP if its start is unusual, so that the recorder
 * could not stop it there; the process has not run then.
 */
int detour_to_entry(struct tracees *t, struct err *err);

#endif
