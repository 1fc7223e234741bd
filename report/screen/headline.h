/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentence on the block with the most lost time. It claims no more than the records show. */
#ifndef ISPOT_REPORT_SCREEN_HEADLINE_H
#define ISPOT_REPORT_SCREEN_HEADLINE_H

struct block;
struct result;
struct text;
struct view;

/* Adds the beginning of the sentence, the cause and the place, up to "costs". The caller adds the
 * amount. */
void text_headline(const struct result *res, const struct block *b, struct text *out);
/* Adds " via CALLER" if one caller accounts for most of the function's time, or else nothing. */
void text_via(const struct result *res, const struct block *b, struct text *out);
/* Adds the lines below the sentence: durations, causes, wakeups and advice. */
void text_details(const struct view *v, struct text *out);
/* Adds one such line, " LABEL words", and wraps it. */
void text_detail(const struct view *v, const char *label, const char *s, struct text *out);

#endif
