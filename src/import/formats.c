// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/formats.h"

#include <ctype.h>
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define EVENTS_MAX 4096u
#define FIELDS_MAX 256u
#define LINE_MAX   256u
#define NAME_MAX   128u
#define DIGITS_MAX 6u

struct formats {
	struct tep_handle *tep;
	unsigned n_events;
};

/* ---- the tracing data: words that end with NUL, numbers, and files with their length ---- */

struct cursor {
	const char *p, *end;
	bool is_bad;
};

static const char *read_bytes(struct cursor *c, uint64_t n)
{
	const char *at = c->p;

	c->is_bad |= n > (uint64_t)(c->end - c->p);
	if (c->is_bad)
		return NULL;
	c->p += n;
	return at;
}

static uint64_t read_number(struct cursor *c, size_t bytes)
{
	const char *at = read_bytes(c, bytes);
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, bytes); /* little-endian, as is all that ispot reads */
	return v;
}

static const char *read_word(struct cursor *c)
{
	const char *at = c->p, *end = memchr(c->p, '\0', (size_t)(c->end - c->p));

	c->is_bad |= !end;
	if (c->is_bad)
		return "";
	c->p = end + 1;
	return at;
}

static struct cursor read_file(struct cursor *c)
{
	uint64_t n = read_number(c, 8);
	const char *at = read_bytes(c, n);

	return (struct cursor){ .p = at, .end = at ? at + n : NULL };
}

/* ---- an event's format, line by line ---- */

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t word_length(const char *s, const char *end)
{
	const char *p = s;

	while (p < end && is_word_char(*p))
		p++;
	return (size_t)(p - s);
}

/* Returns the length of the next line without its end; the cursor is behind it then. */
static size_t read_line(struct cursor *c, const char **line)
{
	size_t left = (size_t)(c->end - c->p);
	const char *end = memchr(c->p, '\n', left);
	size_t n = end ? (size_t)(end - c->p) : left;

	*line = c->p;
	c->p += n + (end != NULL);
	return n;
}

static bool skip_text(const char **at, const char *end, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(end - *at) < n || memcmp(*at, text, n) != 0)
		return false;
	*at += n;
	return true;
}

static bool skip_digits(const char **at, const char *end)
{
	size_t n = 0;

	while (*at + n < end && isdigit((unsigned char)(*at)[n]))
		n++;
	*at += n;
	return n && n <= DIGITS_MAX;
}

/*
 * "unsigned long next", "const char * name", "char comm[16]", "__data_loc char[] name": words with
 * one blank between them, stars behind the first word, at most one pair of brackets.
 */
static bool is_declaration(const char *s, const char *end)
{
	bool blank = false, in_brackets = false, had_brackets = false;
	size_t words = 1;

	if (s == end || isdigit((unsigned char)*s) || !is_word_char(*s))
		return false;
	for (const char *p = s + 1; p < end; p++) {
		if (*p == ' ' && (blank || in_brackets))
			return false;
		if ((*p == '[' && (had_brackets || blank)) || (*p == ']' && !in_brackets))
			return false;
		if (!is_word_char(*p) && !strchr(" *[]", *p))
			return false;
		if (in_brackets && *p == '*')
			return false;
		words += blank && is_word_char(*p);
		had_brackets |= *p == '[';
		in_brackets = *p == '[' || (in_brackets && *p != ']');
		blank = *p == ' ';
	}
	return words >= 2 && !blank && !in_brackets && end[-1] != '*';
}

/* Whether every part of the line is as the kernel would write it. */
static bool is_field(const char *line, size_t n)
{
	const char *at = line, *end = line + n, *semicolon;

	if (n > LINE_MAX || !skip_text(&at, end, "\tfield:"))
		return false;
	semicolon = memchr(at, ';', (size_t)(end - at));
	if (!semicolon || !is_declaration(at, semicolon))
		return false;
	at = semicolon;
	return skip_text(&at, end, ";\toffset:") && skip_digits(&at, end) &&
	       skip_text(&at, end, ";\tsize:") && skip_digits(&at, end) &&
	       skip_text(&at, end, ";\tsigned:") && skip_digits(&at, end) &&
	       skip_text(&at, end, ";") && at == end;
}

/* The name in "name: f", the number in "ID: 7". */
static bool read_head(struct cursor *c, const char **name, size_t *name_bytes, uint64_t *id)
{
	const char *line, *at;
	size_t n = read_line(c, &line);

	at = line;
	if (!skip_text(&at, line + n, "name: "))
		return false;
	*name = at;
	*name_bytes = (size_t)(line + n - at);
	if (!*name_bytes || *name_bytes > NAME_MAX || word_length(at, line + n) != *name_bytes)
		return false;
	n = read_line(c, &line);
	at = line;
	if (!skip_text(&at, line + n, "ID: ") || !skip_digits(&at, line + n) || at != line + n)
		return false;
	*id = strtoull(line + strlen("ID: "), NULL, 10);
	n = read_line(c, &line);
	return n == strlen("format:") && !memcmp(line, "format:", n);
}

/* The fields that all events have, an empty line, the event's own, an empty line. */
static void copy_fields(struct cursor *c, struct text *out)
{
	unsigned n_fields = 0, n_blank = 0;

	while (c->p < c->end && n_blank < 2) {
		const char *line;
		size_t n = read_line(c, &line);

		if (!n) {
			n_blank++;
			text_add(out, "\n");
		} else if (is_field(line, n) && n_fields++ < FIELDS_MAX) {
			text_addn(out, line, n);
			text_add(out, "\n");
		} else if (line[0] != '\t') {
			break;
		}
	}
	for (; n_blank < 2; n_blank++)
		text_add(out, "\n");
}

static void add_event(struct formats *f, const char *system, struct cursor file,
		      bool (*wanted)(void *ctx, uint64_t id), void *ctx)
{
	struct text text = { 0 };
	const char *name;
	size_t name_bytes;
	uint64_t id;

	if (!file.p || !read_head(&file, &name, &name_bytes, &id) || !wanted(ctx, id) ||
	    f->n_events >= EVENTS_MAX || formats_event(f, id))
		return;
	text_printf(&text, "name: %.*s\nID: %llu\nformat:\n", (int)name_bytes, name,
		    (unsigned long long)id);
	copy_fields(&file, &text);
	text_add(&text, "print fmt: \"\"\n");
	if (!tep_parse_event(f->tep, text.s, text.n, system))
		f->n_events++;
	text_release(&text);
}

static bool is_system(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return n && !s[n] && n <= NAME_MAX;
}

static void read_systems(struct formats *f, struct cursor *c,
			 bool (*wanted)(void *ctx, uint64_t id), void *ctx)
{
	for (uint64_t n = read_number(c, 4); n && !c->is_bad; n--) {
		const char *system = read_word(c);

		for (uint64_t events = read_number(c, 4); events && !c->is_bad; events--) {
			struct cursor file = read_file(c);

			if (is_system(system))
				add_event(f, system, file, wanted, ctx);
		}
	}
}

/*
 * Reads the start: magic, version, byte order, size of a long, size of a page. Skips the two files
 * that describe the rings' pages, which do not matter in a perf.data.
 */
static bool read_start(struct cursor *c, int *long_bytes)
{
	const char *magic = read_bytes(c, 10);
	bool is_ours = magic && !memcmp(magic, "\027\010\104tracing", 10);
	bool big_endian;

	read_word(c);
	big_endian = read_number(c, 1);
	*long_bytes = (int)read_number(c, 1);
	read_number(c, 4);
	if (strcmp(read_word(c), "header_page") != 0)
		return false;
	read_file(c);
	if (strcmp(read_word(c), "header_event") != 0)
		return false;
	read_file(c);
	return is_ours && !c->is_bad && !big_endian && (*long_bytes == 4 || *long_bytes == 8);
}

struct formats *formats_new(const void *tracing_data, size_t n,
			    bool (*wanted)(void *ctx, uint64_t id), void *ctx)
{
	struct cursor c = { .p = tracing_data };
	struct formats *f;
	int long_bytes;

	if (!n || n > FORMATS_BYTES_MAX)
		return NULL;
	c.end = c.p + n;
	if (!read_start(&c, &long_bytes))
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->tep = tep_alloc();
	if (!f->tep)
		mem_exhausted();
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(f->tep, long_bytes);
	tep_set_file_bigendian(f->tep, TEP_LITTLE_ENDIAN);
	for (uint64_t i = read_number(&c, 4); i && !c.is_bad; i--) /* ftrace's own events */
		read_file(&c);
	read_systems(f, &c, wanted, ctx);
	return f;
}

void formats_free(struct formats *f)
{
	if (!f)
		return;
	tep_free(f->tep);
	free(f);
}

/* ---- what is asked ---- */

const struct tep_event *formats_event(const struct formats *f, uint64_t id)
{
	return f && id <= INT32_MAX ? tep_find_event(f->tep, (int)id) : NULL;
}

char *format_event_name(const struct tep_event *event)
{
	return xasprintf("%s:%s", event->system, event->name);
}

static bool is_number(const struct tep_format_field *f)
{
	unsigned long others = TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC;

	return !(f->flags & others) && f->offset >= 0 &&
	       (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

static struct format_field found(const struct tep_format_field *f)
{
	return (struct format_field){ .name = f->name,
				      .type = f->type,
				      .offset = (uint32_t)f->offset,
				      .bytes = (uint32_t)f->size,
				      .is_signed = f->flags & TEP_FIELD_IS_SIGNED };
}

bool format_find(const struct tep_event *event, const char *name, struct format_field *field)
{
	const struct tep_format_field *f = tep_find_any_field((struct tep_event *)event, name);

	if (!f || !is_number(f))
		return false;
	*field = found(f);
	return true;
}

size_t format_numbers(const struct tep_event *event, struct format_field *fields, size_t room)
{
	size_t n = 0;

	for (const struct tep_format_field *f = event->format.fields; f && n < room; f = f->next)
		if (is_number(f))
			fields[n++] = found(f);
	return n;
}

bool format_read(const struct format_field *field, const uint8_t *raw, size_t raw_bytes,
		 uint64_t *value)
{
	unsigned unused = 64 - 8 * field->bytes;
	uint64_t v = 0;

	if (!field->bytes || field->bytes > 8 || raw_bytes < field->bytes ||
	    field->offset > raw_bytes - field->bytes)
		return false;
	memcpy(&v, raw + field->offset, field->bytes);
	*value = field->is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v;
	return true;
}
