/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages on stderr while ispot works: notices ("ispot: …", silenced by -q) and details (-v). One
 * process-wide level, set once by main.c. Not for errors: those travel in struct err.
 */
#ifndef ISPOT_BASE_LOG_H
#define ISPOT_BASE_LOG_H

struct err;

enum log_level { LOG_QUIET, LOG_NOTICE, LOG_DETAIL };

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/*
 * Each call prints one line, and a second one, "hint: what to do", if fmt has it behind its last
 * "; " (err_set() in base/err.h).
 */
void log_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same of a whole line, whatever is in it: names from outside may contain "; ". */
void log_line(const char *line);
/* A notice of an error that ends nothing, and its hint. */
void log_err(const struct err *err);
/* A notice that something does without what failed: "what: why", and the hint of the error. */
void log_failure(const char *what, const struct err *why);
void log_detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
