/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/sqlite/rows.h"

#include "analysis/fleet/sqlite/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/phases.h"
#include "analysis/fleet/rows.h"
#include "base/cpus.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/fleet/block.h"

static const char *const crowd_kinds[FLEET_CROWD_KINDS] = { "cpus", "apps" };

/* Highest number of a crowd: no block has more CPUs or applications. */
#define CROWD_MOST FLEET_BLOCK_APPS
_Static_assert(CPUS_MAX <= FLEET_BLOCK_APPS, "CPUs are fewer");

static void add_wide(struct text *out, tally_u128 value)
{
	for (int shift = 120; shift >= 0; shift -= 8) {
		char byte = (char)(uint8_t)(value >> shift);

		text_addn(out, &byte, 1);
	}
}

static tally_u128 wide_at(const uint8_t *p)
{
	tally_u128 value = 0;

	for (int i = 0; i < 16; i++)
		value = value << 8 | p[i];
	return value;
}

static void pack_contrast(const struct fleet_contrast *c, struct text *out)
{
	add_wide(out, (tally_u128)c->w);
	add_wide(out, (tally_u128)c->wd);
	add_wide(out, (tally_u128)c->w2);
	add_wide(out, (tally_u128)c->wd_w);
	add_wide(out, (tally_u128)c->wd2);
}

static void read_contrast(struct fleet_contrast *c, const uint8_t *p)
{
	c->w = (fleet_i128)wide_at(p);
	c->wd = (fleet_i128)wide_at(p + 16);
	c->w2 = (fleet_i128)wide_at(p + 32);
	c->wd_w = (fleet_i128)wide_at(p + 48);
	c->wd2 = (fleet_i128)wide_at(p + 64);
}

bool store_read_row(sqlite3_stmt *st, struct tally *tally, struct fleet_contrast *contrast)
{
	struct fleet_contrast more = { .blocks = (uint64_t)sqlite3_column_int64(st, 3) };
	uint64_t n = tally->n + (uint64_t)sqlite3_column_int64(st, 0);

	if (sqlite3_column_bytes(st, 2) != 16 || sqlite3_column_bytes(st, 4) != 80 ||
	    tally_unpack(tally, sqlite3_column_blob(st, 5), (size_t)sqlite3_column_bytes(st, 5)) ||
	    tally->n != n)
		return false;
	tally->sum += (uint64_t)sqlite3_column_int64(st, 1);
	tally->squares += wide_at(sqlite3_column_blob(st, 2));
	read_contrast(&more, sqlite3_column_blob(st, 4));
	fleet_contrast_merge(contrast, &more);
	return true;
}

/* The ids in the database of what rows name by their numbers. */
struct ids {
	uint32_t *apps, *types;
	const uint32_t *indicators; /* NULL: the same */
};

static uint32_t indicator_of(const struct ids *ids, const struct fleet_stratum *stratum)
{
	return ids->indicators ? ids->indicators[stratum->indicator] : stratum->indicator;
}

static void bind_key(sqlite3_stmt *st, const struct fleet_row *row,
		     const struct fleet_stratum *stratum, const struct ids *ids)
{
	const uint32_t *apps = ids->apps;

	store_bind_number(st, 1, apps[row->base]);
	store_bind_number(st, 2, apps[row->corunner]);
	if (row->class == CORUNNER_TRIO)
		store_bind_number(st, 3, apps[row->second]);
	else
		sqlite3_bind_text(st, 3, corunner_class_names[row->class], -1, SQLITE_STATIC);
	store_bind_number(st, 4, ids->types[stratum->type]);
	store_bind_number(st, 5, stratum->bucket);
	if (indicator_of(ids, stratum))
		store_bind_number(st, 12, indicator_of(ids, stratum));
}

static void bind_blob(sqlite3_stmt *st, int i, const struct text *bytes)
{
	sqlite3_bind_blob(st, i, bytes->n ? bytes->s : "", (int)bytes->n, SQLITE_TRANSIENT);
}

static bool write_row(sqlite3_stmt *st, const struct tally *tally,
		      const struct fleet_contrast *contrast)
{
	struct text squares = { 0 }, sums = { 0 }, histogram = { 0 };
	bool written;

	add_wide(&squares, tally->squares);
	pack_contrast(contrast, &sums);
	tally_pack(tally, &histogram);
	store_bind_number(st, 6, tally->n);
	store_bind_number(st, 7, tally->sum);
	bind_blob(st, 8, &squares);
	store_bind_number(st, 9, contrast->blocks);
	bind_blob(st, 10, &sums);
	bind_blob(st, 11, &histogram);
	written = store_done(st);
	text_release(&squares);
	text_release(&sums);
	text_release(&histogram);
	return written;
}

/* Adds a row to the stored one. */
static bool add_row(struct fleet_store *s, const struct fleet_row *row,
		    const struct fleet_stratum *stratum, const struct ids *ids)
{
	struct fleet_contrast contrast = row->contrast;
	bool trio = row->class == CORUNNER_TRIO, first = !indicator_of(ids, stratum);
	sqlite3_stmt *st = store_statement(s, trio ? GET_TRIO : first ? GET_ROW : GET_ROW_OF);
	struct tally sum = { 0 };
	bool sound = true;

	tally_merge(&sum, &row->tally);
	bind_key(st, row, stratum, ids);
	if (st && sqlite3_step(st) == SQLITE_ROW)
		sound = store_read_row(st, &sum, &contrast);
	if (st)
		sqlite3_reset(st);
	st = store_statement(s, trio ? PUT_TRIO : first ? PUT_ROW : PUT_ROW_OF);
	if (sound && st) {
		bind_key(st, row, stratum, ids);
		sound = write_row(st, &sum, &contrast);
	}
	tally_release(&sum);
	return sound && st;
}

/* ---- matches ---- */

#define MATCH_BYTES 96

static bool read_match(sqlite3_stmt *st, struct fleet_match *m)
{
	const uint8_t *p = sqlite3_column_blob(st, 1);
	struct fleet_match more = { .blocks = (uint64_t)sqlite3_column_int64(st, 0) };

	if (sqlite3_column_bytes(st, 1) != MATCH_BYTES)
		return false;
	more.w = (fleet_i128)wide_at(p);
	more.wx = (fleet_i128)wide_at(p + 16);
	more.wy = (fleet_i128)wide_at(p + 32);
	more.wxx = (fleet_i128)wide_at(p + 48);
	more.wxy = (fleet_i128)wide_at(p + 64);
	more.wyy = (fleet_i128)wide_at(p + 80);
	fleet_match_merge(m, &more);
	return true;
}

static void pack_match(const struct fleet_match *m, struct text *out)
{
	add_wide(out, (tally_u128)m->w);
	add_wide(out, (tally_u128)m->wx);
	add_wide(out, (tally_u128)m->wy);
	add_wide(out, (tally_u128)m->wxx);
	add_wide(out, (tally_u128)m->wxy);
	add_wide(out, (tally_u128)m->wyy);
}

/* The same with both indicators in each other's place. */
static struct fleet_match turned(const struct fleet_match *m)
{
	struct fleet_match t = *m;

	t.wx = m->wy;
	t.wy = m->wx;
	t.wxx = m->wyy;
	t.wyy = m->wxx;
	return t;
}

static void bind_match(sqlite3_stmt *st, const struct fleet_row *row,
		       const struct fleet_stratum *stratum, const struct ids *ids,
		       const uint32_t *indicators)
{
	const struct fleet_stratum any = { 0, stratum->type, stratum->bucket };

	bind_key(st, row, &any, ids);
	store_bind_number(st, 6, indicators[0]);
	store_bind_number(st, 7, indicators[1]);
}

static bool add_match(struct fleet_store *s, const struct fleet_rows *rows,
		      const struct fleet_match *match, const struct ids *ids)
{
	const struct fleet_row *row = &rows->rows.data[match->row];
	const struct fleet_row *other = &rows->rows.data[match->other];
	const struct fleet_stratum *stratum = &rows->strata.data[row->stratum];
	uint32_t a = indicator_of(ids, stratum);
	uint32_t b = indicator_of(ids, &rows->strata.data[other->stratum]);
	const uint32_t indicators[] = { a < b ? a : b, a < b ? b : a };
	struct fleet_match sum = a < b ? *match : turned(match);
	const struct ids same = { ids->apps, ids->types, NULL };
	sqlite3_stmt *st = store_statement(s, GET_MATCH);
	struct text sums = { 0 };
	bool sound = true;

	bind_match(st, row, stratum, &same, indicators);
	if (st && sqlite3_step(st) == SQLITE_ROW)
		sound = read_match(st, &sum);
	if (st)
		sqlite3_reset(st);
	st = store_statement(s, PUT_MATCH);
	if (!sound || !st)
		return false;
	bind_match(st, row, stratum, &same, indicators);
	store_bind_number(st, 8, sum.blocks);
	pack_match(&sum, &sums);
	bind_blob(st, 9, &sums);
	sound = store_done(st);
	text_release(&sums);
	return sound;
}

/* ---- all of an addition ---- */

/* Returns the ids of all names in *numbers, freed by the caller. Returns false if a name could not
 * be added. Nothing may be added then, because the failure may have ended the transaction. */
static bool number_all(struct fleet_store *s, const struct strtab *names, enum statement add,
		       enum statement get, uint32_t **numbers)
{
	*numbers = xcalloc(names->n + 1, sizeof(**numbers));
	for (uint32_t i = 0; i < names->n; i++) {
		(*numbers)[i] = store_number(s, add, get, names->strings[i], NULL);
		if (!(*numbers)[i])
			return false;
	}
	return true;
}

static bool add_numbers(struct fleet_store *s, int which, const uint64_t *numbers, int n)
{
	sqlite3_stmt *st = store_statement(s, which);

	for (int i = 0; i < n; i++)
		store_bind_number(st, i + 1, numbers[i]);
	return store_done(st);
}

bool store_add_blocks(struct fleet_store *s, const struct fleet_store_block *b, size_t n)
{
	bool added = true;

	for (; added && n; n--, b++) {
		const uint64_t row[] = { b->recording, b->sequence, b->machine,
					 b->start_ns,  b->samples,  b->alone };

		added = add_numbers(s, ADD_BLOCK, row, 6);
	}
	return added;
}

static bool add_crowds(struct fleet_store *s, const struct fleet_rows *rows, const uint32_t *types)
{
	bool added = true;

	vec_for_each (&rows->crowds, const struct fleet_crowd, c) {
		const struct fleet_stratum *stratum = &rows->strata.data[c->stratum];
		sqlite3_stmt *st = store_statement(s, ADD_CROWD);

		store_bind_number(st, 1, types[stratum->type]);
		store_bind_number(st, 2, stratum->bucket);
		store_bind_text(st, 3, crowd_kinds[c->kind]);
		store_bind_number(st, 4, c->number);
		store_bind_number(st, 5, c->ns);
		added = added && store_done(st);
	}
	return added;
}

bool store_add_counts(struct fleet_store *s, const struct fleet_store_count *c, size_t n)
{
	bool added = true;

	for (; added && n; n--, c++) {
		const uint64_t row[] = { c->recording, c->sequence, c->indicator, c->samples,
					 c->alone };

		added = add_numbers(s, ADD_COUNT, row, 5);
	}
	return added;
}

/* Rows without samples are there only because of a match. */
static bool add_rows(struct fleet_store *s, const struct fleet_rows *rows, const struct ids *ids)
{
	bool added = true;

	vec_for_each (&rows->rows, const struct fleet_row, row)
		if (added && row->tally.n)
			added = add_row(s, row, &rows->strata.data[row->stratum], ids);
	vec_for_each (&rows->matches, const struct fleet_match, match)
		added = added && add_match(s, rows, match, ids);
	return added;
}

bool store_add_all(struct fleet_store *s, const struct fleet_store_addition *a)
{
	struct ids ids = { .indicators = a->numbers };
	bool added = number_all(s, &a->rows->apps, ADD_APP, GET_APP, &ids.apps) &&
		     number_all(s, &a->rows->types, ADD_TYPE, GET_TYPE, &ids.types) &&
		     store_add_blocks(s, a->blocks, a->n_blocks) &&
		     store_add_counts(s, a->counts, a->n_counts) &&
		     add_crowds(s, a->rows, ids.types) && add_rows(s, a->rows, &ids);

	free(ids.apps);
	free(ids.types);
	return added;
}

int fleet_store_add(struct fleet_store *s, const struct fleet_store_addition *a, struct err *err)
{
	int rc;

	if (store_execute(s, "BEGIN IMMEDIATE") && store_add_all(s, a) &&
	    store_execute(s, "COMMIT"))
		return 0;
	rc = store_failed(s, err);
	store_execute(s, "ROLLBACK");
	return rc;
}

/* ---- reading ---- */

/* Returns the text of a column, "" if it has none, because a foreign database may contain
 * anything. */
static const char *column_name(sqlite3_stmt *st, int column)
{
	const char *name = (const char *)sqlite3_column_text(st, column);

	return name ? name : "";
}

/* Returns the number of the application in rows->apps. */
static uint32_t column_app(sqlite3_stmt *st, int column, struct fleet_rows *rows)
{
	char printable[256];

	return strtab_add(&rows->apps,
			  text_printable(printable, sizeof(printable), column_name(st, column)));
}

int store_damaged(const struct fleet_store *s, struct err *err)
{
	return err_set(err, -EBADMSG, "%s: a row is damaged; reduce again", s->path);
}

/* Returns the statement for rows of a machine type, grouped by phase. */
static sqlite3_stmt *load_of(struct fleet_store *s, enum statement which, uint32_t type,
			     const struct fleet_phases *phases)
{
	sqlite3_stmt *st = store_statement(s, which);

	store_bind_number(st, 1, type);
	store_bind_number(st, 2, phases->day);
	store_bind_number(st, 3, phases->length);
	return st;
}

/* Finds the stratum of the phase in a column. Returns false if there is no such phase. */
static bool stratum_of(sqlite3_stmt *st, int column, const struct fleet_phases *phases,
		       struct fleet_rows *rows, uint32_t *stratum)
{
	uint64_t phase = (uint64_t)sqlite3_column_int64(st, column);

	if (phase >= (phases->n ? phases->n : 1))
		return false;
	*stratum = fleet_rows_stratum(rows, 0, phase);
	return true;
}

static int load_rows(struct fleet_store *s, uint32_t type, uint32_t indicator,
		     const struct fleet_phases *phases, struct fleet_rows *rows, struct err *err)
{
	sqlite3_stmt *st = load_of(s, indicator ? LOAD_ROWS_OF : LOAD_ROWS, type, phases);
	int step;

	if (st && indicator)
		store_bind_number(st, 4, indicator);
	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		uint32_t base = column_app(st, 6, rows), stratum;
		uint32_t co = column_app(st, 7, rows);
		enum corunner_class class = corunner_class_find(column_name(st, 8));
		struct fleet_row *row =
			class >= CORUNNER_TRIO || !stratum_of(st, 9, phases, rows, &stratum)
				? NULL
				: fleet_rows_get(rows, base, co, class, stratum);

		if (!row || !store_read_row(st, &row->tally, &row->contrast))
			return store_damaged(s, err);
	}
	return step == SQLITE_DONE ? 0 : store_failed(s, err);
}

static int load_trios(struct fleet_store *s, uint32_t type, const struct fleet_phases *phases,
		      struct fleet_rows *rows, struct err *err)
{
	sqlite3_stmt *st = load_of(s, LOAD_TRIOS, type, phases);
	int step;

	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		uint32_t base = column_app(st, 6, rows), co = column_app(st, 7, rows);
		uint32_t second = column_app(st, 8, rows), stratum;
		struct fleet_row *row = stratum_of(st, 9, phases, rows, &stratum)
						? fleet_rows_trio(rows, base, co, second, stratum)
						: NULL;

		if (!row || !store_read_row(st, &row->tally, &row->contrast))
			return store_damaged(s, err);
	}
	return step == SQLITE_DONE ? 0 : store_failed(s, err);
}

bool store_read_crowd(sqlite3_stmt *st, struct fleet_rows *rows, uint32_t stratum)
{
	uint64_t number = (uint64_t)sqlite3_column_int64(st, 1);

	if (number > CROWD_MOST)
		return false;
	fleet_rows_crowd(rows, stratum, !strcmp(column_name(st, 0), crowd_kinds[FLEET_APPS]),
			 (uint32_t)number, (uint64_t)sqlite3_column_int64(st, 2));
	return true;
}

static int load_crowds(struct fleet_store *s, uint32_t type, const struct fleet_phases *phases,
		       struct fleet_rows *rows, struct err *err)
{
	sqlite3_stmt *st = load_of(s, LOAD_CROWDS, type, phases);
	uint32_t stratum;
	int step;

	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW)
		if (!stratum_of(st, 3, phases, rows, &stratum) ||
		    !store_read_crowd(st, rows, stratum))
			return store_damaged(s, err);
	return step == SQLITE_DONE ? 0 : store_failed(s, err);
}

static int load_matches(struct fleet_store *s, uint32_t type, const uint32_t *indicators, bool turn,
			struct fleet_rows *rows, struct err *err)
{
	sqlite3_stmt *st = store_statement(s, LOAD_MATCHES);
	int step;

	store_bind_number(st, 1, type);
	store_bind_number(st, 2, indicators[0]);
	store_bind_number(st, 3, indicators[1]);
	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		uint32_t base = column_app(st, 2, rows), co = column_app(st, 3, rows), number;
		enum corunner_class class = corunner_class_find(column_name(st, 4));
		struct fleet_match one = { 0 };
		const struct fleet_row *row;

		if (class >= CORUNNER_TRIO || !read_match(st, &one))
			return store_damaged(s, err);
		row = fleet_rows_get(rows, base, co, class, 0); /* may move rows->rows.data */
		number = (uint32_t)(row - rows->rows.data);
		one = turn ? turned(&one) : one;
		fleet_match_merge(fleet_rows_match(rows, number, number), &one);
	}
	return step == SQLITE_DONE ? 0 : store_failed(s, err);
}

int fleet_store_load_matches(struct fleet_store *s, const char *type, uint32_t indicator,
			     uint32_t other, struct fleet_rows *rows, struct err *err)
{
	const uint32_t both[] = { indicator < other ? indicator : other,
				  indicator < other ? other : indicator };
	sqlite3_stmt *st = store_statement(s, GET_TYPE);

	store_bind_text(st, 1, type);
	if (!store_has_indicators(s) || !st || sqlite3_step(st) != SQLITE_ROW)
		return 0;
	return load_matches(s, (uint32_t)sqlite3_column_int64(st, 0), both, indicator > other, rows,
			    err);
}

int fleet_store_load(struct fleet_store *s, const char *type, uint32_t indicator,
		     const struct fleet_phases *phases, struct fleet_rows *rows, unsigned *others,
		     struct err *err)
{
	sqlite3_stmt *st = store_statement(s, indicator ? MOST_TYPE_OF : MOST_TYPE);
	char name[128] = "";
	uint32_t id;
	int rc;

	*others = 0;
	if (st && indicator)
		store_bind_number(st, 1, indicator);
	if (st && sqlite3_step(st) == SQLITE_ROW) {
		snprintf(name, sizeof(name), "%s", (const char *)sqlite3_column_text(st, 0));
		*others = (unsigned)sqlite3_column_int64(st, 1) - 1;
	}
	if (st)
		sqlite3_reset(st);
	if (type)
		snprintf(name, sizeof(name), "%s", type);
	st = store_statement(s, GET_TYPE);
	store_bind_text(st, 1, name);
	if (!st || sqlite3_step(st) != SQLITE_ROW)
		return err_set(err, -ENODATA,
			       type ? "%s has no machine type %s; SELECT name FROM types lists them"
				    : "%s has no samples%s; add some with ispot fleet reduce",
			       s->path, name);
	id = (uint32_t)sqlite3_column_int64(st, 0);
	strtab_add(&rows->types, name);
	rc = load_rows(s, id, indicator, phases, rows, err);
	if (!rc && !indicator && store_has_trios(s))
		rc = load_trios(s, id, phases, rows, err);
	return rc ? rc : load_crowds(s, id, phases, rows, err);
}

/* ---- visiting a whole database ---- */

#define BATCH 50000 /* most rows in memory at once */

static const char *column_text(sqlite3_stmt *st, int column, char *printable, size_t n)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	return text_printable(printable, n, text ? text : "");
}

static uint32_t add_column_name(sqlite3_stmt *st, int column, struct strtab *names)
{
	char name[256];

	return strtab_add(names, column_text(st, column, name, sizeof(name)));
}

int fleet_store_each_block(struct fleet_store *s, fleet_store_block_visit *visit, void *ctx,
			   struct err *err)
{
	sqlite3_stmt *st = store_statement(s, EACH_BLOCK);
	int step, rc = 0;

	while (!rc && (step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		char machine[256], type[256];

		rc = visit(ctx,
			   &(struct fleet_store_line){
				   .recording = (uint64_t)sqlite3_column_int64(st, 0),
				   .sequence = (uint64_t)sqlite3_column_int64(st, 1),
				   .machine = column_text(st, 2, machine, sizeof(machine)),
				   .type = column_text(st, 3, type, sizeof(type)),
				   .start_ns = (uint64_t)sqlite3_column_int64(st, 4),
				   .samples = (uint64_t)sqlite3_column_int64(st, 5),
				   .alone = (uint64_t)sqlite3_column_int64(st, 6),
			   },
			   err);
	}
	if (rc || step == SQLITE_DONE)
		return rc;
	return store_failed(s, err);
}

/* ---- rows ---- */

struct batch {
	struct fleet_store *store;
	struct fleet_rows rows;
	fleet_store_rows_visit *visit;
	void *ctx;
};

static int flush(struct batch *b, struct err *err)
{
	int rc = b->visit(b->ctx, &b->rows, err);

	fleet_rows_release(&b->rows);
	return rc;
}

/* Reads an indicator's number in a column. Returns false if it is none. */
static bool column_indicator(sqlite3_stmt *st, int column, uint32_t *indicator)
{
	uint64_t number = (uint64_t)sqlite3_column_int64(st, column);

	*indicator = (uint32_t)number;
	return number < FLEET_INDICATORS;
}

/* Reads the columns of LOAD_ROWS, LOAD_TRIOS or LOAD_ROWS_OF, then type, bucket and, of the last,
 * the indicator. */
static struct fleet_row *row_of(struct fleet_rows *rows, sqlite3_stmt *st, enum statement which)
{
	uint32_t base = add_column_name(st, 6, &rows->apps),
		 co = add_column_name(st, 7, &rows->apps);
	uint32_t indicator = 0, stratum;
	enum corunner_class class;
	char name[32];

	/* The first indicator's rows are in another table; more of them would count twice. */
	if (which == EACH_ROW_OF && (!column_indicator(st, 11, &indicator) || !indicator))
		return NULL;
	stratum = fleet_rows_stratum_of(rows, indicator, add_column_name(st, 9, &rows->types),
					(uint64_t)sqlite3_column_int64(st, 10));
	if (which == EACH_TRIO)
		return fleet_rows_trio(rows, base, co, add_column_name(st, 8, &rows->apps),
				       stratum);
	class = corunner_class_find(column_text(st, 8, name, sizeof(name)));
	return class >= CORUNNER_TRIO ? NULL : fleet_rows_get(rows, base, co, class, stratum);
}

static int each_row(struct batch *b, enum statement which, struct err *err)
{
	sqlite3_stmt *st = store_statement(b->store, which);
	int step, rc = 0;

	while (!rc && (step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		struct fleet_row *row = row_of(&b->rows, st, which);

		if (!row || !store_read_row(st, &row->tally, &row->contrast))
			return store_damaged(b->store, err);
		if (b->rows.rows.n >= BATCH)
			rc = flush(b, err);
	}
	if (!rc && step != SQLITE_DONE)
		rc = store_failed(b->store, err);
	return rc ? rc : flush(b, err);
}

/* Reads the present row of EACH_MATCH. Returns false if it is invalid. */
static bool read_match_row(struct fleet_rows *rows, sqlite3_stmt *st)
{
	uint32_t base = add_column_name(st, 2, &rows->apps),
		 co = add_column_name(st, 3, &rows->apps);
	uint32_t type = add_column_name(st, 5, &rows->types), indicators[2], of[2];
	uint64_t bucket = (uint64_t)sqlite3_column_int64(st, 6);
	enum corunner_class class = corunner_class_find(column_name(st, 4));

	if (class >= CORUNNER_TRIO || !column_indicator(st, 7, &indicators[0]) ||
	    !column_indicator(st, 8, &indicators[1]) || indicators[0] >= indicators[1])
		return false;
	for (int i = 0; i < 2; i++) {
		uint32_t stratum = fleet_rows_stratum_of(rows, indicators[i], type, bucket);
		const struct fleet_row *row = fleet_rows_get(rows, base, co, class, stratum);

		of[i] = (uint32_t)(row - rows->rows.data);
	}
	return read_match(st, fleet_rows_match(rows, of[0], of[1]));
}

static int each_match(struct batch *b, struct err *err)
{
	sqlite3_stmt *st = store_statement(b->store, EACH_MATCH);
	int step, rc = 0;

	while (!rc && (step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		if (!read_match_row(&b->rows, st))
			return store_damaged(b->store, err);
		if (b->rows.rows.n >= BATCH)
			rc = flush(b, err);
	}
	if (!rc && step != SQLITE_DONE)
		rc = store_failed(b->store, err);
	return rc ? rc : flush(b, err);
}

static int each_crowd(struct batch *b, struct err *err)
{
	sqlite3_stmt *st = store_statement(b->store, EACH_CROWD);
	int step;

	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		uint32_t type = add_column_name(st, 3, &b->rows.types);
		uint64_t bucket = (uint64_t)sqlite3_column_int64(st, 4);

		if (!store_read_crowd(st, &b->rows, fleet_rows_stratum(&b->rows, type, bucket)))
			return store_damaged(b->store, err);
	}
	return step == SQLITE_DONE ? flush(b, err) : store_failed(b->store, err);
}

int fleet_store_each_rows(struct fleet_store *s, bool several, fleet_store_rows_visit *visit,
			  void *ctx, struct err *err)
{
	struct batch b = { .store = s, .visit = visit, .ctx = ctx };
	int rc = each_row(&b, EACH_ROW, err);

	if (!rc && store_has_trios(s))
		rc = each_row(&b, EACH_TRIO, err);
	if (!rc && several && store_has_indicators(s))
		rc = each_row(&b, EACH_ROW_OF, err);
	if (!rc && several && store_has_indicators(s))
		rc = each_match(&b, err);
	rc = rc ? rc : each_crowd(&b, err);
	fleet_rows_release(&b.rows);
	return rc;
}
