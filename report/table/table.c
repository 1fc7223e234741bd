/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/table/table.h"

#define CUT_MIN 12 /* names are not cut shorter; the line gets longer instead */

unsigned table_columns(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static void pad(struct table *t, unsigned n)
{
	while (n--)
		text_add(t->out, " ");
}

static void put(struct table *t, const char *s, unsigned width, bool right)
{
	unsigned n = table_columns(s);
	unsigned rest = n < width ? width - n : 0;

	if (t->used)
		pad(t, 1);
	if (right)
		pad(t, rest);
	text_add(t->out, s);
	if (!right)
		pad(t, rest);
	t->used += n + rest + (t->used ? 1 : 0);
}

void table_right(struct table *t, const char *s, unsigned width)
{
	put(t, s, width, true);
}

void table_left(struct table *t, const char *s, unsigned width)
{
	put(t, s, width, false);
}

/* Cuts the name in the middle, because names of one program often begin alike. */
static void add_cut(struct table *t, const char *s, unsigned room)
{
	size_t n = 4 * (size_t)room + 1;
	char *buf = xmalloc(n);

	text_add(t->out, text_shortened(buf, n, s, room));
	free(buf);
}

/*
 * Returns the part of a name after its parameters: " in g(int)" of "f(int) const in g(int)", the
 * name of a blocking stack, or the bracket of "[f(int)]".
 */
static const char *behind_parameters(const char *s)
{
	const char *next = strstr(s, " in "), *end = s + strlen(s);

	return next ? next : end[-1] == ']' ? end - 1 : end;
}

/* Returns the bracket that closes the one at s, or the end. */
static const char *closing(const char *s)
{
	unsigned depth = 0;

	for (; *s; s++) {
		if (*s == '<')
			depth++;
		if (*s == '>' && s[-1] != '-' && !--depth)
			break;
	}
	return s;
}

/* Returns the end of the type in "<Type as Trait>", whose closing bracket is known. */
static const char *end_of_type(const char *s, const char *close)
{
	for (; s < close; s++) {
		if (!strncmp(s, " as ", 4))
			return s;
		if (*s == '<')
			s = closing(s);
	}
	return close;
}

/*
 * Where a name begins with a bracket, as "<Type>::function" and "<Type as Trait>::function" of Rust
 * do, the type is its path, and is no parameter.
 */
static bool begins_path(const char *s, const struct text *name)
{
	return *s == '<' && (!name->n || strchr(" [", name->s[name->n - 1]));
}

static void add_short_name(const char *s, const char *end, struct text *name)
{
	for (; s < end; s++) {
		const char *close = *s == '<' ? closing(s) : NULL;

		if (*s == '(' && name->n && strncmp(s, "(anonymous", 10))
			s = behind_parameters(s);
		if (s >= end)
			break;
		if (close && *close && begins_path(s, name)) {
			add_short_name(s + 1, end_of_type(s + 1, close), name);
			s = close;
			continue;
		}
		text_addn(name, s, 1);
		if (close && !strstr(name->s, "operator<")) {
			text_add(name, *close ? ">" : "");
			s = *close ? close : end;
		}
	}
}

void table_short_name(const char *s, struct text *name)
{
	add_short_name(s, s + strlen(s), name);
}

/* Adds the name without parameters, cut only if it is still too long. */
static void add_short(struct table *t, const char *s, unsigned room)
{
	struct text name = { 0 };

	table_short_name(s, &name);
	if (table_columns(name.s) <= room)
		text_add(t->out, name.s);
	else
		add_cut(t, name.s, room);
	text_release(&name);
}

unsigned table_room(const struct table *t)
{
	unsigned room = t->width > t->used + 1 ? t->width - t->used - 1 : 0;

	return room < CUT_MIN ? CUT_MIN : room;
}

void table_last(struct table *t, const char *s)
{
	unsigned room = table_room(t);

	if (t->used && *s)
		pad(t, 1);
	if (table_columns(s) <= room)
		text_add(t->out, s);
	else
		add_short(t, s, room);
	table_style(t, TABLE_PLAIN);
	text_add(t->out, "\n");
	t->used = 0;
}

void table_style(struct table *t, enum table_style style)
{
	static const char *const codes[] = { "\033[0m", "\033[1m", "\033[31m", "\033[2m" };

	if (t->colours)
		text_add(t->out, codes[style]);
}
