/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/table/wrap.h"

#include <string.h>

#include "base/text.h"

/* Returns the bytes of a word. A number and its percent sign are one word. */
static size_t word_bytes(const char *s)
{
	size_t n = strcspn(s, " ");

	return strncmp(s + n, " %", 2) != 0 ? n : n + 1 + strcspn(s + n + 1, " ");
}

/* Returns the columns of a UTF-8 text, counting one for each character. */
static size_t columns(const char *s, size_t n)
{
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += ((unsigned char)s[i] & 0xc0) != 0x80;
	return all;
}

void text_wrap(const char *s, unsigned width, struct text *out)
{
	size_t line = 0;

	while (*s) {
		size_t n = word_bytes(s), wide = columns(s, n);

		if (line && line + 1 + wide > width) {
			text_add(out, "\n");
			line = 0;
		} else if (line) {
			text_add(out, " ");
			line++;
		}
		text_addn(out, s, n);
		line += wide;
		s += n;
		s += strspn(s, " ");
	}
	text_add(out, "\n");
}

unsigned text_widest_word(const char *s)
{
	unsigned most = 0;

	while (*s) {
		unsigned wide = 0;

		for (; *s && *s != ' '; s++)
			wide += (*s & 0xc0) != 0x80;
		s += strspn(s, " ");
		most = wide > most ? wide : most;
	}
	return most;
}
