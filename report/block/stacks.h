/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call stacks: of a block in JSON, and of the block that --slow looks at. */
#ifndef ISPOT_REPORT_BLOCK_STACKS_H
#define ISPOT_REPORT_BLOCK_STACKS_H

struct block;
struct callstacks;
struct json;
struct result;
struct text;
struct view;

/*
 * Returns the stacks of a block; those of groups of calls are kept apart from those of functions.
 */
struct callstacks *report_callstacks(const struct result *res, const struct block *b);

/* A block's call stacks, heaviest first. */
struct json *report_stacks_json(const struct result *res, const struct block *b);

/* The same of calls only; with how many are slow where s knows that. */
struct json *report_callstacks_json(const struct result *res, struct callstacks *s,
				    const struct block *b);
/* The call stacks of --slow. */
void text_stacks(const struct view *v, struct callstacks *s, const struct block *b,
		 struct text *out);
/* The call stack with most of the block's time, a line or two; nothing where none is known. */
void text_called_from(const struct view *v, const struct block *b, unsigned indent,
		      struct text *out);

#endif
