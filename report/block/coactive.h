/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions that ran on other threads while a block was slow: as JSON, as a sentence, and as a
 * table.
 */
#ifndef ISPOT_REPORT_BLOCK_COACTIVE_H
#define ISPOT_REPORT_BLOCK_COACTIVE_H

#include <stdbool.h>

struct block;
struct coactive;
struct json;
struct result;
struct text;
struct view;

/* Sets the member "coactive", to null if it could not be measured. */
void report_set_coactive(struct json *block, const struct result *res, const struct block *b);
/* Whether it is only the function in which a thread begins, and what that thread does is listed,
 * too. */
bool report_coactive_is_outer(const struct result *res, const struct block *b,
			      const struct coactive *c);
/* Adds "another thread runs evict in 91% of slow calls, …". */
void text_meanwhile(const struct coactive *c, struct text *out);
/*
 * Adds a table of the functions that ran concurrently while the block was slow; nothing if none is
 * known.
 */
void text_coactive(const struct view *v, const struct block *b, struct text *out);

#endif
