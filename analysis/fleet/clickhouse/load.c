/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/clickhouse/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/clickhouse/internal.h"
#include "analysis/fleet/phases.h"
#include "analysis/fleet/rows.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/err.h"
#include "trace/fleet/block.h"

/* Selects what counts: the rows of blocks and of completely written databases, each once. */
#define COUNTS                                                                                    \
	" FINAL WHERE ((recording, sequence) IN (SELECT recording, sequence FROM blocks"          \
	" WHERE database = 0) OR (sequence = 18446744073709551615 AND recording IN " ENGINE_WHOLE \
	"))"
#define BLOCK_COUNTS " FINAL WHERE (database = 0 OR database IN " ENGINE_WHOLE ")"

/* Selects the blocks and databases that have rows with their own key. */
#define ALL_WITH_ROWS                                                             \
	" FROM (SELECT type, samples, rows, trios, crowds FROM blocks FINAL"      \
	" WHERE database = 0 UNION ALL SELECT type, samples, rows, trios, crowds" \
	" FROM databases FINAL WHERE number IN " ENGINE_WHOLE ")"

int engine_get_meta(struct fleet_engine *e, struct engine_shard *shard, const char *key,
		    struct strtab *values, struct err *err)
{
	struct text sql = { 0 };
	char value[256];
	int rc;

	text_add(&sql, "SELECT DISTINCT value FROM meta WHERE key = ");
	engine_quote(&sql, key);
	text_add(&sql, " ORDER BY value FORMAT RowBinary");
	rc = engine_ask(e, shard, sql.s, NULL, err);
	text_release(&sql);
	if (rc)
		return rc;
	for (struct engine_bytes b = engine_bytes(&shard->answer.body); b.p < b.end;) {
		strtab_add(values, engine_string(&b, value, sizeof(value)));
		if (b.bad)
			return engine_damaged(e, shard, err);
	}
	return 0;
}

/* Returns the only value of a key. There are several if two machines began at once with different
 * values. */
static int get_one(struct fleet_engine *e, struct engine_shard *shard, const char *key, char *value,
		   size_t n, struct err *err)
{
	struct strtab values = { 0 };
	int rc = engine_get_meta(e, shard, key, &values, err);

	snprintf(value, n, "%s", values.n ? values.strings[0] : "");
	if (!rc && !values.n)
		rc = err_set(err, -ENODATA, "%s/%s has no samples; add some with ispot fleet push",
			     shard->host, e->database);
	else if (!rc && values.n > 1)
		rc = err_set(err, -EBADMSG,
			     "%s/%s was begun by two at once with different %s; push into another "
			     "database",
			     shard->host, e->database, key);
	strtab_release(&values);
	return rc;
}

/* Checks that the address names all shards, each once, because their data are on no other
 * server. */
static int check_shards(struct fleet_engine *e, struct err *err)
{
	struct strtab seen = { 0 };
	char which[64], of[32];
	const char *all;
	int rc = 0;

	snprintf(of, sizeof(of), " of %zu", e->shards.n);
	vec_for_each (&e->shards, struct engine_shard, shard) {
		rc = rc ? rc : get_one(e, shard, "shard", which, sizeof(which), err);
		all = strstr(which, " of ");
		if (!rc && (!all || strcmp(all, of) || strtab_find(&seen, which) != MAP_NONE))
			rc = err_set(err, -EINVAL,
				     "%s is shard %s of the fleet; name every one, each once",
				     shard->host, which);
		strtab_add(&seen, which);
	}
	strtab_release(&seen);
	return rc;
}

static int load_meta(struct fleet_engine *e, struct fleet_store_meta *meta, struct err *err)
{
	struct engine_shard *shard = e->shards.data;
	char text[64] = "";
	int rc = get_one(e, shard, "reduction", text, sizeof(text), err);

	if (!rc && strcmp(text, ENGINE_REDUCTION))
		rc = err_set(err, -EINVAL, "%s/%s is of another version of ispot; push again",
			     shard->host, e->database);
	rc = rc ? rc
		: get_one(e, shard, "indicator", meta->indicator, sizeof(meta->indicator), err);
	rc = rc ? rc : get_one(e, shard, "unit", meta->unit, sizeof(meta->unit), err);
	rc = rc ? rc : get_one(e, shard, "by", meta->by, sizeof(meta->by), err);
	rc = rc ? rc : get_one(e, shard, "better", text, sizeof(text), err);
	meta->higher_is_better = !strcmp(text, "higher");
	rc = rc ? rc : get_one(e, shard, "bucket_ns", text, sizeof(text), err);
	meta->bucket_ns = strtoull(text, NULL, 10);
	return rc;
}

static int add_totals(struct fleet_engine *e, struct engine_shard *shard,
		      struct fleet_store_totals *t, struct err *err)
{
	struct engine_bytes b;
	uint64_t blocks, from_ns, to_ns;
	int rc = engine_ask(e, shard,
			    "SELECT count(), sum(samples), sum(alone), min(start_ns), max(start_ns)"
			    " FROM blocks" BLOCK_COUNTS " FORMAT RowBinary",
			    NULL, err);

	if (rc)
		return rc;
	b = engine_bytes(&shard->answer.body);
	if (b.p == b.end) /* some versions answer this for an empty table */
		return 0;
	blocks = engine_u64(&b);
	t->samples += engine_u64(&b);
	t->alone += engine_u64(&b);
	from_ns = engine_u64(&b);
	to_ns = engine_u64(&b);
	if (blocks) {
		t->from_ns = !t->blocks || from_ns < t->from_ns ? from_ns : t->from_ns;
		t->to_ns = to_ns > t->to_ns ? to_ns : t->to_ns;
	}
	t->blocks += blocks;
	return b.bad ? engine_damaged(e, shard, err) : 0;
}

static int add_machines(struct fleet_engine *e, struct engine_shard *shard, struct strtab *machines,
			struct err *err)
{
	char name[256];
	int rc = engine_ask(e, shard,
			    "SELECT DISTINCT machine FROM blocks" BLOCK_COUNTS " FORMAT RowBinary",
			    NULL, err);

	if (rc)
		return rc;
	for (struct engine_bytes b = engine_bytes(&shard->answer.body); b.p < b.end;) {
		strtab_add(machines, engine_string(&b, name, sizeof(name)));
		if (b.bad)
			return engine_damaged(e, shard, err);
	}
	return 0;
}

int fleet_engine_meta(struct fleet_engine *e, struct fleet_store_meta *meta,
		      struct fleet_store_totals *totals, struct err *err)
{
	struct strtab machines = { 0 };
	int rc = check_shards(e, err);

	*totals = (struct fleet_store_totals){ 0 };
	rc = rc ? rc : load_meta(e, meta, err);
	vec_for_each (&e->shards, struct engine_shard, shard) {
		rc = rc ? rc : add_totals(e, shard, totals, err);
		rc = rc ? rc : add_machines(e, shard, &machines, err);
	}
	totals->machines = machines.n;
	strtab_release(&machines);
	return rc;
}

/* ---- machine types ---- */

struct types {
	struct strtab names;
	struct {
		VEC(uint64_t)
	} samples;
};

static int add_types(struct fleet_engine *e, struct engine_shard *shard, struct types *types,
		     struct err *err)
{
	char name[256];
	int rc = engine_ask(e, shard,
			    "SELECT type, sum(samples)" ALL_WITH_ROWS
			    " GROUP BY type FORMAT RowBinary",
			    NULL, err);

	if (rc)
		return rc;
	for (struct engine_bytes b = engine_bytes(&shard->answer.body); b.p < b.end;) {
		uint32_t i = strtab_add(&types->names, engine_string(&b, name, sizeof(name)));

		if (i == types->samples.n)
			*vec_add(&types->samples) = 0;
		types->samples.data[i] += engine_u64(&b);
		if (b.bad)
			return engine_damaged(e, shard, err);
	}
	return 0;
}

/* Returns the type with the most samples; of equal ones, the first by name. */
static const char *most(const struct types *types, unsigned *others)
{
	const char *name = NULL;
	uint64_t samples = 0;
	unsigned n = 0;

	for (uint32_t i = 0; i < types->names.n; i++) {
		const char *other = types->names.strings[i];

		n += types->samples.data[i] > 0;
		if (types->samples.data[i] > samples ||
		    (name && types->samples.data[i] == samples && strcmp(other, name) < 0)) {
			name = other;
			samples = types->samples.data[i];
		}
	}
	*others = n ? n - 1 : 0;
	return name;
}

static int choose_type(struct fleet_engine *e, const char *asked, char *type, size_t n,
		       unsigned *others, struct err *err)
{
	struct types types = { 0 };
	const char *name;
	int rc = 0;

	vec_for_each (&e->shards, struct engine_shard, shard)
		rc = rc ? rc : add_types(e, shard, &types, err);
	name = most(&types, others);
	if (asked)
		name = strtab_find(&types.names, asked) == MAP_NONE ? NULL : asked;
	snprintf(type, n, "%s", name ? name : "");
	if (!rc && !name)
		rc = err_set(err, -ENODATA,
			     asked ? "%s has no machine type %s; SELECT DISTINCT type FROM blocks "
				     "lists them"
				   : "%s has no samples%s; add some with ispot fleet push",
			     e->database, asked ? asked : "");
	strtab_release(&types.names);
	vec_release(&types.samples);
	return rc;
}

/* ---- rows ---- */

/* Adds up limbs with carries, modulo 2^128, as which negative numbers are stored. */
static tally_u128 limbs_at(struct engine_bytes *b)
{
	tally_u128 value = 0;

	for (int i = 0; i < ENGINE_LIMBS; i++)
		value += (tally_u128)engine_u64(b) << (32 * i);
	return value;
}

static void expect(struct engine_bytes *b, uint64_t n)
{
	if (engine_varint(b) != n)
		b->bad = true;
}

static void read_contrast(struct engine_bytes *b, struct fleet_contrast *c)
{
	c->blocks = engine_u64(b);
	expect(b, 5 * ENGINE_LIMBS);
	c->w = (fleet_i128)limbs_at(b);
	c->wd = (fleet_i128)limbs_at(b);
	c->w2 = (fleet_i128)limbs_at(b);
	c->wd_w = (fleet_i128)limbs_at(b);
	c->wd2 = (fleet_i128)limbs_at(b);
}

/* Reads a histogram: the numbers of the buckets, then their counts. */
static void read_histogram(struct engine_bytes *b, struct tally *tally)
{
	uint64_t n = engine_varint(b);
	const uint8_t *bucket = b->p;

	if (b->bad || n > TALLY_BUCKETS || (uint64_t)(b->end - b->p) < 2 * n) {
		b->bad = true;
		return;
	}
	b->p += 2 * n;
	expect(b, n);
	for (; n-- && !b->bad; bucket += 2) {
		uint32_t number = bucket[0] | (uint32_t)bucket[1] << 8;
		uint64_t count = engine_u64(b);

		if (number >= TALLY_BUCKETS)
			b->bad = true;
		else if (!b->bad)
			tally_count(tally, number, count);
	}
}

/* Adds the columns that follow a row's names to the row. */
static void read_row(struct engine_bytes *b, struct fleet_row *row)
{
	uint64_t n = row->tally.n + engine_u64(b), sum = engine_u64(b);
	struct fleet_contrast contrast;
	tally_u128 squares;

	expect(b, ENGINE_LIMBS);
	squares = limbs_at(b);
	read_contrast(b, &contrast);
	read_histogram(b, &row->tally);
	if (row->tally.n != n)
		b->bad = true;
	row->tally.sum += sum;
	row->tally.squares += squares;
	fleet_contrast_merge(&row->contrast, &contrast);
}

static struct fleet_row *row_of(struct fleet_rows *rows, enum engine_table table,
				const char *const name[3], uint64_t phase)
{
	uint32_t base = strtab_add(&rows->apps, name[0]), co = strtab_add(&rows->apps, name[1]);
	uint32_t stratum = fleet_rows_stratum(rows, 0, phase);
	enum corunner_class class;

	if (table == ENGINE_TRIOS)
		return fleet_rows_trio(rows, base, co, strtab_add(&rows->apps, name[2]), stratum);
	class = corunner_class_find(name[2]);
	return class >= CORUNNER_TRIO ? NULL : fleet_rows_get(rows, base, co, class, stratum);
}

static uint64_t read_phase(struct engine_bytes *b, const struct fleet_phases *phases)
{
	uint64_t phase = engine_u64(b);

	b->bad |= phase >= (phases->n ? phases->n : 1);
	return phase;
}

/* Reads the rows of an answer. *n: number of rows that the server merged into them. */
static int read_rows(struct fleet_engine *e, struct engine_shard *shard, enum engine_table table,
		     const struct fleet_phases *phases, struct fleet_rows *rows, uint64_t *n,
		     struct err *err)
{
	for (struct engine_bytes b = engine_bytes(&shard->answer.body); b.p < b.end;) {
		char names[3][256];
		const char *const name[3] = { names[0], names[1], names[2] };
		struct fleet_row *row;
		uint64_t phase;

		for (int i = 0; i < 3; i++)
			engine_string(&b, names[i], sizeof(names[i]));
		phase = read_phase(&b, phases);
		*n += engine_u64(&b);
		row = b.bad ? NULL : row_of(rows, table, name, phase);
		if (row)
			read_row(&b, row);
		if (!row || b.bad)
			return engine_damaged(e, shard, err);
	}
	return 0;
}

static void add_phase(struct text *sql, const struct fleet_phases *phases)
{
	text_printf(sql, "toUInt64(intDiv(bucket %% %" PRIu64 ", %" PRIu64 ")) AS phase",
		    phases->day, phases->length);
}

static void ask_for_rows(struct text *sql, enum engine_table table, const char *type,
			 const struct fleet_phases *phases)
{
	const char *third = table == ENGINE_TRIOS ? "second" : "class";

	text_printf(sql, "SELECT base, corunner, %s, ", third);
	add_phase(sql, phases);
	text_printf(sql,
		    ", count(), sum(n), sum(sum), sumForEach(squares),"
		    " sum(blocks), sumForEach(contrast), (sumMap(buckets, counts) AS histogram).1,"
		    " histogram.2 FROM %s" COUNTS " AND type = ",
		    engine_tables[table]);
	engine_quote(sql, type);
	text_printf(sql, " GROUP BY base, corunner, %s, phase FORMAT RowBinary", third);
}

static int by_number(const void *a, const void *b)
{
	const struct fleet_crowd *x = a, *y = b;

	if (x->stratum != y->stratum)
		return x->stratum < y->stratum ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int read_crowds(struct fleet_engine *e, struct engine_shard *shard,
		       const struct fleet_phases *phases, struct fleet_rows *rows, uint64_t *n,
		       struct err *err)
{
	for (struct engine_bytes b = engine_bytes(&shard->answer.body); b.p < b.end;) {
		char kind[16];
		uint64_t number, phase, ns;

		engine_string(&b, kind, sizeof(kind));
		number = engine_u64(&b);
		phase = read_phase(&b, phases);
		*n += engine_u64(&b);
		ns = engine_u64(&b);
		if (b.bad || number > FLEET_BLOCK_APPS)
			return engine_damaged(e, shard, err);
		fleet_rows_crowd(rows, fleet_rows_stratum(rows, 0, phase),
				 strcmp(kind, "apps") ? FLEET_BUSY_CPUS : FLEET_APPS,
				 (uint32_t)number, ns);
	}
	return 0;
}

static void ask_for_crowds(struct text *sql, const char *type, const struct fleet_phases *phases)
{
	text_add(sql, "SELECT kind, number, ");
	add_phase(sql, phases);
	text_add(sql, ", count(), sum(ns) FROM crowds" COUNTS " AND type = ");
	engine_quote(sql, type);
	text_add(sql, " GROUP BY kind, number, phase FORMAT RowBinary");
}

/* Checks that the shard has as many rows as its blocks say. */
static int check_counts(struct fleet_engine *e, struct engine_shard *shard, const char *type,
			const uint64_t *n, struct err *err)
{
	struct text sql = { 0 };
	struct engine_bytes b;
	int rc;

	text_add(&sql, "SELECT sum(rows), sum(trios), sum(crowds)" ALL_WITH_ROWS " WHERE type = ");
	engine_quote(&sql, type);
	text_add(&sql, " FORMAT RowBinary");
	rc = engine_ask(e, shard, sql.s, NULL, err);
	text_release(&sql);
	if (rc)
		return rc;
	b = engine_bytes(&shard->answer.body);
	for (int i = 0; i < ENGINE_BLOCKS && b.p < b.end; i++)
		if (engine_u64(&b) != n[i])
			return engine_damaged(e, shard, err);
	return b.bad ? engine_damaged(e, shard, err) : 0;
}

static int load_shard(struct fleet_engine *e, struct engine_shard *shard, const char *type,
		      const struct fleet_phases *phases, struct fleet_rows *rows, struct err *err)
{
	uint64_t n[ENGINE_TABLES] = { 0 };
	int rc = 0;

	for (int table = ENGINE_ROWS; !rc && table < ENGINE_BLOCKS; table++) {
		struct text sql = { 0 };

		if (table == ENGINE_CROWDS)
			ask_for_crowds(&sql, type, phases);
		else
			ask_for_rows(&sql, table, type, phases);
		rc = engine_ask(e, shard, sql.s, NULL, err);
		text_release(&sql);
		if (!rc)
			rc = table == ENGINE_CROWDS
				     ? read_crowds(e, shard, phases, rows, &n[table], err)
				     : read_rows(e, shard, table, phases, rows, &n[table], err);
	}
	return rc ? rc : check_counts(e, shard, type, n, err);
}

int fleet_engine_load(struct fleet_engine *e, const char *type, const struct fleet_phases *phases,
		      struct fleet_rows *rows, unsigned *others, struct err *err)
{
	char name[256];
	int rc = choose_type(e, type, name, sizeof(name), others, err);

	if (rc)
		return rc;
	strtab_add(&rows->types, name);
	vec_for_each (&e->shards, struct engine_shard, shard)
		rc = rc ? rc : load_shard(e, shard, name, phases, rows, err);
	vec_sort(&rows->crowds, by_number); /* they came from several shards */
	return rc;
}
