/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Emits the code of a detour (tracee.h): it saves what it changes, makes system calls, tells the
 * recorder what they returned, and goes back to where the thread was.
 */
#ifndef ISPOT_PROBES_INJECT_MACHINE_STEPS_H
#define ISPOT_PROBES_INJECT_MACHINE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stub_code;

#define STEPS_ROOM_MOST	 320u /* bytes for any detour, at most */
#define STEPS_ENTRY_MOST 128u /* and for that at a program's entry point */
#define STEPS_JUMP_MOST	 16u  /* and of a jump at the entry point */

/* The bytes of both on this machine. */
size_t steps_room(void);
size_t steps_entry(void);

/* Save the registers which a detour changes on the stack, and restore them. */
void steps_save(struct stub_code *c);
void steps_restore(struct stub_code *c);
/*
 * Restores the registers and goes to resume, which may be anywhere on x86-64. An aarch64 jump
 * without a register reaches 128 MB: *back is 0 for code that is so near, and is set to the address
 * of its end, to which code that is elsewhere goes.
 */
void steps_resume(struct stub_code *c, uint64_t resume, uint64_t *back);

void steps_arguments(struct stub_code *c, const uint64_t args[6]);
void steps_call(struct stub_code *c, uint32_t number);
/* A mark, at which the recorder reads what the last system call returned. */
void steps_mark(struct stub_code *c, uint32_t tag);
/* Behind a mark: makes what it tells the first argument of the next call, with two others. */
void steps_told_argument(struct stub_code *c, uint64_t second, uint64_t third);
/* Behind a mark: goes to the address that it tells, if that is no error and there is code. */
void steps_go_to_told(struct stub_code *c);
/* Keeps what the last call returned, a descriptor; makes it the first or the fifth argument. */
void steps_keep(struct stub_code *c);
void steps_kept_first(struct stub_code *c);
void steps_kept_fifth(struct stub_code *c);

/* ---- at a program's entry point ---- */

/*
 * Returns how many bytes at p, of STEPS_JUMP_MOST + 4 bytes, stay before the jump, as indirect
 * jumps must arrive there.
 */
size_t steps_fixed_bytes(const uint8_t *p);
/*
 * Returns how many bytes at p, as many, are whole instructions that make room for a jump of that
 * length and work elsewhere, or 0 if they are not those with which C libraries begin.
 */
size_t steps_movable_bytes(const uint8_t *p, size_t jump);
/* Returns the bytes of a jump to code within steps_reach(), or to anywhere; 0: there is none. */
size_t steps_near_jump(void);
size_t steps_far_jump(void);
uint64_t steps_reach(void);
/* A jump of that length. */
void steps_jump(struct stub_code *c, uint64_t to, size_t bytes);

#endif
