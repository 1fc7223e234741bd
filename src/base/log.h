/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages on stderr while ispot works: notices ("ispot: …", silenced by -q) and details (-v). One
 * process-wide level, set once by main.c. Not for errors: those travel in struct err.
 */
#ifndef ISPOT_BASE_LOG_H
#define ISPOT_BASE_LOG_H

enum log_level { LOG_QUIET, LOG_NOTICE, LOG_DETAIL };

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* Each call prints one line; fmt has no newline. */
void log_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
