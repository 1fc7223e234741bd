/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences on CPU time that a runtime, as OpenMP's library, has for itself. */
#ifndef ISPOT_REPORT_SCREEN_RUNTIME_H
#define ISPOT_REPORT_SCREEN_RUNTIME_H

#include <stdbool.h>

struct text;
struct view;

/* Whether a runtime has so much time that it gets a sentence. */
bool report_runtime(const struct view *v);
/* Whether it is more than any row loses, so that the screen begins with it. */
bool report_runtime_leads(const struct view *v);
/* The sentence on it; nothing if there is none. */
void text_runtime(const struct view *v, struct text *out);
/* Adds what to do about it; nothing if there is none. */
void text_runtime_advice(const struct view *v, struct text *out);

#endif
