/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors. Functions that can fail return 0 or a negative errno; the sentence for the user is
 * written once, where the fact is known, and says what happened and what to do:
 *
 *	return err_set(err, -EACCES, "uprobes need CAP_SYS_ADMIN; run with sudo");
 *
 * Only main.c prints it. Callers pass it on untouched or put context in front with err_prefix().
 */
#ifndef ISPOT_BASE_ERR_H
#define ISPOT_BASE_ERR_H

#include <stdarg.h>

struct err {
	int code;	 /* negative errno, 0: no error */
	int exit_status; /* what ispot exits with; 0: the command's own default */
	unsigned hint;	 /* where in text the hint begins, behind "; "; 0: there is none */
	char text[1024]; /* one line without a newline: "what; what to do" */
};

/*
 * Stores the sentence and returns code (negative errno). The hint is the text behind the last "; "
 * of the format; a "; " of an argument does not count, except if the whole format is "%s". err may
 * be NULL.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

int err_vset(struct err *err, int code, const char *fmt, va_list ap);

/* Copies the sentence and code of another error and returns that code. */
int err_take(struct err *err, const struct err *from);

/* Puts "context: " in front of the stored sentence; returns err->code. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
