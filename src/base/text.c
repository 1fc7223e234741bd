/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void reserve(struct text *t, size_t more)
{
	size_t want = t->n + more + 1;

	if (want <= t->room)
		return;
	t->room = want < 2 * t->room ? 2 * t->room : want < 64 ? 64 : want;
	t->s = xrealloc(t->s, t->room);
}

void text_addn(struct text *t, const char *s, size_t n)
{
	reserve(t, n);
	if (n)
		memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

void text_add(struct text *t, const char *s)
{
	text_addn(t, s, strlen(s));
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	reserve(t, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(t->s + t->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->n += (size_t)n;
}

void text_release(struct text *t)
{
	free(t->s);
	*t = (struct text){ 0 };
}

void text_shell_word(struct text *t, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*word && !word[strspn(word, plain)]) {
		text_add(t, word);
		return;
	}
	text_add(t, "'");
	for (; *word; word++)
		if (*word == '\'')
			text_add(t, "'\\''");
		else
			text_addn(t, word, 1);
	text_add(t, "'");
}

const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

size_t text_utf8(const char *s, uint32_t *code)
{
	const unsigned char *u = (const unsigned char *)s;
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = u[0] < 0x80 ? 1 : u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
	uint32_t c = n == 1 ? u[0] : u[0] & (0xffu >> (n + 1));

	if ((u[0] >= 0x80 && u[0] < 0xc2) || u[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80) /* the NUL at the end as well */
			return 0;
		c = c << 6 | (u[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*code = c;
	return n;
}

/* C0, DEL, C1, line separators, and what turns the direction of writing round. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

char *text_printable(char *buf, size_t n, const char *s)
{
	size_t used = 0, len;
	uint32_t c;

	if (!n)
		return buf;
	while (*s) {
		const char *from = s;

		len = text_utf8(s, &c);
		s += len ? len : 1;
		if (!len || is_control(c)) {
			from = "?";
			len = 1;
		}
		if (used + len >= n)
			break;
		memcpy(buf + used, from, len);
		used += len;
	}
	buf[used] = '\0';
	return buf;
}

char *text_printable_new(const char *s)
{
	size_t n = strlen(s) + 1;

	return text_printable(xmalloc(n), n, s);
}

/* The character after the one at s; at the end, s. */
static const char *next_character(const char *s)
{
	if (*s)
		s++;
	while ((*s & 0xc0) == 0x80)
		s++;
	return s;
}

static size_t columns_of(const char *s)
{
	size_t n = 0;

	for (; *s; s = next_character(s))
		n++;
	return n;
}

char *text_shortened(char *buf, size_t n, const char *s, size_t columns)
{
	size_t tail = (columns - 2) / 2, head = columns - 2 - tail, have;
	char *safe = text_printable_new(s);
	const char *end = safe, *rest = safe;

	have = columns_of(safe);
	for (size_t i = 0; i < head; i++)
		end = next_character(end);
	for (size_t i = 0; i + tail < have; i++)
		rest = next_character(rest);
	if (have <= columns)
		text_printable(buf, n, safe);
	else
		snprintf(buf, n, "%.*s..%s", (int)(end - safe), safe, rest);
	free(safe);
	return buf;
}

/* Edits between prefixes, one row per character of a; before[] is the row two above, for swaps. */
static unsigned distance_rows(const char *a, size_t na, const char *b, size_t nb, unsigned max,
			      unsigned *rows)
{
	unsigned *before = rows, *above = rows + nb + 1, *row = rows + 2 * (nb + 1), *spare;

	for (size_t j = 0; j <= nb; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned least = row[0] = (unsigned)i;

		for (size_t j = 1; j <= nb; j++) {
			unsigned d = above[j - 1] + (a[i - 1] != b[j - 1]);

			if (above[j] + 1 < d)
				d = above[j] + 1;
			if (row[j - 1] + 1 < d)
				d = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < d)
				d = before[j - 2] + 1;
			row[j] = d;
			if (d < least)
				least = d;
		}
		if (least > max)
			return max + 1;
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[nb] > max ? max + 1 : above[nb];
}

unsigned text_distance(const char *a, const char *b, unsigned max)
{
	size_t na = strlen(a), nb = strlen(b);
	unsigned on_stack[3 * 128], *rows = on_stack, d;

	if (na > nb + max || nb > na + max)
		return max + 1;
	if (nb + 1 > 128)
		rows = xmalloc(3 * (nb + 1) * sizeof(*rows));
	d = distance_rows(a, na, b, nb, max, rows);
	if (rows != on_stack)
		free(rows);
	return d;
}

bool text_locale_is_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value = NULL;

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables) && !(value && *value); i++)
		value = getenv(variables[i]);
	return value && (strcasestr(value, "utf-8") || strcasestr(value, "utf8"));
}

char *text_share(char *buf, double share)
{
	if (share > 0 && share < 0.0005)
		snprintf(buf, TEXT_NUMBER, "<0.1%%");
	else
		snprintf(buf, TEXT_NUMBER, share >= 0.0995 || share == 0 ? "%.0f%%" : "%.1f%%",
			 100 * share);
	return buf;
}
