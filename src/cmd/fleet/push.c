/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/fleet/clickhouse/database.h"
#include "analysis/fleet/clickhouse/engine.h"
#include "analysis/fleet/clickhouse/push.h"
#include "analysis/fleet/rows.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "cmd/fleet/files.h"
#include "cmd/fleet/internal.h"
#include "trace/fleet/block.h"
#include "trace/fleet/file.h"

struct push {
	const struct fleet_args *args;
	struct fleet_engine *engine;
	struct strtab trios; /* of which applications */
	bool chosen;	     /* they are known */
	struct fleet_files files;
};

static int choose_trios(struct push *p, struct err *err)
{
	struct strtab asked = { 0 };
	int rc;

	if (p->chosen)
		return 0;
	vec_for_each (&p->args->trios, const char *const, name)
		strtab_add(&asked, *name);
	rc = fleet_engine_trios(p->engine, &asked, &p->trios, err);
	p->chosen = !rc;
	strtab_release(&asked);
	return rc;
}

static int begin_file(void *ctx, const struct fleet_header *h, struct err *err)
{
	struct push *p = ctx;
	struct fleet_store_meta meta;
	int rc = choose_trios(p, err);

	fleet_store_meta_of(h, p->args->bucket_ns, &meta);
	return rc ? rc : fleet_engine_begin(p->engine, h, &meta, err);
}

static bool is_known(void *ctx, uint64_t recording, uint64_t sequence)
{
	const struct push *p = ctx;

	(void)recording; /* the one that was begun */
	return fleet_engine_has(p->engine, sequence);
}

static int add_block(void *ctx, const struct fleet_header *h, const struct fleet_block *b,
		     struct err *err)
{
	struct push *p = ctx;
	const struct fleet_rows_options o = { p->args->bucket_ns, &p->trios };
	struct fleet_rows rows = { 0 };
	uint64_t alone = fleet_rows_add(&rows, b, &h->topology, h->type, &o);
	int rc = fleet_engine_add(p->engine, h, b, &rows, alone, err);

	fleet_rows_release(&rows);
	return rc;
}

/* Whose trios are kept follows from what it has, unless it was said. */
static int add_database(void *ctx, const char *path, struct fleet_files *f, struct err *err)
{
	struct push *p = ctx;
	struct fleet_store_merged counted;
	struct fleet_store *store;
	int rc;

	if (fleet_store_open(&store, path, false, err))
		return 1;
	rc = p->args->trios.n ? choose_trios(p, err) : 0;
	rc = rc ? rc : fleet_engine_add_store(p->engine, store, &counted, err);
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

static const struct fleet_sink into_engine = { begin_file, is_known, add_block, add_database };

static void say_done(const struct push *p, uint64_t wall_ns)
{
	char samples[TEXT_COUNTED], blocks[TEXT_COUNTED], rows[TEXT_COUNTED], inserts[TEXT_COUNTED];
	char time[TEXT_NUMBER], bytes[TEXT_NUMBER];
	struct fleet_engine_sent sent = fleet_engine_sent(p->engine);

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

static int push_all(struct push *p, char **words, struct err *err)
{
	int rc = fleet_engine_make(p->engine, err);

	rc = rc ? rc : fleet_files_read(&p->files, words, "pushing", &into_engine, p, err);
	return rc ? rc : fleet_engine_flush(p->engine, err);
}

int fleet_push(const struct fleet_args *a, char **words, struct err *err)
{
	const struct fleet_engine_options o = { a->engine, a->credentials, a->ca_file,
						a->retry_ns };
	struct push p = { .args = a };
	uint64_t begin_ns = clock_now_ns();
	int rc;

	if (!*words || !a->engine || !a->bucket_ns)
		return args_refuse(
			err,
			"push reads files of samples, or databases, and writes to servers; name "
			"files, --engine, and a --bucket above 0");
	rc = fleet_engine_open(&p.engine, &o, err);
	rc = rc ? rc : push_all(&p, words, err);
	if (!rc)
		say_done(&p, clock_now_ns() - begin_ns);
	rc = rc ? rc : fleet_files_refused(&p.files, err);
	strtab_release(&p.trios);
	fleet_files_release(&p.files);
	fleet_engine_close(p.engine);
	return rc;
}
