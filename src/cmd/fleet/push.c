/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/fleet/clickhouse/database.h"
#include "analysis/fleet/clickhouse/engine.h"
#include "analysis/fleet/clickhouse/push.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "cmd/fleet/files.h"
#include "cmd/fleet/internal.h"
#include "cmd/fleet/sending.h"
#include "trace/fleet/block.h"
#include "trace/fleet/file.h"

struct push {
	struct fleet_sending sending;
	struct fleet_files files;
};

static int begin_file(void *ctx, const struct fleet_header *h, struct err *err)
{
	struct push *p = ctx;

	return fleet_sending_begin(&p->sending, h, err);
}

static bool is_known(void *ctx, uint64_t recording, uint64_t sequence)
{
	const struct push *p = ctx;

	(void)recording; /* the one that was begun */
	return fleet_engine_has(p->sending.engine, sequence);
}

static int add_block(void *ctx, const struct fleet_header *h, const struct fleet_block *b,
		     struct err *err)
{
	struct push *p = ctx;

	return fleet_sending_block(&p->sending, h, b, err);
}

/* Counts the samples that are sent: the servers get only one of several indicators. */
static uint64_t count_selected(void *ctx, const struct fleet_block *b)
{
	const struct push *p = ctx;

	return fleet_block_count(b, p->sending.number);
}

/* Refuses a database whose first indicator is another than the wanted one. Only rows of the first
 * one can be sent from a database. */
static int check_indicator(const struct push *p, struct fleet_store *store, const char *path,
			   struct err *err)
{
	const char *name = p->sending.indicator;
	struct fleet_store_totals totals;
	struct fleet_store_meta meta;
	int rc = name ? fleet_store_meta(store, &meta, &totals, err) : 0;

	if (rc || !name || !strcmp(name, meta.indicator))
		return rc;
	return err_set(err, -EINVAL,
		       "%s: of a database only its first indicator, %s, can be pushed; push the "
		       "files of it",
		       path, meta.indicator);
}

/* Sends the database. If the user has not chosen whose trios are kept, the database's choice
 * applies. */
static int add_database(void *ctx, const char *path, struct fleet_files *f, struct err *err)
{
	struct push *p = ctx;
	struct fleet_store_merged counted;
	struct fleet_store *store;
	int rc;

	if (fleet_store_open(&store, path, false, err))
		return 1;
	rc = check_indicator(p, store, path, err);
	if (rc) {
		fleet_store_close(store);
		return rc;
	}
	rc = p->sending.args->trios.n ? fleet_sending_trios(&p->sending, err) : 0;
	rc = rc ? rc : fleet_engine_add_store(p->sending.engine, store, &counted, err);
	fleet_store_close(store);
	if (rc) {
		err_prefix(err, "%s", path);
		return rc == -EEXIST ? 1 : rc;
	}
	f->blocks += counted.blocks;
	f->samples += counted.samples;
	f->known_blocks += counted.known_blocks;
	return 0;
}

static const struct fleet_sink into_engine = { begin_file, is_known, add_block, add_database,
					       count_selected };

static void report_done(const struct push *p, uint64_t wall_ns)
{
	char samples[TEXT_COUNTED], blocks[TEXT_COUNTED], rows[TEXT_COUNTED], inserts[TEXT_COUNTED];
	char time[TEXT_NUMBER], bytes[TEXT_NUMBER];
	struct fleet_engine_sent sent = fleet_engine_sent(p->sending.engine);

	printf("%s in %s are new: %s (%s) in %s, %s\n",
	       text_counted(samples, p->files.samples, "sample"),
	       text_counted(blocks, p->files.blocks, "block"), text_counted(rows, sent.rows, "row"),
	       text_bytes(bytes, sent.bytes), text_counted(inserts, sent.inserts, "insert"),
	       text_time(time, wall_ns));
	if (p->files.known_blocks)
		printf("%s had been pushed before and count once\n",
		       text_counted(blocks, p->files.known_blocks, "block"));
	if (sent.retries)
		printf("%" PRIu64 " request%s had to be made again\n", sent.retries,
		       sent.retries == 1 ? "" : "s");
}

/* Sends the files. files: open ones, of which bad ones are only reported; NULL: the paths are
 * opened. */
static int push(const struct fleet_args *a, char **paths, const struct fleet_given *files,
		struct err *err)
{
	struct push p = { 0 };
	uint64_t begin_ns = clock_now_ns();
	int rc = fleet_sending_open(&p.sending, a, a->engine, NULL, err);

	p.sending.indicator = a->indicators.n ? a->indicators.data[0] : NULL;
	if (files) {
		p.files.opened = files->opened;
		p.files.ends = files->ends;
	}
	rc = rc ? rc : fleet_files_read(&p.files, paths, "pushing", &into_engine, &p, err);
	rc = rc ? rc : fleet_sending_flush(&p.sending, err);
	if (!rc)
		report_done(&p, clock_now_ns() - begin_ns);
	if (!rc && !files)
		rc = fleet_files_refused(&p.files, err);
	fleet_files_release(&p.files);
	fleet_sending_close(&p.sending);
	return rc;
}

int fleet_push_files(const struct fleet_args *a, const struct fleet_given *files, struct err *err)
{
	return push(a, files->paths, files, err);
}

int fleet_push(const struct fleet_args *a, char **words, struct err *err)
{
	if (!*words || !a->engine || !a->bucket_ns)
		return args_refuse(
			err,
			"push reads files of samples, or databases, and writes to servers; name "
			"files, --engine, and a --bucket above 0");
	if (a->indicators.n > 1)
		return args_refuse(err, "--indicator: servers have one in a database; push each "
					"into a database of its own");
	return push(a, words, NULL, err);
}
