/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences on CPU time in which threads wait for others without sleeping. */
#ifndef ISPOT_REPORT_SCREEN_SPIN_H
#define ISPOT_REPORT_SCREEN_SPIN_H

#include <stdbool.h>

struct text;
struct untold_functions;
struct view;

/* Whether so much of the CPU time passes like this, outside of judged calls, that it gets a
 * sentence. */
bool report_spins(const struct untold_functions *untold);
/* Whether it is more time than any row loses, so that the screen begins with it. */
bool report_spins_lead(const struct view *v, const struct untold_functions *untold);
/* The sentence on it; nothing if there is none. */
void text_spins(const struct untold_functions *untold, struct text *out);
/* Adds what to do about it; nothing if there is none, or if the spinning keeps no CPU from others.
 * Returns report_spins_lead(). */
bool text_spins_advice(const struct view *v, struct text *out);

#endif
