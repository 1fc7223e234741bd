/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests over HTTP: the one module that includes curl's headers. libcurl is opened when the first
 * request is made, because no other command needs it and it has many libraries of its own.
 * Certificates are verified, redirections are not followed.
 */
#ifndef ISPOT_ANALYSIS_FLEET_CLICKHOUSE_HTTP_H
#define ISPOT_ANALYSIS_FLEET_CLICKHOUSE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct err;
struct fleet_http;

/* Borrowed. */
struct fleet_http_options {
	const char *user, *password; /* NULL: none */
	const char *ca_file;	     /* NULL: the system's */
	bool tls;
	const bool *ended; /* by a signal that somebody took; NULL: only those that wait tell */
};

#define FLEET_HTTP_ANSWER_MAX (256u << 20) /* bytes: a longer answer is refused */

/* An answer, whatever it says. */
struct fleet_http_answer {
	long status; /* of HTTP; 0: there was none, text says why */
	bool final;  /* and it is of no use to ask again: a certificate that is not trusted */
	bool told;   /* a signal asks ispot to end, so it is not to be asked again */
	struct text body;
};

/* One connection, kept open. -ENOSYS: there is no libcurl, or ispot was built without. */
int fleet_http_open(struct fleet_http **http, const struct fleet_http_options *o, struct err *err);
void fleet_http_close(struct fleet_http *http); /* NULL is fine */

/* POST. answer is emptied first and the caller's to release. From when a signal asks ispot to end,
 * all that goes over a connection has some seconds. */
void fleet_http_post(struct fleet_http *http, const char *url, const void *body, size_t n,
		     uint64_t timeout_ns, struct fleet_http_answer *answer);

/* s in a URL. */
void fleet_http_escape(struct text *out, const char *s);

#endif
