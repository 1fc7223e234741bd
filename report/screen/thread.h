/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads as rows: the name of each, and how much of its time it loses. */
#ifndef ISPOT_REPORT_SCREEN_THREAD_H
#define ISPOT_REPORT_SCREEN_THREAD_H

#include <stdbool.h>

struct block;
struct text;
struct view;

#define THREAD_BAR	 16
#define THREAD_BAR_TITLE "LOST OF ITS TIME"

/* Adds the function in which the thread began, and its name if it has one of its own:
 * "worker_main", "io-1, read_loop". */
void text_thread_name(const struct view *v, const struct block *b, struct text *out);
/* Adds a bar of the share of its time that the thread loses. */
void text_thread_bar(const struct view *v, const struct block *b, struct text *out);
/* Returns whether the threads belong to more than one process. */
bool threads_of_several(const struct view *v);

#endif
