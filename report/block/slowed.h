/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The caution about recordings that slowed the program a lot: their durations, waits and shares are
 * those of the slowed program.
 */
#ifndef ISPOT_REPORT_BLOCK_SLOWED_H
#define ISPOT_REPORT_BLOCK_SLOWED_H

struct meta;
struct result;
struct text;

/*
 * Adds the caution as sentences, and what slows the program less. Adds nothing if recording did not
 * slow the program much (result_slowed_much()).
 */
void text_slowed(const struct result *res, struct text *out);
/* The same for views without a result, of a recording that lasted span_ns, by the recorder's
 * estimate. */
void text_slowed_by_estimate(const struct meta *meta, double span_ns, struct text *out);
/* Adds what slows the program less, as a sentence; nothing if the recorder's notice says it. */
void text_slow_less(const struct meta *meta, struct text *out);
/* Adds the overhead, "352%" or "over 900%", rounded as in the first line of the screen. */
void text_slowed_share(double overhead, struct text *out);

#endif
