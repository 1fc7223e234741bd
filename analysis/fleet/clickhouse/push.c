/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/clickhouse/push.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/clickhouse/internal.h"
#include "analysis/fleet/rows.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/fleet/block.h"
#include "trace/fleet/file.h"
#include "trace/varint.h"

/* A batch is smaller than the blocks that a server splits inserts into (1048576 rows), so it is
 * inserted wholly or not at all. */
#define BATCH_ROWS  250000
#define BATCH_BYTES (16u << 20)

/* The columns that follow the names of both co-runners, or of one co-runner and the class. */
#define SUMS                                                                        \
	" type String, bucket UInt64, n UInt64, sum UInt64, squares Array(UInt32)," \
	" blocks UInt64, contrast Array(UInt32), buckets Array(UInt16), counts Array(UInt64))"

static const char *const schema[] = {
	"CREATE TABLE IF NOT EXISTS meta(key String, value String) ENGINE = ReplacingMergeTree"
	" ORDER BY (key, value)",
	"CREATE TABLE IF NOT EXISTS rows(recording UInt64, sequence UInt64, base String,"
	" corunner String, class String," SUMS " ENGINE = ReplacingMergeTree"
	" ORDER BY (recording, sequence, base, corunner, class, type, bucket)",
	"CREATE TABLE IF NOT EXISTS trios(recording UInt64, sequence UInt64, base String,"
	" corunner String, second String," SUMS " ENGINE = ReplacingMergeTree"
	" ORDER BY (recording, sequence, base, corunner, second, type, bucket)",
	"CREATE TABLE IF NOT EXISTS crowds(recording UInt64, sequence UInt64, kind String,"
	" number UInt64, type String, bucket UInt64, ns UInt64) ENGINE = ReplacingMergeTree"
	" ORDER BY (recording, sequence, kind, number, type, bucket)",
	"CREATE TABLE IF NOT EXISTS blocks(recording UInt64, sequence UInt64, database UInt64,"
	" machine String, type String, start_ns UInt64, samples UInt64, alone UInt64, rows UInt64,"
	" trios UInt64, crowds UInt64) ENGINE = ReplacingMergeTree"
	" ORDER BY (recording, sequence, database)",
	"CREATE TABLE IF NOT EXISTS databases(number UInt64, type String, blocks UInt64,"
	" samples UInt64, rows UInt64, trios UInt64, crowds UInt64, replaced UInt8)"
	" ENGINE = ReplacingMergeTree ORDER BY (number, type, replaced)",
};

/* ---- meta ---- */

static int write_meta(struct fleet_engine *e, struct engine_shard *shard, const char *key,
		      const char *value, struct err *err)
{
	struct text row = { 0 };
	int rc;

	engine_add_string(&row, key);
	engine_add_string(&row, value);
	rc = engine_ask(e, shard, "INSERT INTO meta FORMAT RowBinary", &row, err);
	text_release(&row);
	return rc;
}

/*
 * Stores a value if there is none, then reads what is stored: if two machines write at once, both
 * see both values. Values are never removed, so either all machines agree, or all but the first are
 * refused.
 */
static int agree(struct fleet_engine *e, struct engine_shard *shard, const char *key,
		 const char *value, struct err *err)
{
	struct strtab values = { 0 };
	int rc = engine_get_meta(e, shard, key, &values, err);

	if (!rc && !values.n) {
		rc = write_meta(e, shard, key, value, err);
		rc = rc ? rc : engine_get_meta(e, shard, key, &values, err);
	}
	for (uint32_t i = 0; !rc && i < values.n; i++)
		if (strcmp(values.strings[i], value))
			rc = err_set(err, -EINVAL,
				     "%s/%s has %s %s, and not %s; push into another database",
				     shard->host, e->database, key, values.strings[i], value);
	strtab_release(&values);
	return rc;
}

static int agree_all(struct fleet_engine *e, const char *key, const char *value, struct err *err)
{
	int rc = 0;

	vec_for_each (&e->shards, struct engine_shard, shard)
		rc = rc ? rc : agree(e, shard, key, value, err);
	return rc;
}

/* Each server stores its number and the number of servers. If they were named in another order, or
 * one of them twice, they would get blocks that are on another server. */
static int agree_shards(struct fleet_engine *e, struct err *err)
{
	char which[64];
	int rc = 0;

	for (size_t i = 0; !rc && i < e->shards.n; i++) {
		snprintf(which, sizeof(which), "%zu of %zu", i + 1, e->shards.n);
		rc = agree(e, &e->shards.data[i], "shard", which, err);
	}
	return rc;
}

int fleet_engine_make(struct fleet_engine *e, struct err *err)
{
	char sql[160];
	int rc = 0;

	snprintf(sql, sizeof(sql), "CREATE DATABASE IF NOT EXISTS %.100s", e->database);
	vec_for_each (&e->shards, struct engine_shard, shard) {
		rc = rc ? rc : engine_ask_server(e, shard, sql, err);
		for (size_t i = 0; i < sizeof(schema) / sizeof(*schema); i++)
			rc = rc ? rc : engine_ask(e, shard, schema[i], NULL, err);
	}
	rc = rc ? rc : agree_shards(e, err);
	return rc ? rc : agree_all(e, "reduction", ENGINE_REDUCTION, err);
}

int engine_each_known(struct fleet_engine *e, uint64_t recording, engine_known_visit *visit,
		      void *ctx, struct err *err)
{
	char sql[240];
	int rc;

	snprintf(sql, sizeof(sql),
		 "SELECT sequence, database FROM blocks WHERE recording = %" PRIu64
		 " AND (database = 0 OR database IN " ENGINE_WHOLE ") FORMAT RowBinary",
		 recording);
	vec_for_each (&e->shards, struct engine_shard, shard) {
		rc = engine_ask(e, shard, sql, NULL, err);
		if (rc)
			return rc;
		for (struct engine_bytes b = engine_bytes(&shard->answer.body); b.p < b.end;) {
			uint64_t sequence = engine_u64(&b), database = engine_u64(&b);

			if (b.bad)
				return engine_damaged(e, shard, err);
			visit(ctx, shard, sequence, database);
		}
	}
	return 0;
}

static void note_known(void *ctx, struct engine_shard *shard, uint64_t sequence, uint64_t database)
{
	struct fleet_engine *e = ctx;

	(void)shard, (void)database;
	map_put(&e->known, sequence, 1);
}

int engine_agree_meta(struct fleet_engine *e, const struct fleet_store_meta *meta, struct err *err)
{
	char bucket[32];
	int rc;

	if (e->agreed && !memcmp(e->agreed, meta, sizeof(*meta)))
		return 0;
	snprintf(bucket, sizeof(bucket), "%" PRIu64, meta->bucket_ns);
	rc = agree_all(e, "indicator", meta->indicator, err);
	rc = rc ? rc : agree_all(e, "unit", meta->unit, err);
	rc = rc ? rc : agree_all(e, "better", meta->higher_is_better ? "higher" : "lower", err);
	rc = rc ? rc : agree_all(e, "by", meta->by, err);
	rc = rc ? rc : agree_all(e, "bucket_ns", bucket, err);
	if (!rc && !e->agreed)
		e->agreed = xmalloc(sizeof(*meta));
	if (!rc)
		*e->agreed = *meta;
	return rc;
}

static bool is_pending(const struct fleet_engine *e, uint64_t recording)
{
	vec_for_each (&e->pending, const uint64_t, pending)
		if (*pending == recording)
			return true;
	return false;
}

int fleet_engine_begin(struct fleet_engine *e, const struct fleet_header *h,
		       const struct fleet_store_meta *meta, struct err *err)
{
	int rc = engine_agree_meta(e, meta, err);

	if (!rc && is_pending(e, h->id)) /* some of its blocks are not sent yet */
		rc = fleet_engine_flush(e, err);
	if (rc)
		return rc;
	map_release(&e->known);
	return engine_each_known(e, h->id, note_known, e, err);
}

bool fleet_engine_has(const struct fleet_engine *e, uint64_t sequence)
{
	return map_get(&e->known, sequence) != MAP_NONE;
}

/* ---- applications whose trios are kept ---- */

/* Stores each name as a value of the key, and an empty value that shows that this is decided, even
 * without names. */
static int write_trios(struct fleet_engine *e, struct engine_shard *shard,
		       const struct strtab *asked, struct err *err)
{
	struct text rows = { 0 };
	int rc;

	engine_add_string(&rows, "trios");
	engine_add_string(&rows, "");
	for (uint32_t i = 0; i < asked->n; i++) {
		engine_add_string(&rows, "trios");
		engine_add_string(&rows, asked->strings[i]);
	}
	rc = engine_ask(e, shard, "INSERT INTO meta FORMAT RowBinary", &rows, err);
	text_release(&rows);
	return rc;
}

static int get_trios(struct fleet_engine *e, struct engine_shard *shard, const struct strtab *asked,
		     struct strtab *values, struct err *err)
{
	int rc = engine_get_meta(e, shard, "trios", values, err);

	if (rc || values->n)
		return rc;
	rc = write_trios(e, shard, asked, err);
	return rc ? rc : engine_get_meta(e, shard, "trios", values, err);
}

/* Compares names with values, which also contain the empty one. */
static bool same_names(const struct strtab *names, const struct strtab *values)
{
	bool same = names->n + 1 == values->n;

	for (uint32_t i = 0; same && i < names->n; i++)
		same = strtab_find(values, names->strings[i]) != MAP_NONE;
	return same;
}

int fleet_engine_trios(struct fleet_engine *e, const struct strtab *asked, struct strtab *kept,
		       struct err *err)
{
	int rc = 0;

	for (size_t n = 0; !rc && n < e->shards.n; n++) {
		struct engine_shard *shard = &e->shards.data[n];
		struct strtab values = { 0 };

		rc = get_trios(e, shard, n ? kept : asked, &values, err);
		for (uint32_t i = 0; !n && i < values.n; i++)
			if (*values.strings[i])
				strtab_add(kept, values.strings[i]);
		if (!rc &&
		    (!same_names(kept, &values) || (asked->n && !same_names(asked, &values))))
			rc = err_set(
				err, -EINVAL,
				"%s/%s has samples whose trios were not kept, or those of other "
				"applications; push into another database",
				shard->host, e->database);
		strtab_release(&values);
	}
	return rc;
}

/* ---- rows ---- */

static void add_varint(struct text *out, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];

	text_addn(out, (char *)bytes, (size_t)(varint_put(bytes, value) - bytes));
}

static void add_limbs(struct text *out, tally_u128 value)
{
	for (int i = 0; i < ENGINE_LIMBS; i++) {
		uint32_t limb = (uint32_t)(value >> (32 * i));

		text_addn(out, (char *)&limb, sizeof(limb));
	}
}

static void add_contrast(struct text *out, const struct fleet_contrast *c)
{
	add_varint(out, 5 * ENGINE_LIMBS);
	add_limbs(out, (tally_u128)c->w);
	add_limbs(out, (tally_u128)c->wd);
	add_limbs(out, (tally_u128)c->w2);
	add_limbs(out, (tally_u128)c->wd_w);
	add_limbs(out, (tally_u128)c->wd2);
}

static void add_histogram(struct text *out, const struct tally *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->room; i++)
		n += t->counts[i] != 0;
	add_varint(out, n);
	for (uint32_t i = 0; i < t->room; i++) {
		uint16_t bucket = (uint16_t)(t->first + i);

		if (t->counts[i])
			text_addn(out, (char *)&bucket, sizeof(bucket));
	}
	add_varint(out, n);
	for (uint32_t i = 0; i < t->room; i++)
		if (t->counts[i])
			engine_add_u64(out, t->counts[i]);
}

static void add_key(struct text *out, const struct engine_key *key)
{
	engine_add_u64(out, key->recording);
	engine_add_u64(out, key->sequence);
}

static void add_stratum(struct text *out, const struct fleet_rows *rows, uint32_t number)
{
	const struct fleet_stratum *stratum = &rows->strata.data[number];

	engine_add_string(out, strtab_get(&rows->types, stratum->type));
	engine_add_u64(out, stratum->bucket);
}

enum engine_table engine_table_of(const struct fleet_row *row)
{
	return row->class == CORUNNER_TRIO ? ENGINE_TRIOS : ENGINE_ROWS;
}

static void add_row(struct text *out, const struct engine_key *key, const struct fleet_rows *rows,
		    const struct fleet_row *row)
{
	bool trio = engine_table_of(row) == ENGINE_TRIOS;

	add_key(out, key);
	engine_add_string(out, strtab_get(&rows->apps, row->base));
	engine_add_string(out, strtab_get(&rows->apps, row->corunner));
	engine_add_string(out, trio ? strtab_get(&rows->apps, row->second)
				    : corunner_class_names[row->class]);
	add_stratum(out, rows, row->stratum);
	engine_add_u64(out, row->tally.n);
	engine_add_u64(out, row->tally.sum);
	add_varint(out, ENGINE_LIMBS);
	add_limbs(out, row->tally.squares);
	engine_add_u64(out, row->contrast.blocks);
	add_contrast(out, &row->contrast);
	add_histogram(out, &row->tally);
}

static void add_crowd(struct text *out, const struct engine_key *key, const struct fleet_rows *rows,
		      const struct fleet_crowd *c)
{
	add_key(out, key);
	engine_add_string(out, c->kind == FLEET_APPS ? "apps" : "cpus");
	engine_add_u64(out, c->number);
	add_stratum(out, rows, c->stratum);
	engine_add_u64(out, c->ns);
}

/* Sends what is pending, blocks last, because they make the other rows count. */
static int flush_shard(struct fleet_engine *e, struct engine_shard *shard, struct err *err)
{
	char sql[64];
	int rc;

	for (int i = 0; i < ENGINE_TABLES; i++) {
		struct text *rows = &shard->pending[i];

		if (!rows->n)
			continue;
		snprintf(sql, sizeof(sql), "INSERT INTO %s FORMAT RowBinary", engine_tables[i]);
		rc = engine_ask(e, shard, sql, rows, err);
		if (rc)
			return rc;
		e->sent.inserts++;
		e->sent.rows += shard->n_pending[i];
		e->sent.bytes += rows->n;
		rows->n = 0;
		shard->n_pending[i] = 0;
	}
	return 0;
}

int fleet_engine_flush(struct fleet_engine *e, struct err *err)
{
	int rc = 0;

	vec_for_each (&e->shards, struct engine_shard, shard)
		rc = rc ? rc : flush_shard(e, shard, err);
	e->pending.n = 0;
	return rc;
}

static void note_pending(struct fleet_engine *e, uint64_t recording)
{
	if (!e->pending.n || *vec_last(&e->pending) != recording)
		*vec_add(&e->pending) = recording;
}

static bool is_full(const struct engine_shard *shard)
{
	for (int i = 0; i < ENGINE_TABLES; i++)
		if (shard->n_pending[i] > BATCH_ROWS || shard->pending[i].n > BATCH_BYTES)
			return true;
	return false;
}

static int flush_full(struct fleet_engine *e, struct engine_shard *shard, struct err *err)
{
	return is_full(shard) ? flush_shard(e, shard, err) : 0;
}

static struct text *one_more(struct engine_shard *shard, enum engine_table table)
{
	shard->n_pending[table]++;
	return &shard->pending[table];
}

static void add_rows(struct engine_shard *shard, const struct engine_key *key,
		     const struct fleet_rows *rows)
{
	vec_for_each (&rows->rows, const struct fleet_row, row)
		add_row(one_more(shard, engine_table_of(row)), key, rows, row);
	vec_for_each (&rows->crowds, const struct fleet_crowd, c)
		add_crowd(one_more(shard, ENGINE_CROWDS), key, rows, c);
}

int engine_add_rows(struct fleet_engine *e, struct engine_shard *shard,
		    const struct engine_key *key, const struct fleet_rows *rows, struct err *err)
{
	add_rows(shard, key, rows);
	return flush_full(e, shard, err);
}

int engine_add_block(struct fleet_engine *e, struct engine_shard *shard,
		     const struct engine_key *key, const struct engine_line *line, struct err *err)
{
	struct text *out = one_more(shard, ENGINE_BLOCKS);

	add_key(out, key);
	engine_add_u64(out, line->database);
	engine_add_string(out, line->machine);
	engine_add_string(out, line->type);
	engine_add_u64(out, line->start_ns);
	engine_add_u64(out, line->samples);
	engine_add_u64(out, line->alone);
	for (int i = 0; i < ENGINE_BLOCKS; i++)
		engine_add_u64(out, line->n[i]);
	return flush_full(e, shard, err);
}

int fleet_engine_add(struct fleet_engine *e, const struct fleet_header *h,
		     const struct fleet_block *b, const struct fleet_rows *rows,
		     const struct fleet_counts *counts, struct err *err)
{
	struct engine_shard *shard = &e->shards.data[(h->id + b->sequence) % e->shards.n];
	const struct engine_key key = { h->id, b->sequence };
	struct engine_line line = { .machine = h->machine,
				    .type = h->type,
				    .start_ns = b->start_ns,
				    .samples = counts->samples[0],
				    .alone = counts->alone[0],
				    .n = { [ENGINE_CROWDS] = rows->crowds.n } };

	vec_for_each (&rows->rows, const struct fleet_row, row)
		line.n[engine_table_of(row)]++;
	add_rows(shard, &key, rows);
	map_put(&e->known, b->sequence, 1);
	note_pending(e, h->id);
	return engine_add_block(e, shard, &key, &line, err);
}

struct fleet_engine_sent fleet_engine_sent(const struct fleet_engine *e)
{
	return e->sent;
}
