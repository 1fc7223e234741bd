/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that a stopped thread runs beside its own (tracee.h), and the first room for it: what is
 * left of the last page of some object's code. It needs nobody who waits for it: where the recorder
 * is killed, it goes on to where the thread was.
 */
#ifndef ISPOT_PROBES_INJECT_DETOUR_H
#define ISPOT_PROBES_INJECT_DETOUR_H

#include <stdint.h>
#include <sys/types.h>

struct err;
struct stub_code;
struct tracees;

#define DETOUR_ROOM  208u	 /* bytes, for whoever asks */
#define DETOUR_ENTRY 112u	 /* for detour_to_entry(), behind them or, without them, alone */
#define DETOUR_TAG   0x69737000u /* of marks, see tracees_run_to_mark() */

/* DETOUR_ROOM and DETOUR_ENTRY bytes behind the end of some object's code, where nothing else is.
 * 0: there are none. */
uint64_t detour_room(pid_t pid);

/* What changes is saved on the stack, and comes from there. */
void detour_save(struct stub_code *c);
void detour_restore(struct stub_code *c);
/* The same, and a jump to resume. */
void detour_resume(struct stub_code *c, uint64_t resume);
void detour_call(struct stub_code *c, uint32_t number);
/* The recorder has a look at what the last call returned. */
void detour_mark(struct stub_code *c, uint32_t tag);

/*
 * A process that has just executed a program runs up to its first instruction, with all its
 * libraries mapped. -ENOTSUP: it cannot be told when it gets there; it stays where it is.
 */
int detour_to_entry(struct tracees *t, struct err *err);

#endif
