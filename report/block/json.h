/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ispot report --json`, and the parts of it that other views use. */
#ifndef ISPOT_REPORT_BLOCK_JSON_H
#define ISPOT_REPORT_BLOCK_JSON_H

#include <stdint.h>

struct block;
struct json;
struct result;
struct text;
struct view;
void report_json(const struct view *v, struct text *out);
/* Sets a member to a name made printable, or to null if s is NULL. */
void report_set_name(struct json *obj, const char *key, const char *s);
void report_set_known(struct json *obj, const char *key, uint64_t v); /* null if v is BLOCK_NONE */
/* Returns one block with everything that is known about it; the caller frees it. */
struct json *report_block_json(const struct result *res, const struct block *b);
struct json *report_causes_json(const struct block *b);

#endif
