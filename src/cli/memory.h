/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small file may unpack to any number of threads, functions and chunks. So the memory of commands
 * that read recordings is limited to 4 GB, or $ISPOT_MEMORY; beyond it the command ends as if
 * memory were exhausted.
 */
#ifndef ISPOT_CLI_MEMORY_H
#define ISPOT_CLI_MEMORY_H

struct err;

int memory_bound(struct err *err); /* sets the limit; -EINVAL: $ISPOT_MEMORY is not a size */
void memory_unbound(void); /* restores the limit of before, for a program that the command starts */

#endif
