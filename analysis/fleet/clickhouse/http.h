/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests over HTTP. No other module includes curl's headers. libcurl is loaded for the first
 * request, because no other command needs it and it depends on many libraries. Certificates are
 * verified; redirections are not followed.
 */
#ifndef ISPOT_ANALYSIS_FLEET_CLICKHOUSE_HTTP_H
#define ISPOT_ANALYSIS_FLEET_CLICKHOUSE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct err;
struct fleet_http;

/* All strings are borrowed. */
struct fleet_http_options {
	const char *user, *password; /* NULL: none */
	const char *ca_file;	     /* NULL: the system's certificates */
	bool tls;
	const bool *ended; /* set when a handled signal asks ispot to end; NULL: only pending
			    * signals do */
};

#define FLEET_HTTP_ANSWER_MAX (256u << 20) /* bytes; longer answers are refused */

/* The answer to a request. */
struct fleet_http_answer {
	long status; /* HTTP status; 0: no answer, and body has the reason */
	bool final;  /* a repeated request would fail, too, such as with an untrusted certificate */
	bool told;   /* a signal asks ispot to end, so the request must not be repeated */
	struct text body;
};

/* Opens a connection that is kept open. Returns -ENOSYS if there is no libcurl, or ispot was built
 * without it. */
int fleet_http_open(struct fleet_http **http, const struct fleet_http_options *o, struct err *err);
void fleet_http_close(struct fleet_http *http); /* NULL: nothing */

/* Sends a POST request. Clears answer first; the caller releases it. Once a signal asks ispot to
 * end, requests over the connection have only some seconds. */
void fleet_http_post(struct fleet_http *http, const char *url, const void *body, size_t n,
		     uint64_t timeout_ns, struct fleet_http_answer *answer);

/* Appends s, escaped for a URL. */
void fleet_http_escape(struct text *out, const char *s);

#endif
