/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/name.h"
#include "base/text.h"
#include "report/table/table.h"

#define CUT_MIN	 12 /* names are not cut shorter; the next line has them instead */
#define OWN_LINE 8  /* columns before a cell that the next line has */

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

static void add_padded(struct table *t, const char *s, unsigned width, bool right)
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
	add_padded(t, s, width, true);
}

void table_left(struct table *t, const char *s, unsigned width)
{
	add_padded(t, s, width, false);
}

/* Adds the name of a function that is too long: without parameters, and cut if it must be. */
static void add_brief(struct table *t, const char *s, unsigned room)
{
	size_t n = 4 * (size_t)room + 1;
	char *buf = xmalloc(n);

	text_add(t->out, name_brief(buf, n, s, room));
	free(buf);
}

unsigned table_room(const struct table *t)
{
	return t->width > t->used + 1 ? t->width - t->used - 1 : 0;
}

/* Goes on to the next line, without the blanks that the last cell ended with. */
static unsigned begin_own_line(struct table *t)
{
	while (t->out->n && t->out->s[t->out->n - 1] == ' ')
		t->out->s[--t->out->n] = '\0';
	text_add(t->out, "\n");
	pad(t, OWN_LINE - 1);
	return t->width > OWN_LINE + CUT_MIN ? t->width - OWN_LINE : CUT_MIN;
}

void table_last(struct table *t, const char *s)
{
	unsigned room = table_room(t), columns = table_columns(s);

	if (columns > room && room < CUT_MIN)
		room = begin_own_line(t);
	if (t->used && *s)
		pad(t, 1);
	if (columns <= room)
		text_add(t->out, s);
	else
		add_brief(t, s, room);
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
