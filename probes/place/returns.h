/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function that has a return probe has the kernel's trampoline in the place of its return
 * address. The kernel remembers the stack pointer at its entry: on x86-64 the place of the address;
 * on aarch64 the end of the function's frame, and the address is in the link register until the
 * function saves it at the bottom of that frame.
 */
#ifndef ISPOT_PROBES_PLACE_RETURNS_H
#define ISPOT_PROBES_PLACE_RETURNS_H

#include <stdint.h>

struct wire_copy;

#define RETURNS_ON_STACK UINT32_MAX

#if defined(__aarch64__)
#define RETURNS_LINK 30 /* among a copy's registers */
#else
#define RETURNS_LINK RETURNS_ON_STACK
#endif

/* Puts the addresses back into a copy of the stack from sp on. link: RETURNS_LINK, or that of
 * another machine. */
void returns_restore(struct wire_copy *w, uint64_t sp, uint32_t link);

#endif
