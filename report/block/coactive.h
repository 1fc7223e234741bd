/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions that ran on other threads while a block was slow: JSON, one sentence, and a table.
 */
#ifndef ISPOT_REPORT_BLOCK_COACTIVE_H
#define ISPOT_REPORT_BLOCK_COACTIVE_H

struct block;
struct coactive;
struct json;
struct result;
struct text;
struct view;

/* Member "coactive": null where it could not be measured. */
void report_set_coactive(struct json *block, const struct result *res, const struct block *b);
/* "another thread runs evict during 91% of …" */
void text_meanwhile(const struct coactive *c, struct text *out);
/* A table of who else was at work while it was slow; nothing where nobody is named. */
void text_coactive(const struct view *v, const struct block *b, struct text *out);

#endif
