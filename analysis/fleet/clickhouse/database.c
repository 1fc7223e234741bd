/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/clickhouse/database.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/fleet/clickhouse/internal.h"
#include "analysis/fleet/clickhouse/push.h"
#include "analysis/fleet/rows.h"
#include "analysis/fleet/sqlite/rows.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/err.h"

/* A database that was pushed before, with the number of its blocks that are also in this one. */
struct owner {
	uint64_t number, blocks;
	struct engine_shard *shard;
};

/* The samples and rows that the database has for one machine type. */
struct of_type {
	uint64_t samples, n[ENGINE_TABLES];
};

struct database {
	struct fleet_engine *engine;
	struct fleet_store_merged *counted;
	uint64_t number, blocks, recording; /* recording: of the previous block */
	struct {
		VEC(struct owner)
	} owners;	 /* the first one stands for blocks that were pushed as files */
	struct map owns; /* sequence of the present recording -> owner */
	struct engine_shard *shard;
	struct strtab types;
	struct {
		VEC(struct of_type)
	} of_types;
};

/* ---- blocks that are known already ---- */

static uint32_t owner_of(struct database *d, struct engine_shard *shard, uint64_t number)
{
	for (uint32_t i = 0; i < d->owners.n; i++)
		if (d->owners.data[i].number == number)
			return i;
	*vec_add(&d->owners) = (struct owner){ .number = number, .shard = shard };
	return (uint32_t)d->owners.n - 1;
}

static void note_owner(void *ctx, struct engine_shard *shard, uint64_t sequence, uint64_t number)
{
	struct database *d = ctx;

	map_put(&d->owns, sequence, owner_of(d, shard, number));
}

static uint64_t number_after(uint64_t number, uint64_t recording, uint64_t sequence)
{
	const uint64_t numbers[] = { number, recording, sequence };

	return hash_bytes(numbers, sizeof(numbers));
}

/* Finds the owner of a block. Blocks come in the order of their recordings. */
static int find_owner(void *ctx, const struct fleet_store_line *b, struct err *err)
{
	struct database *d = ctx;
	uint32_t owner;
	int rc = 0;

	if (!d->blocks || d->recording != b->recording) {
		d->recording = b->recording;
		map_release(&d->owns);
		rc = engine_each_known(d->engine, b->recording, note_owner, d, err);
	}
	d->blocks++;
	d->number = number_after(d->number, b->recording, b->sequence);
	owner = map_get(&d->owns, b->sequence);
	if (owner == MAP_NONE) {
		d->counted->blocks++;
		d->counted->samples += b->samples;
		return rc;
	}
	d->counted->known_blocks++;
	d->owners.data[owner].blocks++;
	return rc;
}

static int is_whole(struct database *d, const struct owner *owner, bool *whole, struct err *err)
{
	struct engine_bytes b;
	char sql[120];
	int rc;

	snprintf(sql, sizeof(sql),
		 "SELECT max(blocks) FROM databases WHERE number = %" PRIu64 " FORMAT RowBinary",
		 owner->number);
	rc = engine_ask(d->engine, owner->shard, sql, NULL, err);
	if (rc)
		return rc;
	b = engine_bytes(&owner->shard->answer.body);
	*whole = engine_u64(&b) == owner->blocks;
	return b.bad ? engine_damaged(d->engine, owner->shard, err) : 0;
}

/*
 * Chooses the shard, if the database can be added. Known blocks cannot be subtracted from its rows.
 * But if a database was pushed before and has grown since, it can replace the old one, because it
 * has all blocks of that.
 */
static int choose_shard(struct database *d, struct err *err)
{
	bool replaces = !d->owners.data[0].blocks;
	struct engine_shard *shard = NULL;
	int rc = 0;

	for (size_t i = 1; !rc && replaces && i < d->owners.n; i++) {
		const struct owner *owner = &d->owners.data[i];

		if (!owner->blocks)
			continue;
		rc = is_whole(d, owner, &replaces, err);
		replaces = replaces && (!shard || shard == owner->shard);
		shard = owner->shard;
	}
	if (!rc && !replaces)
		return err_set(err, -EEXIST,
			       "%" PRIu64 " blocks of it were pushed before, and %" PRIu64
			       " were not, which cannot be told apart any more; push the files "
			       "that it is of",
			       d->counted->known_blocks, d->counted->blocks);
	d->shard = shard ? shard : &d->engine->shards.data[d->number % d->engine->shards.n];
	return rc;
}

/* ---- writing ---- */

static int add_block(void *ctx, const struct fleet_store_line *b, struct err *err)
{
	struct database *d = ctx;
	const struct engine_key key = { b->recording, b->sequence };
	const struct engine_line line = { .database = d->number,
					  .machine = b->machine,
					  .type = b->type,
					  .start_ns = b->start_ns,
					  .samples = b->samples,
					  .alone = b->alone };

	return engine_add_block(d->engine, d->shard, &key, &line, err);
}

static struct of_type *type_of(struct database *d, const struct fleet_rows *rows, uint32_t stratum)
{
	uint32_t i =
		strtab_add(&d->types, strtab_get(&rows->types, rows->strata.data[stratum].type));

	if (i == d->of_types.n)
		*vec_add(&d->of_types) = (struct of_type){ 0 };
	return &d->of_types.data[i];
}

static int add_rows(void *ctx, const struct fleet_rows *rows, struct err *err)
{
	struct database *d = ctx;
	const struct engine_key key = { d->number, ENGINE_DATABASE };

	vec_for_each (&rows->rows, const struct fleet_row, row) {
		struct of_type *type = type_of(d, rows, row->stratum);

		type->n[engine_table_of(row)]++;
		type->samples += row->class == CORUNNER_ALL ? row->tally.n : 0;
	}
	vec_for_each (&rows->crowds, const struct fleet_crowd, c)
		type_of(d, rows, c->stratum)->n[ENGINE_CROWDS]++;
	return engine_add_rows(d->engine, d->shard, &key, rows, err);
}

static void add_line(struct text *out, uint64_t number, const char *type, uint64_t blocks,
		     const struct of_type *of, bool replaced)
{
	engine_add_u64(out, number);
	engine_add_string(out, type);
	engine_add_u64(out, blocks);
	engine_add_u64(out, of->samples);
	for (int i = 0; i < ENGINE_BLOCKS; i++)
		engine_add_u64(out, of->n[i]);
	text_addn(out, replaced ? "\1" : "\0", 1);
}

/* Writes the database, and that it replaces others, in one insert, so that it counts from the
 * moment when the others do not any more. */
static int commit(struct database *d, struct err *err)
{
	const struct of_type none = { 0 };
	struct text lines = { 0 };
	int rc;

	for (uint32_t i = 0; i < d->types.n; i++)
		add_line(&lines, d->number, d->types.strings[i], d->blocks, &d->of_types.data[i],
			 false);
	vec_for_each (&d->owners, const struct owner, owner)
		if (owner->blocks)
			add_line(&lines, owner->number, "", 0, &none, true);
	rc = engine_ask(d->engine, d->shard, "INSERT INTO databases FORMAT RowBinary", &lines, err);
	text_release(&lines);
	return rc;
}

static int write_all(struct database *d, struct fleet_store *s, struct err *err)
{
	int rc = fleet_store_each_block(s, add_block, d, err);

	rc = rc ? rc : fleet_store_each_rows(s, false, add_rows, d, err);
	rc = rc ? rc : fleet_engine_flush(d->engine, err);
	return rc ? rc : commit(d, err);
}

/* ---- all ---- */

static int agree_trios(struct fleet_engine *e, struct fleet_store *s, struct err *err)
{
	struct strtab theirs = { 0 }, kept = { 0 };
	int rc;

	fleet_store_trio_bases(s, &theirs);
	rc = fleet_engine_trios(e, &theirs, &kept, err);
	if (!rc && !fleet_store_same_names(&theirs, &kept))
		rc = err_set(err, -EINVAL,
			     "it has no trios, and database %s has; push into another one",
			     e->database);
	strtab_release(&theirs);
	strtab_release(&kept);
	return rc;
}

static int agree(struct fleet_engine *e, struct fleet_store *s, struct err *err)
{
	struct fleet_store_totals totals;
	struct fleet_store_meta meta;
	int rc = fleet_store_meta(s, &meta, &totals, err);

	if (!rc && !totals.blocks)
		return 0;
	rc = rc ? rc : engine_agree_meta(e, &meta, err);
	return rc ? rc : agree_trios(e, s, err);
}

int fleet_engine_add_store(struct fleet_engine *e, struct fleet_store *s,
			   struct fleet_store_merged *counted, struct err *err)
{
	struct database d = { .engine = e, .counted = counted };
	int rc = agree(e, s, err);

	*counted = (struct fleet_store_merged){ 0 };
	owner_of(&d, NULL, 0);
	rc = rc ? rc : fleet_engine_flush(e, err); /* blocks of it may still be pending */
	rc = rc ? rc : fleet_store_each_block(s, find_owner, &d, err);
	if (!rc && counted->blocks)
		rc = choose_shard(&d, err);
	if (!rc && counted->blocks)
		rc = write_all(&d, s, err);
	vec_release(&d.owners);
	map_release(&d.owns);
	strtab_release(&d.types);
	vec_release(&d.of_types);
	return rc;
}
