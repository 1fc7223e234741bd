/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ctrl-C in a command that reads a recording: between begin and end it is noted, so that what was
 * read until then can be shown. Outside of them it ends the process as ever.
 */
#ifndef ISPOT_BASE_INTERRUPT_H
#define ISPOT_BASE_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

extern volatile sig_atomic_t interrupt_flag; /* only interrupt.c writes it */

void interrupt_begin(void); /* forgets an earlier one; nothing where SIGINT is ignored */

/* Asked every few records. */
static inline bool interrupt_noted(void)
{
	return interrupt_flag;
}

void interrupt_end(void);

/* Whether SIGINT, SIGTERM or SIGHUP is blocked here and waits: a recorder that others hold up looks
 * for it. */
bool interrupt_pending(void);

#endif
