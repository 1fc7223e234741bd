/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes pprof's profile.proto, uncompressed, which pprof accepts. There is a sample per call path
 * with its calls, its own time, and its own excess over the fastest call. Each function is one
 * location.
 */
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/export/rows.h"
#include "report/export/paths.h"
#include "trace/meta/meta.h"

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	FUNCTION_START = 5,
};

static void varint(struct text *out, uint64_t v)
{
	char byte;

	for (; v >= 0x80; v >>= 7) {
		byte = (char)(v | 0x80);
		text_addn(out, &byte, 1);
	}
	byte = (char)v;
	text_addn(out, &byte, 1);
}

static void number(struct text *out, unsigned field, uint64_t v)
{
	varint(out, field << 3);
	varint(out, v);
}

static void bytes(struct text *out, unsigned field, const char *s, size_t n)
{
	varint(out, field << 3 | 2);
	varint(out, n);
	text_addn(out, s, n);
}

/* Appends a nested message, and empties inner. */
static void message(struct text *out, unsigned field, struct text *inner)
{
	bytes(out, field, inner->n ? inner->s : "", inner->n);
	inner->n = 0;
}

static uint32_t add_string(struct strtab *strings, const char *s)
{
	return strtab_add(strings, s ? s : "");
}

static void print_types(struct export *e, struct strtab *strings)
{
	static const char *const types[][2] = { { "calls", "count" },
						{ "own", "nanoseconds" },
						{ "own_excess", "nanoseconds" } };
	struct text type = { 0 };

	for (unsigned i = 0; i < 3; i++) {
		number(&type, TYPE_TYPE, add_string(strings, types[i][0]));
		number(&type, TYPE_UNIT, add_string(strings, types[i][1]));
		message(&e->out, PROFILE_SAMPLE_TYPE, &type);
	}
	text_release(&type);
}

static void print_sample(struct export *e, const struct paths *paths, const struct path *p)
{
	uint64_t least = path_least_ns(paths, p);
	struct text sample = { 0 }, packed = { 0 };

	for (const struct path *at = p;; at = &paths->all.data[at->parent]) {
		varint(&packed, at->id + 1);
		if (at->parent == PATH_ROOT)
			break;
	}
	message(&sample, SAMPLE_LOCATION, &packed);
	varint(&packed, p->calls);
	varint(&packed, p->own_ns);
	varint(&packed, p->own_ns > least ? p->own_ns - least : 0);
	message(&sample, SAMPLE_VALUE, &packed);
	message(&e->out, PROFILE_SAMPLE, &sample);
	text_release(&packed);
	text_release(&sample);
}

static void print_function(struct export *e, uint32_t id, struct strtab *strings)
{
	const struct meta_function *f = &e->meta->functions.data[id];
	struct text line = { 0 }, whole = { 0 };

	number(&line, LINE_FUNCTION, id + 1);
	number(&line, LINE_LINE, f->line);
	number(&whole, LOCATION_ID, id + 1);
	message(&whole, LOCATION_LINE, &line);
	message(&e->out, PROFILE_LOCATION, &whole);
	number(&whole, FUNCTION_ID, id + 1);
	number(&whole, FUNCTION_NAME, add_string(strings, export_function_name(e, id)));
	number(&whole, FUNCTION_SYSTEM_NAME, add_string(strings, f->symbol));
	number(&whole, FUNCTION_FILE, add_string(strings, f->file));
	number(&whole, FUNCTION_START, f->line);
	message(&e->out, PROFILE_FUNCTION, &whole);
	text_release(&line);
	text_release(&whole);
}

static void end(struct export *e)
{
	const struct paths *paths = e->state;
	struct strtab strings = { 0 };
	const struct meta_session *s = &e->meta->session;

	strtab_add(&strings, "");
	print_types(e, &strings);
	vec_for_each (&paths->all, const struct path, p)
		if (p->calls)
			print_sample(e, paths, p);
	for (uint32_t id = 0; id < e->meta->functions.n; id++)
		if (e->meta->functions.data[id].symbol)
			print_function(e, id, &strings);
	for (uint32_t i = 0; i < strings.n; i++)
		bytes(&e->out, PROFILE_STRING, strtab_get(&strings, i),
		      strlen(strtab_get(&strings, i)));
	if (s->start_unix_ns != META_UNKNOWN)
		number(&e->out, PROFILE_TIME_NANOS, s->start_unix_ns);
	if (e->meta->end.present && e->meta->end.end_ns != META_UNKNOWN)
		number(&e->out, PROFILE_DURATION_NANOS, export_since(e, e->meta->end.end_ns));
	strtab_release(&strings);
	paths_release(e);
}

const struct export_format export_pprof = {
	.name = "pprof",
	.what = "pprof profile: calls, own time, own excess",
	.is_binary = true,
	.begin = paths_begin,
	.call = paths_call,
	.end = end,
};
