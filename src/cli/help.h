/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The help that ispot prints; all of it derives from the commands' rows. */
#ifndef ISPOT_CLI_HELP_H
#define ISPOT_CLI_HELP_H

#include <stdio.h>

struct command;
struct text;

void help_overview(struct text *out);				    /* ispot --help */
void help_command(const struct command *command, struct text *out); /* ispot CMD -h */

#endif
