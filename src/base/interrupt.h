/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ctrl-C in a command that reads a recording. Between interrupt_begin() and interrupt_end() Ctrl-C
 * only sets a flag, so that the command can show what it has read until then. Outside of the two,
 * Ctrl-C ends the process as usual.
 */
#ifndef ISPOT_BASE_INTERRUPT_H
#define ISPOT_BASE_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

extern volatile sig_atomic_t interrupt_flag; /* only interrupt.c writes it */

void interrupt_begin(void); /* clears the flag; does nothing if SIGINT is ignored */

/* Whether Ctrl-C was pressed; loops call this every few records. */
static inline bool interrupt_noted(void)
{
	return interrupt_flag;
}

void interrupt_end(void);

/*
 * Whether SIGINT, SIGTERM or SIGHUP is blocked and pending: a loop that other processes may hold up
 * checks this and gives up.
 */
bool interrupt_pending(void);

#endif
