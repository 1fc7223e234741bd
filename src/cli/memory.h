/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small file may unpack to any number of threads, functions and chunks: beyond so much memory
 * (4 GB, or $ISPOT_MEMORY) the command ends as where there is no more.
 */
#ifndef ISPOT_CLI_MEMORY_H
#define ISPOT_CLI_MEMORY_H

struct err;

int memory_bound(struct err *err); /* -EINVAL: $ISPOT_MEMORY is no size */
void memory_unbound(void);	   /* as it was before: for a program that the command starts */

#endif
