/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentence on the block that loses most: what the records show, in words that claim no more. */
#ifndef ISPOT_REPORT_SCREEN_HEADLINE_H
#define ISPOT_REPORT_SCREEN_HEADLINE_H

struct block;
struct result;
struct text;
struct view;

/* The beginning of a sentence on a block that loses much: why, and where, up to "costs"; how much
 * follows. */
void text_headline(const struct result *res, const struct block *b, struct text *out);
/* " via CALLER": where most of a function's time is called from; nothing, if that is no one place.
 */
void text_via(const struct result *res, const struct block *b, struct text *out);
/* The lines below that sentence: how long calls take, why, who wakes the thread, what to try. */
void text_details(const struct view *v, struct text *out);
/* One such line, "  LABEL     words", wrapped. */
void text_detail(const struct view *v, const char *label, const char *s, struct text *out);

#endif
