/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that a stopped thread runs as a detour from its own code (tracee.h), and the first room for
 * it: the unused end of the last page of some object's code. A detour does not need the recorder to
 * finish: if the recorder is killed, the thread returns to where it was.
 */
#ifndef ISPOT_PROBES_INJECT_DETOUR_H
#define ISPOT_PROBES_INJECT_DETOUR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct stub_code;
struct tracees;

#define DETOUR_ROOM	   208u /* bytes for any detour */
#define DETOUR_ENTRY	   112u /* bytes for detour_to_entry(), after DETOUR_ROOM or on their own */
#define DETOUR_ENTRY_BYTES 20	/* of the program's first code, among which a jump is put */
#define DETOUR_TAG	   0x69737000u /* of marks, see tracees_run_to_mark() */

/* Returns the address of DETOUR_ROOM and DETOUR_ENTRY unused bytes after the end of some object's
 * code, or 0 if there are none. */
uint64_t detour_room(pid_t pid);

/* Emit code that saves the registers which a detour changes on the stack, and that restores
 * them. */
void detour_emit_save(struct stub_code *c);
void detour_emit_restore(struct stub_code *c);
/* Emits code that restores the registers, and a jump to resume. */
void detour_emit_resume(struct stub_code *c, uint64_t resume);
void detour_emit_call(struct stub_code *c, uint32_t number);
/* Emits a mark, at which the recorder reads what the last system call returned. */
void detour_emit_mark(struct stub_code *c, uint32_t tag);

/*
 * Returns how many bytes at p, of DETOUR_ENTRY_BYTES, are whole instructions that make room for a
 * jump of that length, or 0 if they are not those with which C libraries begin.
 */
size_t detour_movable_bytes(const uint8_t *p, size_t jump);

/*
 * Lets a process that has just executed a program run up to the program's first instruction, when
 * all its libraries are mapped. Returns -ENOTSUP if its start is unusual, so that the recorder
 * could not stop it there; the process has not run then.
 */
int detour_to_entry(struct tracees *t, struct err *err);

#endif
