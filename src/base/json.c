/* SPDX-License-Identifier: GPL-3.0-or-later */
#define json_string jansson_string /* the constructor, not used here: see json.h */
#include <jansson.h>
#undef json_string
#undef json_is_null

#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define DEPTH_MAX 64
#define WHOLE_MAX 9007199254740992.0 /* 2^53: a double holds each whole number below */

/* struct json is jansson's json_t under a name that keeps its header out of everybody else. */
static json_t *in(const struct json *value)
{
	return (json_t *)(uintptr_t)value;
}

static struct json *checked(json_t *value)
{
	if (!value)
		xrealloc(NULL, SIZE_MAX); /* jansson fails here only if memory is exhausted */
	return (struct json *)value;
}

struct json *json_new_object(void)
{
	return checked(json_object());
}

struct json *json_new_array(void)
{
	return checked(json_array());
}

/*
 * Counts the brackets outside of strings before jansson parses: its own limit of 2,048 levels is
 * too deep for the functions here that recurse.
 */
static bool too_deep(const char *s, size_t n)
{
	bool quoted = false;
	unsigned depth = 0;

	for (size_t i = 0; i < n; i++) {
		if (quoted && s[i] == '\\')
			i++;
		else if (s[i] == '"')
			quoted = !quoted;
		else if (!quoted && (s[i] == '{' || s[i] == '['))
			depth++;
		else if (!quoted && (s[i] == '}' || s[i] == ']') && depth)
			depth--;
		if (depth > DEPTH_MAX)
			return true;
	}
	return false;
}

struct json *json_parse(const char *s, size_t n)
{
	json_error_t error;

	if (too_deep(s, n))
		return NULL;
	return (struct json *)json_loadb(s, n, JSON_DECODE_ANY, &error);
}

void json_free(struct json *value)
{
	json_decref(in(value));
}

/* A jansson string; bytes that are no UTF-8 become '?'. */
static json_t *new_string(const char *s)
{
	json_t *value = json_stringn(s, strlen(s));
	char *fixed, *p;
	uint32_t code;
	size_t n;

	if (value)
		return value;
	fixed = p = xstrdup(s);
	while (*p) {
		n = text_utf8(p, &code);
		if (!n)
			*p = '?';
		p += n ? n : 1;
	}
	value = json_stringn(fixed, strlen(fixed));
	free(fixed);
	return in(checked(value));
}

static json_t *new_u64(uint64_t v)
{
	char hex[19];

	if (v <= INT64_MAX)
		return json_integer((json_int_t)v);
	snprintf(hex, sizeof(hex), "0x%" PRIx64, v);
	return new_string(hex);
}

/*
 * Writes a whole number without ".0": readers print "0.0" as it stands (jq 1.7) or as "0" (jq 1.6).
 */
static json_t *new_f64(double v)
{
	if (!isfinite(v))
		return json_null();
	return v == trunc(v) && fabs(v) < WHOLE_MAX ? json_integer((json_int_t)v) : json_real(v);
}

static void set(struct json *obj, const char *key, json_t *value)
{
	json_object_set_new(in(obj), key, in(checked(value)));
}

void json_set_string(struct json *obj, const char *key, const char *s)
{
	set(obj, key, s ? new_string(s) : json_null());
}

void json_set_u64(struct json *obj, const char *key, uint64_t v)
{
	set(obj, key, new_u64(v));
}

void json_set_i64(struct json *obj, const char *key, int64_t v)
{
	set(obj, key, json_integer(v));
}

void json_set_f64(struct json *obj, const char *key, double v)
{
	set(obj, key, new_f64(v));
}

void json_set_bool(struct json *obj, const char *key, bool v)
{
	set(obj, key, json_boolean(v));
}

void json_set_null(struct json *obj, const char *key)
{
	set(obj, key, json_null());
}

void json_set_take(struct json *obj, const char *key, struct json *value)
{
	set(obj, key, value ? in(value) : json_null());
}

static void add(struct json *arr, json_t *value)
{
	json_array_append_new(in(arr), in(checked(value)));
}

void json_add_string(struct json *arr, const char *s)
{
	add(arr, s ? new_string(s) : json_null());
}

void json_add_u64(struct json *arr, uint64_t v)
{
	add(arr, new_u64(v));
}

void json_add_f64(struct json *arr, double v)
{
	add(arr, new_f64(v));
}

void json_add_take(struct json *arr, struct json *value)
{
	add(arr, value ? in(value) : json_null());
}

const struct json *json_get(const struct json *obj, const char *key)
{
	return (const struct json *)json_object_get(in(obj), key);
}

size_t json_n(const struct json *arr)
{
	return json_array_size(in(arr));
}

const struct json *json_at(const struct json *arr, size_t i)
{
	return (const struct json *)json_array_get(in(arr), i);
}

static const char *as_string(const struct json *value, const char *fallback)
{
	return json_is_string(in(value)) ? json_string_value(in(value)) : fallback;
}

static uint64_t as_u64(const struct json *value, uint64_t fallback)
{
	uint64_t v;

	if (json_is_integer(in(value)) && json_integer_value(in(value)) >= 0)
		return (uint64_t)json_integer_value(in(value));
	if (!text_parse_u64(as_string(value, ""), &v) && v > INT64_MAX)
		return v;
	return fallback;
}

const char *json_string(const struct json *obj, const char *key, const char *fallback)
{
	return as_string(json_get(obj, key), fallback);
}

uint64_t json_u64(const struct json *obj, const char *key, uint64_t fallback)
{
	return as_u64(json_get(obj, key), fallback);
}

double json_f64(const struct json *obj, const char *key, double fallback)
{
	const struct json *value = json_get(obj, key);

	return json_is_number(in(value)) ? json_number_value(in(value)) : fallback;
}

bool json_bool(const struct json *obj, const char *key, bool fallback)
{
	const struct json *value = json_get(obj, key);

	return json_is_boolean(in(value)) ? json_is_true(in(value)) : fallback;
}

bool json_is_null(const struct json *obj, const char *key)
{
	const struct json *value = json_get(obj, key);

	return !value || json_typeof(in(value)) == JSON_NULL;
}

uint64_t json_u64_at(const struct json *arr, size_t i, uint64_t fallback)
{
	return as_u64(json_at(arr, i), fallback);
}

static int to_text(const char *bytes, size_t n, void *out)
{
	text_addn(out, bytes, n);
	return 0;
}

/* jansson escapes no control characters from DEL on, of which a terminal obeys some. */
static void add_escaped(struct text *out, const char *s)
{
	while (*s) {
		uint32_t code = 0;
		size_t n = 0;

		while (s[n] > 0 && s[n] < 0x7f)
			n++;
		if (!n)
			n = text_utf8(s, &code);
		if (text_is_control(code) && code)
			text_printf(out, "\\u%04x", code);
		else
			text_addn(out, s, n ? n : 1);
		s += n ? n : 1;
	}
}

void json_print(const struct json *value, struct text *out, bool indent)
{
	struct text plain = { 0 };

	/* 15 digits, so that 0.32 is not printed as 0.32000000000000001. */
	json_dump_callback(in(value), to_text, &plain,
			   JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) |
				   (indent ? JSON_INDENT(2) : JSON_COMPACT));
	add_escaped(out, plain.s ? plain.s : "");
	text_release(&plain);
}
