/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call stacks of a block: in JSON, on the screen, and in the view of --slow. */
#ifndef ISPOT_REPORT_BLOCK_STACKS_H
#define ISPOT_REPORT_BLOCK_STACKS_H

struct block;
struct callstacks;
struct json;
struct result;
struct text;
struct view;

/*
 * Returns the call stacks of a block. Those of groups of calls are stored apart from those of
 * functions.
 */
struct callstacks *report_callstacks(const struct result *res, const struct block *b);

/* Returns the call stacks of a block, or its blocking stacks if it is a wait, heaviest first. */
struct json *report_stacks_json(const struct result *res, const struct block *b);

/* Returns call stacks only, with the number of slow calls if s knows which calls are slow. */
struct json *report_callstacks_json(const struct result *res, struct callstacks *s,
				    const struct block *b);
/* Adds the call stacks of --slow. */
void text_stacks(const struct view *v, struct callstacks *s, const struct block *b,
		 struct text *out);
/*
 * Adds the call stack with the most time of the block, in a line or two, or nothing if none is
 * known.
 */
void text_called_from(const struct view *v, const struct block *b, unsigned indent,
		      struct text *out);

#endif
