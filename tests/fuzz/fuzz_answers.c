// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Any bytes as what a ClickHouse server answers, one part of them after the other. This file stands
 * in for http.c: it asks nobody.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/clickhouse/engine.h"
#include "analysis/fleet/clickhouse/http.h"
#include "analysis/fleet/clickhouse/load.h"
#include "analysis/fleet/phases.h"
#include "analysis/fleet/rows.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/err.h"
#include "given.h"

static const uint8_t *left;
static size_t n_left;

struct fleet_http {
	int unused;
};

int fleet_http_open(struct fleet_http **http, const struct fleet_http_options *o, struct err *err)
{
	(void)o;
	(void)err;
	*http = calloc(1, sizeof(**http));
	return 0;
}

void fleet_http_close(struct fleet_http *http)
{
	free(http);
}

void fleet_http_escape(struct text *out, const char *s)
{
	text_add(out, s);
}

/* Two bytes of length, then the answer. */
void fleet_http_post(struct fleet_http *http, const char *url, const void *body, size_t n,
		     uint64_t timeout_ns, struct fleet_http_answer *answer)
{
	uint16_t length = 0;

	(void)http;
	(void)url;
	(void)body;
	(void)n;
	(void)timeout_ns;
	text_release(&answer->body);
	answer->status = 200;
	answer->final = true;
	if (n_left < sizeof(length))
		return;
	memcpy(&length, left, sizeof(length));
	left += sizeof(length);
	n_left -= sizeof(length);
	if (length > n_left)
		length = (uint16_t)n_left;
	text_addn(&answer->body, (const char *)left, length);
	left += length;
	n_left -= length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fleet_engine_options o = { .url = "clickhouse://127.0.0.1:1/fuzz" };
	struct fleet_store_totals totals = { 0 };
	struct fleet_store_meta meta;
	struct fleet_rows rows = { 0 };
	struct fleet_phases phases = { .day = 24, .length = 6, .n = 4 };
	struct fleet_engine *e = NULL;
	struct err err = { 0 };
	unsigned others = 0;

	left = data;
	n_left = size;
	if (fleet_engine_open(&e, &o, &err))
		abort();
	fleet_engine_meta(e, &meta, &totals, &err);
	fleet_engine_load(e, NULL, &phases, &rows, &others, &err);
	fleet_rows_release(&rows);
	fleet_engine_close(e);
	return 0;
}
