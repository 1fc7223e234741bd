/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kind of wait of a thread that sleeps in a system call, by the call's number on this machine.
 */
#ifndef ISPOT_PROBES_SELECT_SYSCALLS_H
#define ISPOT_PROBES_SELECT_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

/* Fills kinds[number] with an enum wait_kind, WIRE_WAIT_BY_FILE, WIRE_YIELDS, or 0 for calls
 * without a row. */
void syscalls_kinds(uint8_t *kinds, size_t n);

#endif
