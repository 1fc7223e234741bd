/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON values, for the trace's self-description and for reports: the one file that includes
 * jansson. Readers are strict about types and lenient about absence: a missing or wrong-typed
 * member gives the fallback, so that a hostile file cannot crash a reader.
 */
#ifndef ISPOT_BASE_JSON_H
#define ISPOT_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;
struct json; /* reference counted by its owner: one _free each for _new and _parse */

struct json *json_new_object(void);
struct json *json_new_array(void);
struct json *json_parse(const char *s, size_t n); /* NULL: not JSON, or over 64 levels deep */
void json_free(struct json *value);		  /* NULL is fine */

/*
 * Set a member of an object. Invalid UTF-8 in s becomes '?'. A NaN or infinite f64 becomes null. A
 * u64 of 2^63 or more becomes a string of hex digits ("0xffff…"), which json_u64() reads back: JSON
 * readers keep at most 63 bits.
 */
void json_set_string(struct json *obj, const char *key, const char *s); /* NULL: null */
void json_set_u64(struct json *obj, const char *key, uint64_t v);
void json_set_i64(struct json *obj, const char *key, int64_t v);
void json_set_f64(struct json *obj, const char *key, double v);
void json_set_bool(struct json *obj, const char *key, bool v);
void json_set_null(struct json *obj, const char *key);
void json_set_take(struct json *obj, const char *key, struct json *value); /* owns value */
/* Append to an array. */
void json_add_string(struct json *arr, const char *s);
void json_add_u64(struct json *arr, uint64_t v);
void json_add_f64(struct json *arr, double v);
void json_add_take(struct json *arr, struct json *value);

/*
 * Returns a borrowed string. jansson exports a json_string, too, so the linker gets another name.
 */
const char *json_string(const struct json *obj, const char *key,
			const char *fallback) __asm__("ispot_json_string");
/* A negative number gives the fallback. */
uint64_t json_u64(const struct json *obj, const char *key, uint64_t fallback);
double json_f64(const struct json *obj, const char *key, double fallback);
bool json_bool(const struct json *obj, const char *key, bool fallback);
bool json_is_null(const struct json *obj, const char *key);	      /* absent or null */
const struct json *json_get(const struct json *obj, const char *key); /* NULL: absent */
size_t json_n(const struct json *arr);				      /* 0: not an array */
const struct json *json_at(const struct json *arr, size_t i);
uint64_t json_u64_at(const struct json *arr, size_t i, uint64_t fallback);

void json_print(const struct json *value, struct text *out, bool indent); /* compact: one line */

#endif
