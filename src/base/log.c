/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

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

/* Writes the line with one write(2), so that lines of the target and of ispot do not mix. */
static void write_message(const char *fmt, va_list ap)
{
	char raw[1024], clean[1024], line[1024 + 16];

	vsnprintf(raw, sizeof(raw), fmt, ap);
	text_printable(clean, sizeof(clean), raw);
	snprintf(line, sizeof(line), "ispot: %s\n", clean);
	progress_hide();
	fputs(line, stderr);
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

void log_detail(const char *fmt, ...)
{
	va_list ap;

	if (current < LOG_DETAIL)
		return;
	va_start(ap, fmt);
	write_message(fmt, ap);
	va_end(ap);
}
