/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads as rows: what each is called, and how much of its time it loses. */
#ifndef ISPOT_REPORT_SCREEN_THREAD_H
#define ISPOT_REPORT_SCREEN_THREAD_H

#include <stdbool.h>

struct block;
struct text;
struct view;

#define THREAD_BAR	 16
#define THREAD_BAR_TITLE "LOST OF ITS TIME"

/* The function that it began in, and its name where it has one of its own: "worker_main",
 * "io-1, read_loop". */
void text_thread_name(const struct view *v, const struct block *b, struct text *out);
/* The share of its time that it loses. */
void text_thread_bar(const struct view *v, const struct block *b, struct text *out);
/* Whether there are threads of more than one process. */
bool threads_of_several(const struct view *v);

#endif
