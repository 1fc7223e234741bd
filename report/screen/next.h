/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last lines of the screen: the advice, and the commands that show more. */
#ifndef ISPOT_REPORT_SCREEN_NEXT_H
#define ISPOT_REPORT_SCREEN_NEXT_H

/* Begins the words behind a command: a shell comment, so that whole lines can be pasted. */
#define NEXT_COMMENT "  # "

struct block;
struct result;
struct meta;
struct lock_function;
struct meta_not_traced;
struct text;
struct view;

/* Adds " -i FILE", quoted for a shell, unless commands read that file by default. */
void text_input_option(const struct view *v, struct text *out);
/* Adds the name by which --slow takes the row, as a shell takes it. */
void text_slow_name(const struct result *res, const struct block *b, struct text *out);
/* Adds the advice for the block's cause, as lines of text_detail(), the first of them labelled. */
void text_what_to_try(const struct view *v, const struct block *worst, const char *label,
		      struct text *out);
/* "Next:  COMMAND  # WHAT"; without what it answers if the line is too short for that, and as
 * several lines with backslashes if it is too short for the command. */
void text_next_command(unsigned width, const char *command, const char *what, struct text *out);
void text_next_line(const struct view *v, const char *command, const char *what, struct text *out);
/* Returns the function that releases such locks and was too costly to trace, or NULL. */
const struct meta_not_traced *next_costly_release(const struct meta *meta,
						  const struct lock_function *lock);
/* Returns the function that takes locks and was too costly to trace, or NULL if none was. */
const struct meta_not_traced *next_costly_lock(const struct meta *meta);
void text_next(const struct view *v, struct text *out); /* adds the commands that show more */

#endif
