/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Names from outside may contain newlines; an error stays one line. */
static void one_line(char *s)
{
	for (; *s; s++)
		if (*s == '\n' || *s == '\r')
			*s = ' ';
}

#define HINT_MARK '\001'

/*
 * Puts a mark in place of the blank before the format's hint, so that a "; " of an argument is not
 * taken for the beginning of the hint.
 */
static const char *mark_hint(char *buf, size_t n, const char *fmt)
{
	char *hint = NULL;

	if (strlen(fmt) >= n)
		return fmt;
	strcpy(buf, fmt);
	for (char *s = buf; (s = strstr(s, "; ")); s++)
		hint = s + 1;
	if (hint)
		*hint = HINT_MARK;
	return buf;
}

/*
 * Finds the hint behind the last mark of the text that follows a ";". A name from outside may
 * contain marks, too, even as its first byte.
 */
static void find_hint(struct err *err, const char *fmt)
{
	const char *whole = strcmp(fmt, "%s") ? "" : err->text;

	err->hint = 0;
	for (char *s = err->text; (s = strchr(s, HINT_MARK)); s++) {
		if (s == err->text || s[-1] != ';')
			continue;
		*s = ' ';
		err->hint = (unsigned)(s + 1 - err->text);
	}
	for (; (whole = strstr(whole, "; ")); whole++)
		err->hint = (unsigned)(whole + 2 - err->text);
}

int err_vset(struct err *err, int code, const char *fmt, va_list ap)
{
	char marked[sizeof(err->text)];

	if (!err)
		return code;
	err->code = code;
	fmt = mark_hint(marked, sizeof(marked), fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	find_hint(err, fmt);
	one_line(err->text);
	return code;
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int err_take(struct err *err, const struct err *from)
{
	if (err)
		*err = *from;
	return from->code;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;
	int n;

	if (!err)
		return 0;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n >= 0 && n + 2 < (int)sizeof(text)) {
		snprintf(text + n, sizeof(text) - n, ": %.*s", (int)sizeof(text) - n - 3,
			 err->text);
		err->hint += err->hint ? (unsigned)n + 2 : 0;
	}
	memcpy(err->text, text, sizeof(text));
	if (err->hint >= strlen(err->text))
		err->hint = 0;
	one_line(err->text);
	return err->code;
}
