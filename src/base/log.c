/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/progress.h"
#include "base/text.h"

static enum log_level current = LOG_NOTICE;

void log_set_level(enum log_level level)
{
	current = level;
}

enum log_level log_get_level(void)
{
	return current;
}

/* Writes problem and hint with one write(2), so that lines of the target and of ispot do not mix.
 */
static void write_message(const struct err *message)
{
	char raw[sizeof(message->text)], problem[sizeof(raw)], hint[sizeof(raw)];
	char lines[2 * sizeof(raw) + 32];

	memcpy(raw, message->text, sizeof(raw));
	if (message->hint)
		raw[message->hint - 2] = '\0';
	text_printable(problem, sizeof(problem), raw);
	text_printable(hint, sizeof(hint), message->hint ? raw + message->hint : "");
	snprintf(lines, sizeof(lines), "ispot: %s\n%s%s%s", problem, *hint ? "hint: " : "", hint,
		 *hint ? "\n" : "");
	progress_hide();
	fputs(lines, stderr);
}

static void write_formatted(enum log_level least, const char *fmt, va_list ap)
{
	struct err message = { 0 };

	if (current < least)
		return;
	err_vset(&message, -1, fmt, ap);
	write_message(&message);
}

void log_notice(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_formatted(LOG_NOTICE, fmt, ap);
	va_end(ap);
}

void log_detail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_formatted(LOG_DETAIL, fmt, ap);
	va_end(ap);
}

void log_line(const char *line)
{
	struct err message = { 0 };

	if (current < LOG_NOTICE)
		return;
	snprintf(message.text, sizeof(message.text), "%s", line);
	write_message(&message);
}

void log_err(const struct err *err)
{
	if (current >= LOG_NOTICE)
		write_message(err);
}

void log_failure(const char *what, const struct err *why)
{
	struct err whole = *why;

	err_prefix(&whole, "%s", what);
	log_err(&whole);
}
