/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ctrl-C in a command that reads a recording: between begin and end it is noted, so that what was
 * read until then can be shown. Outside of them it ends the process as ever.
 */
#ifndef ISPOT_BASE_INTERRUPT_H
#define ISPOT_BASE_INTERRUPT_H

#include <stdbool.h>

void interrupt_begin(void); /* forgets an earlier one; nothing where SIGINT is ignored */
bool interrupt_noted(void);
void interrupt_end(void);

#endif
