/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ispot report --json`, and what of it other views take. */
#ifndef ISPOT_REPORT_BLOCK_JSON_H
#define ISPOT_REPORT_BLOCK_JSON_H

#include <stdint.h>

struct block;
struct json;
struct result;
struct text;
struct view;
void report_json(const struct view *v, struct text *out);
/* A name that may be anything, made printable; NULL: null. */
void report_set_name(struct json *obj, const char *key, const char *s);
void report_set_known(struct json *obj, const char *key, uint64_t v); /* BLOCK_NONE: null */
/* One block with all that is known of it; to be freed. */
struct json *report_block_json(const struct result *res, const struct block *b);
struct json *report_causes_json(const struct block *b);

#endif
