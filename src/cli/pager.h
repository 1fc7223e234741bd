/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Long output on a terminal goes through $ISPOT_PAGER, else $PAGER, else `less -FRX`, as git
 * does. An empty one and `cat` mean none. The pager starts with the first byte of output, so
 * that progress and errors before it stay visible.
 */
#ifndef ISPOT_CLI_PAGER_H
#define ISPOT_CLI_PAGER_H

#include <stdbool.h>

void pager_start(void);	 /* does nothing if stdout is not a terminal */
bool pager_active(void); /* stdout is a pipe, but a person reads at its end: colours are fine */
void pager_finish(void); /* closes stdout and waits for the pager to end, if there is one */

#endif
