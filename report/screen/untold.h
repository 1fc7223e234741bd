/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences on time that may or may not be interference. */
#ifndef ISPOT_REPORT_SCREEN_UNTOLD_H
#define ISPOT_REPORT_SCREEN_UNTOLD_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct block;
struct cause;
struct result;
struct text;
struct thread;
struct untold_function;
struct untold_functions;
struct view;

/* Adds a paragraph on a block with too few calls for a verdict, which may lose the most time. */
void text_unjudged(const struct view *v, const struct block *b, struct text *out);
/* Returns the cause "cache misses" if it is most of the block's excess time, or else NULL. It is
 * unknown what causes the misses, so this time is unexplained. */
const struct cause *text_cache_misses(const struct block *b);
/* Adds a paragraph on running time that nothing explains. */
void text_unexplained(const struct view *v, const struct block *b, struct text *out);

/* Returns how a sentence begins on time without a score: that it is unknown whether threads
 * interfere, or that there is but one. */
const char *report_alone(const struct result *res);
/* Adds which functions take CPU time without a score. alone: no other sentence precedes it. */
void text_untold(const struct result *res, const struct untold_functions *untold, bool alone,
		 struct text *out);

/* Adds "work (app.c:12)", with the loop's line if there is a loop. */
void text_untold_name(const struct untold_function *f, struct text *out);

/* Adds the blank before a sentence that is not the first. */
static inline void text_new_sentence(struct text *out)
{
	text_add(out, out->n ? " " : "");
}

/* The busy thread that the others wait for to hand out work, and for how long they wait in all.
 * thread NULL and waited_ns 0: no thread limits the program so. leads: the program takes as long as
 * that thread does, whatever else is lost, so that the screen begins with it. */
struct giver {
	const struct thread *thread;
	double waited; /* of all threads' lives */
	bool leads;
};
struct giver report_giver(const struct view *v);
/* Returns the row with the largest loss, or NULL if there is none or if it loses little while the
 * first screen leads with something else: then words and advice about it would distract. */
const struct block *report_told_row(const struct view *v);
/* The sentence on it; nothing if there is none. */
void text_giver(const struct view *v, const struct giver *giver, struct text *out);
/* Adds what to try if much CPU time outside of judged calls is in page faults, or nothing. */
void text_faults_advice(const struct view *v, struct text *out);
/* What to do about it; nothing if there is none. */
void text_giver_advice(const struct giver *giver, struct text *out);

#endif
