/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/clickhouse/http.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/interrupt.h"
#include "base/mem.h"

void fleet_http_escape(struct text *out, const char *s)
{
	for (; *s; s++)
		if (isalnum((unsigned char)*s))
			text_addn(out, s, 1);
		else
			text_printf(out, "%%%02X", (unsigned)(unsigned char)*s);
}

#if __has_include(<curl/curl.h>)
#include <curl/curl.h>

struct fleet_http {
	void *library;
	CURL *curl;
	struct curl_slist *headers;
	const bool *ended;
	uint64_t told_ns; /* when a signal to end was first seen; 0: not yet */
	char why[CURL_ERROR_SIZE];
	__typeof__(&curl_easy_cleanup) cleanup;
	__typeof__(&curl_easy_setopt) set;
	__typeof__(&curl_easy_perform) perform;
	__typeof__(&curl_easy_getinfo) get;
	__typeof__(&curl_easy_strerror) error;
	__typeof__(&curl_slist_append) append;
	__typeof__(&curl_slist_free_all) free_list;
};

/* curl's headers define macros of these names that check types; ours are function pointers. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

#define CONNECT_MS   5000L
#define LAST_WORD_NS 5000000000ull

/* Appends a part of the answer. Longer answers than FLEET_HTTP_ANSWER_MAX are refused. */
static size_t add_body(char *data, size_t one, size_t n, void *into)
{
	struct text *body = into;

	if (one * n > FLEET_HTTP_ANSWER_MAX - body->n)
		return 0;
	text_addn(body, data, one * n);
	return one * n;
}

static bool is_interrupted(struct fleet_http *h)
{
	if (!h->told_ns && (interrupt_pending() || (h->ended && *h->ended)))
		h->told_ns = clock_now_ns();
	return h->told_ns;
}

/* libcurl calls this several times per second during a request. Aborts the request some time after
 * a signal to end. */
static int go_on(void *http, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent)
{
	struct fleet_http *h = http;

	(void)to_get, (void)got, (void)to_send, (void)sent;
	return is_interrupted(h) && clock_now_ns() - h->told_ns > LAST_WORD_NS;
}

static void set_up(struct fleet_http *h, const struct fleet_http_options *o)
{
	/* Sends the body without waiting for "100 Continue", and not as a form. */
	h->headers =
		h->append(h->append(NULL, "Expect:"), "Content-Type: application/octet-stream");
	h->set(h->curl, CURLOPT_HTTPHEADER, h->headers);
	h->set(h->curl, CURLOPT_ERRORBUFFER, h->why);
	h->set(h->curl, CURLOPT_NOSIGNAL, 1L);
	h->set(h->curl, CURLOPT_POST, 1L);
	h->set(h->curl, CURLOPT_WRITEFUNCTION, add_body);
	h->set(h->curl, CURLOPT_XFERINFOFUNCTION, go_on);
	h->set(h->curl, CURLOPT_XFERINFODATA, h);
	h->set(h->curl, CURLOPT_NOPROGRESS, 0L);
	h->set(h->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	h->set(h->curl, CURLOPT_SSL_VERIFYPEER, 1L);
	h->set(h->curl, CURLOPT_SSL_VERIFYHOST, 2L);
	if (!o->tls) /* a proxy must not see unencrypted data */
		h->set(h->curl, CURLOPT_PROXY, "");
	if (o->ca_file)
		h->set(h->curl, CURLOPT_CAINFO, o->ca_file);
	if (o->user) {
		h->set(h->curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		h->set(h->curl, CURLOPT_USERNAME, o->user);
		h->set(h->curl, CURLOPT_PASSWORD, o->password ? o->password : "");
	}
}

static bool find(struct fleet_http *h)
{
	h->cleanup = dlsym(h->library, "curl_easy_cleanup");
	h->set = dlsym(h->library, "curl_easy_setopt");
	h->perform = dlsym(h->library, "curl_easy_perform");
	h->get = dlsym(h->library, "curl_easy_getinfo");
	h->error = dlsym(h->library, "curl_easy_strerror");
	h->append = dlsym(h->library, "curl_slist_append");
	h->free_list = dlsym(h->library, "curl_slist_free_all");
	return h->cleanup && h->set && h->perform && h->get && h->error && h->append &&
	       h->free_list;
}

int fleet_http_open(struct fleet_http **http, const struct fleet_http_options *o, struct err *err)
{
	struct fleet_http *h = xcalloc(1, sizeof(*h));
	__typeof__(&curl_easy_init) init;

	*http = NULL;
	h->library = dlopen("libcurl.so.4", RTLD_NOW);
	init = h->library && find(h) ? dlsym(h->library, "curl_easy_init") : NULL;
	h->curl = init ? init() : NULL;
	if (!h->curl) {
		fleet_http_close(h);
		return err_set(err, -ENOSYS,
			       "a server is asked through libcurl, which is not here; "
			       "apt-get install libcurl4");
	}
	h->ended = o->ended;
	set_up(h, o);
	*http = h;
	return 0;
}

/* libcurl stays loaded, because it may have registered functions that are called at exit. */
void fleet_http_close(struct fleet_http *h)
{
	if (!h)
		return;
	if (h->curl)
		h->cleanup(h->curl);
	if (h->headers)
		h->free_list(h->headers);
	free(h);
}

/* Whether a repeated request would fail with the same error. */
static bool is_final(CURLcode rc)
{
	return rc == CURLE_PEER_FAILED_VERIFICATION || rc == CURLE_SSL_CACERT_BADFILE ||
	       rc == CURLE_URL_MALFORMAT || rc == CURLE_UNSUPPORTED_PROTOCOL ||
	       rc == CURLE_SSL_ISSUER_ERROR || rc == CURLE_WRITE_ERROR;
}

void fleet_http_post(struct fleet_http *h, const char *url, const void *body, size_t n,
		     uint64_t timeout_ns, struct fleet_http_answer *a)
{
	CURLcode rc;

	a->body.n = 0;
	a->status = 0;
	h->why[0] = '\0';
	h->set(h->curl, CURLOPT_URL, url);
	h->set(h->curl, CURLOPT_POSTFIELDS, n ? body : "");
	h->set(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
	h->set(h->curl, CURLOPT_TIMEOUT_MS, (long)(timeout_ns / 1000000));
	h->set(h->curl, CURLOPT_WRITEDATA, &a->body);
	rc = h->perform(h->curl);
	a->final = is_final(rc);
	a->told = is_interrupted(h);
	if (rc == CURLE_OK) {
		h->get(h->curl, CURLINFO_RESPONSE_CODE, &a->status);
		return;
	}
	a->body.n = 0;
	if (rc == CURLE_WRITE_ERROR)
		text_printf(&a->body, "its answer is longer than %u MiB",
			    FLEET_HTTP_ANSWER_MAX >> 20);
	else
		text_add(&a->body, *h->why ? h->why : h->error(rc));
}

#else

int fleet_http_open(struct fleet_http **http, const struct fleet_http_options *o, struct err *err)
{
	(void)o;
	*http = NULL;
	return err_set(err, -ENOSYS,
		       "this ispot was built without libcurl, through which servers are asked; "
		       "make deps, and make again");
}

void fleet_http_close(struct fleet_http *h)
{
	(void)h;
}

void fleet_http_post(struct fleet_http *h, const char *url, const void *body, size_t n,
		     uint64_t timeout_ns, struct fleet_http_answer *a)
{
	(void)h, (void)url, (void)body, (void)n, (void)timeout_ns;
	a->status = 0;
	a->final = true;
	a->told = false;
}

#endif
