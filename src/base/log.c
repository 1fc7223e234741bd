/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

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
static void write_message(const char *fmt, va_list ap)
{
	char problem[1024], hint[1024], lines[2048 + 32];
	struct err message = { 0 };

	err_vset(&message, -1, fmt, ap);
	if (message.hint)
		message.text[message.hint - 2] = '\0';
	text_printable(problem, sizeof(problem), message.text);
	text_printable(hint, sizeof(hint), message.hint ? message.text + message.hint : "");
	snprintf(lines, sizeof(lines), "ispot: %s\n%s%s%s", problem, *hint ? "hint: " : "", hint,
		 *hint ? "\n" : "");
	progress_hide();
	fputs(lines, stderr);
}

void log_notice(const char *fmt, ...)
{
	va_list ap;

	if (current < LOG_NOTICE)
		return;
	va_start(ap, fmt);
	write_message(fmt, ap);
	va_end(ap);
}

void log_failure(const char *what, const struct err *why)
{
	struct err whole = *why;

	err_prefix(&whole, "%s", what);
	log_notice("%s", whole.text);
}

void log_detail(const char *fmt, ...)
{
	va_list ap;

	if (current < LOG_DETAIL)
		return;
	va_start(ap, fmt);
	write_message(fmt, ap);
	va_end(ap);
}
