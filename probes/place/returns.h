/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Restores return addresses. While a function with a return probe runs, the kernel's trampoline
 * replaces its return address. The kernel stores the stack pointer at the entry. On x86-64 this is
 * the place of the address. On aarch64 it is the end of the function's frame, and the address is in
 * the link register until the function saves it at the bottom of that frame.
 */
#ifndef ISPOT_PROBES_PLACE_RETURNS_H
#define ISPOT_PROBES_PLACE_RETURNS_H

#include <stdint.h>

struct wire_copy;

#define RETURNS_ON_STACK UINT32_MAX

#if defined(__aarch64__)
#define RETURNS_LINK 30 /* its index among a copy's registers */
#else
#define RETURNS_LINK RETURNS_ON_STACK
#endif

/*
 * Puts the addresses back into a copy of the stack that begins at sp. link: RETURNS_LINK, or that
 * of another machine.
 */
void returns_restore(struct wire_copy *w, uint64_t sp, uint32_t link);

#endif
