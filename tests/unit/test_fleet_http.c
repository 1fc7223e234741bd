/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server that takes a request and never answers holds up no end. */
#include "unit.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analysis/fleet/clickhouse/http.h"
#include "base/err.h"
#include "base/mem.h"

#define TIMEOUT_NS 120000000000ull

/* The kernel takes what is sent to it, and nobody answers. */
static int deaf_server(char **url)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, n), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	*url = xasprintf("http://127.0.0.1:%u/", ntohs(a.sin_port));
	return fd;
}

static void who_is_told_to_end_does_not_wait(void **state)
{
	const bool ended = true;
	const struct fleet_http_options o = { .ended = &ended };
	struct fleet_http_answer a = { 0 };
	struct fleet_http *http;
	struct err err = { 0 };
	char *url;
	int fd;

	if (!dlopen("libcurl.so.4", RTLD_NOW)) {
		assert_int_equal(fleet_http_open(&http, &o, &err), -ENOSYS);
		skip();
	}
	assert_int_equal(fleet_http_open(&http, &o, &err), 0);
	fd = deaf_server(&url);
	fleet_http_post(http, url, "x", 1, TIMEOUT_NS, &a);
	assert_true(a.told);
	assert_int_equal(a.status, 0);
	text_addn(&a.body, "", 1);
	assert_null(strstr(a.body.s, "timed out"));
	text_release(&a.body);
	fleet_http_close(http);
	close(fd);
	free(url);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_told_to_end_does_not_wait),
	};

	return unit_run(tests);
}
