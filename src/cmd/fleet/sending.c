/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/fleet/sending.h"

#include <errno.h>

#include "analysis/fleet/clickhouse/engine.h"
#include "analysis/fleet/clickhouse/push.h"
#include "analysis/fleet/rows.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/err.h"
#include "base/log.h"
#include "cmd/fleet/internal.h"
#include "trace/fleet/file.h"

int fleet_sending_open(struct fleet_sending *s, const struct fleet_args *a, const char *url,
		       const bool *ended, struct err *err)
{
	const struct fleet_engine_options o = { url, a->credentials, a->ca_file, a->retry_ns,
						ended };
	int rc;

	*s = (struct fleet_sending){ .args = a };
	rc = fleet_engine_open(&s->engine, &o, err);
	return rc ? rc : fleet_engine_make(s->engine, err);
}

int fleet_sending_trios(struct fleet_sending *s, struct err *err)
{
	struct strtab asked = { 0 };
	int rc;

	if (s->chosen)
		return 0;
	vec_for_each (&s->args->trios, const char *const, name)
		strtab_add(&asked, *name);
	rc = fleet_engine_trios(s->engine, &asked, &s->trios, err);
	s->chosen = !rc;
	strtab_release(&asked);
	return rc;
}

/* Reports once that only the first of several indicators is sent, if the user has not chosen one.
 */
static void report_indicator(struct fleet_sending *s, const struct fleet_header *h)
{
	if (!s->said && !s->indicator && h->n_more)
		log_notice("only %s is sent: a server's database has one indicator; choose with "
			   "push --indicator",
			   h->indicator);
	s->said |= h->n_more;
}

int fleet_sending_begin(struct fleet_sending *s, const struct fleet_header *h, struct err *err)
{
	const char *name = s->indicator;
	uint32_t number = name ? fleet_header_find(h, name) : 0;
	struct fleet_store_meta meta;
	int rc = fleet_sending_trios(s, err);

	if (number == UINT32_MAX)
		return err_set(
			err, -ENODATA,
			"a file of %s has no indicator %s; leave --indicator out for %s, or name "
			"another",
			h->machine, name, h->indicator);
	report_indicator(s, h);
	s->number = number;
	for (uint32_t i = 0; i < FLEET_INDICATORS; i++)
		s->indicators[i] = i == number ? 0 : FLEET_LEFT_OUT;
	fleet_store_meta_of(h, number, s->args->bucket_ns, &meta);
	return rc ? rc : fleet_engine_begin(s->engine, h, &meta, err);
}

int fleet_sending_block(struct fleet_sending *s, const struct fleet_header *h,
			const struct fleet_block *b, struct err *err)
{
	const struct fleet_rows_options o = { s->args->bucket_ns, &s->trios, s->indicators };
	struct fleet_counts counts = { 0 };
	struct fleet_rows rows = { 0 };
	int rc;

	fleet_rows_add(&rows, b, &h->topology, h->type, &o, &counts);
	rc = fleet_engine_add(s->engine, h, b, &rows, &counts, err);
	fleet_rows_release(&rows);
	return rc;
}

int fleet_sending_flush(struct fleet_sending *s, struct err *err)
{
	return fleet_engine_flush(s->engine, err);
}

void fleet_sending_close(struct fleet_sending *s)
{
	strtab_release(&s->trios);
	fleet_engine_close(s->engine);
	*s = (struct fleet_sending){ 0 };
}
