// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/fixture_line.h"
#include "trace/meta.h"
#include "trace/record.h"

struct fixture_names {
	const struct meta *meta;
	char **names; /* by function id */
	size_t n;
};

const char *const fixture_states[] = { "preempted", "sleeping", "blocked", "other", NULL };

/* ---- quoting ---- */

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* In quotes; what is not a printable UTF-8 character becomes \xNN. */
static void print_quoted(const char *s, size_t n, struct text *out)
{
	char *copy = xmalloc(n + 1); /* with a NUL behind it: text_utf8() stops there */

	memcpy(copy, s, n);
	copy[n] = 0;
	text_add(out, "\"");
	for (size_t i = 0; i < n;) {
		uint32_t code;
		size_t length = text_utf8(copy + i, &code);

		if (length == 0 || is_control(code)) {
			for (size_t end = i + (length ? length : 1); i < end; i++)
				text_printf(out, "\\x%02x", (unsigned char)s[i]);
			continue;
		}
		if (s[i] == '"' || s[i] == '\\')
			text_add(out, "\\");
		text_addn(out, s + i, length);
		i += length;
	}
	text_add(out, "\"");
	free(copy);
}

/* A word that the parser takes as one token and as nothing else. */
static bool is_plain(const char *s)
{
	uint32_t code;

	if (*s == '@' || *s == '"' || !*s)
		return false;
	for (; *s; s += text_utf8(s, &code))
		if (!text_utf8(s, &code) || is_control(code) || *s == ' ')
			return false;
	return true;
}

/* ---- names ---- */

static char *name_in_text(const char *name)
{
	struct text t = { 0 };

	if (is_plain(name))
		return xstrdup(name);
	print_quoted(name, strlen(name), &t);
	return t.s;
}

struct fixture_names *fixture_names_new(const struct meta *meta)
{
	struct fixture_names *names = xcalloc(1, sizeof(*names));
	struct strtab tab = { 0 };
	uint32_t *uses = xcalloc(meta->functions.n + 1, sizeof(*uses));

	names->meta = meta;
	names->n = meta->functions.n;
	names->names = xcalloc(names->n + 1, sizeof(*names->names));
	vec_for_each (&meta->functions, struct meta_function, f)
		if (f->symbol)
			uses[strtab_add(&tab, f->name)]++;
	for (size_t i = 0; i < names->n; i++) {
		const struct meta_function *f = &meta->functions.data[i];

		if (f->symbol && *f->name && uses[strtab_find(&tab, f->name)] == 1)
			names->names[i] = name_in_text(f->name);
	}
	strtab_release(&tab);
	free(uses);
	return names;
}

void fixture_names_free(struct fixture_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	free(names);
}

static void print_function(const struct fixture_names *names, uint64_t id, struct text *out)
{
	if (id < names->n && names->names[id])
		text_printf(out, " %s", names->names[id]);
	else
		text_printf(out, " @%" PRIu64, id);
}

/* ---- records ---- */

/* An entry from a place that is described is of that place's function. */
static void print_call(const struct fixture_names *names, const struct record *r, struct text *out)
{
	const struct meta_site *site = r->kind == REC_ENTRY ? meta_site(names->meta, r->id) : NULL;

	if (site && !meta_function(names->meta, site->function))
		site = NULL;
	text_add(out, r->kind == REC_ENTRY ? " entry" : " exit");
	print_function(names, site ? site->function : r->id, out);
	text_printf(out, " sp=0x%" PRIx64, r->sp);
	if (site)
		text_printf(out, " site=%" PRIu32, r->id);
}

static void print_switch_out(const struct record *r, struct text *out)
{
	if (r->values[0] <= SWITCH_OTHER)
		text_printf(out, " %s", fixture_states[r->values[0]]);
	else
		text_printf(out, " %" PRIu64, r->values[0]);
	text_printf(out, " next=%" PRIu64 "/%" PRIu64, r->values[1], r->values[2]);
}

static void print_named(const struct fixture_names *names, const struct record_shape *shape,
			const char *name, uint64_t value, struct text *out)
{
	if (!strcmp(name, "id"))
		print_function(names, value, out);
	else if (!strcmp(name, "ip") || !strcmp(name, "mask"))
		text_printf(out, " %s=0x%" PRIx64, name, value);
	else if (shape->zigzag)
		text_printf(out, " %" PRId64, (int64_t)value);
	else
		text_printf(out, *name ? " %s=%" PRIu64 : " %s%" PRIu64, name, value);
}

static void print_values(const struct fixture_names *names, const struct record *r,
			 struct text *out)
{
	const struct record_shape *shape = record_shape(r->kind);
	uint32_t n_named = record_shape_values(shape), i = 0;

	if (r->kind == REC_SWITCH_OUT) {
		print_switch_out(r, out);
		i = 3;
	}
	for (; i < r->n_values; i++)
		if (i < n_named)
			print_named(names, shape, shape->values[i], r->values[i], out);
		else
			text_printf(out, " %" PRIu64, r->values[i]);
	if (shape->has_bytes) {
		text_add(out, " ");
		print_quoted(r->bytes, r->n_bytes, out);
	}
}

void fixture_print_record(const struct fixture_names *names, const struct record *r,
			  struct text *out)
{
	const struct record_shape *shape = record_shape(r->kind);

	text_printf(out, "%" PRIu64 " %" PRIu32 " %" PRIu32 "/%" PRIu32, r->time_ns, r->cpu, r->tid,
		    r->tgid);
	if (r->kind == REC_ENTRY || r->kind == REC_EXIT) {
		print_call(names, r, out);
	} else if (shape) {
		text_printf(out, " %s", shape->name);
		print_values(names, r, out);
	}
	text_add(out, "\n");
}

/* Inside of JSON strings \u00XX says the same. A line that is no JSON becomes a comment. */
void fixture_print_meta_line(const char *line, size_t n, struct text *out)
{
	char *copy = xstrndup(line, n);
	struct json *json = json_parse(line, n);

	if (!json || *line != '{')
		text_add(out, "# malformed: ");
	json_free(json);

	for (const char *s = copy; *s;) {
		uint32_t code;
		size_t length = text_utf8(s, &code);

		if (length == 0)
			text_printf(out, "\\u%04x", (unsigned char)*s);
		else if (is_control(code))
			text_printf(out, "\\u%04x", code);
		else
			text_addn(out, s, length);
		s += length ? length : 1;
	}
	text_add(out, "\n");
	free(copy);
}
