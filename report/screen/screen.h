/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the first screen around the table. */
#ifndef ISPOT_REPORT_SCREEN_SCREEN_H
#define ISPOT_REPORT_SCREEN_SCREEN_H

#include <stdbool.h>

struct block;
struct result;
struct text;
struct view;

/* Parts that several text views share. */
/* Adds the program: "svc (pid 100)". */
void text_program(const struct view *v, struct text *out);
/* Adds the facts of the recording: "4.0 s · 2 CPUs · 5 threads · 154k calls · overhead ~10%". */
void text_recorded(const struct view *v, struct text *out);
void text_header(const struct view *v,
		 struct text *out); /* what was recorded, its time, its cost */
void text_conclusion(const struct view *v,
		     struct text *out); /* one paragraph that the data carries */
/* Returns whether threads that wait less in the block would only wait for a CPU instead. Advice
 * that shortens such waits would contradict the conclusion. */
bool report_cpus_limit(const struct result *res, const struct block *worst);

#endif
