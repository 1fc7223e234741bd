/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/rows.h"

#include <string.h>

#include "analysis/fleet/crowd.h"
#include "analysis/fleet/trio_rows.h"
#include "base/mem.h"
#include "trace/fleet/topology.h"
#include "trace/fleet/block.h"

/* The samples that one block adds to one row. */
struct block_cell {
	uint32_t row, base_cell;
	uint64_t n, sum;	  /* n: samples; sum: of the samples' bucket numbers */
	fleet_i128 w, difference; /* of the block's contrast; w 0: it has none */
};

struct fleet_rows_block {
	struct {
		VEC(struct block_cell)
	} cells;
	struct map by_row;
	struct {
		VEC(uint32_t)
	} values, apps; /* values: [sample]; apps: [application of the block]: its number in
			 * fleet_rows.apps */
	struct {
		VEC(uint16_t)
	} buckets;
	struct {
		VEC(bool)
	} has_trios; /* [application of the block] */
	struct trios trios;
	const struct fleet_run *trio_base; /* run that the ranges in trios belong to; NULL: none */
	uint32_t indicators[FLEET_INDICATORS]; /* as in fleet_rows_options */
	uint32_t strata[FLEET_INDICATORS];     /* [number in the block] */
	uint32_t crowds;		       /* stratum of indicator 0, which has the crowds */
};

static bool is_row(const struct fleet_row *row, const struct fleet_row *key)
{
	return row->base == key->base && row->corunner == key->corunner &&
	       row->second == key->second && row->class == key->class &&
	       row->stratum == key->stratum;
}

/* Keys are hashes; a row whose hash is in use gets the next free key. */
static uint32_t find_row(const struct fleet_rows *r, const struct fleet_row *wanted, uint64_t *key)
{
	const uint32_t numbers[] = { wanted->base, wanted->corunner, wanted->second, wanted->class,
				     wanted->stratum };
	uint32_t i;

	for (*key = hash_bytes(numbers, sizeof(numbers));
	     (i = map_get(&r->by_key, *key)) != MAP_NONE; ++*key)
		if (is_row(&r->rows.data[i], wanted))
			break;
	return i;
}

static struct fleet_row *get_row(struct fleet_rows *r, const struct fleet_row *wanted)
{
	uint64_t key;
	uint32_t i = find_row(r, wanted, &key);

	if (i != MAP_NONE)
		return &r->rows.data[i];
	map_put(&r->by_key, key, (uint32_t)r->rows.n);
	*vec_add(&r->rows) = *wanted;
	return vec_last(&r->rows);
}

struct fleet_row *fleet_rows_get(struct fleet_rows *r, uint32_t base, uint32_t corunner,
				 enum corunner_class class, uint32_t stratum)
{
	const struct fleet_row wanted = { .base = base,
					  .corunner = corunner,
					  .second = corunner,
					  .class = class,
					  .stratum = stratum };

	return get_row(r, &wanted);
}

/* Co-runners are ordered by name, because their numbers depend on the order of the input. */
struct fleet_row *fleet_rows_trio(struct fleet_rows *r, uint32_t base, uint32_t corunner,
				  uint32_t second, uint32_t stratum)
{
	bool turned = strcmp(strtab_get(&r->apps, corunner), strtab_get(&r->apps, second)) > 0;
	const struct fleet_row wanted = { .base = base,
					  .corunner = turned ? second : corunner,
					  .second = turned ? corunner : second,
					  .class = CORUNNER_TRIO,
					  .stratum = stratum };

	return get_row(r, &wanted);
}

const struct fleet_row *fleet_rows_find_trio(const struct fleet_rows *r, uint32_t base,
					     uint32_t app, uint32_t stratum)
{
	const struct fleet_row wanted = { .base = base,
					  .corunner = app,
					  .second = app,
					  .class = CORUNNER_TRIO,
					  .stratum = stratum };
	uint64_t key;
	uint32_t i = find_row(r, &wanted, &key);

	return i == MAP_NONE ? NULL : &r->rows.data[i];
}

uint32_t fleet_rows_stratum_of(struct fleet_rows *r, uint32_t indicator, uint32_t type,
			       uint64_t bucket)
{
	const uint64_t numbers[] = { indicator, type, bucket };
	uint64_t key = hash_bytes(numbers, sizeof(numbers));
	uint32_t i;

	for (; (i = map_get(&r->by_stratum, key)) != MAP_NONE; key++)
		if (r->strata.data[i].indicator == indicator && r->strata.data[i].type == type &&
		    r->strata.data[i].bucket == bucket)
			return i;
	map_put(&r->by_stratum, key, (uint32_t)r->strata.n);
	*vec_add(&r->strata) = (struct fleet_stratum){ indicator, type, bucket };
	return (uint32_t)r->strata.n - 1;
}

uint32_t fleet_rows_stratum(struct fleet_rows *r, uint32_t type, uint64_t bucket)
{
	return fleet_rows_stratum_of(r, 0, type, bucket);
}

struct fleet_match *fleet_rows_match(struct fleet_rows *r, uint32_t row, uint32_t other)
{
	uint64_t key = (uint64_t)row << 32 | other;
	uint32_t i = map_add(&r->by_match, key, (uint32_t)r->matches.n);

	if (i == r->matches.n)
		*vec_add(&r->matches) = (struct fleet_match){ .row = row, .other = other };
	return &r->matches.data[i];
}

void fleet_rows_crowd(struct fleet_rows *r, uint32_t stratum, uint32_t kind, uint32_t number,
		      uint64_t ns)
{
	uint64_t key = (uint64_t)stratum << 32 | (uint64_t)kind << 24 | (number & 0xffffff);
	uint32_t i = map_add(&r->by_crowd, key, (uint32_t)r->crowds.n);

	if (i == r->crowds.n)
		*vec_add(&r->crowds) = (struct fleet_crowd){ stratum, kind, number, 0 };
	r->crowds.data[i].ns += ns;
}

const struct fleet_match *fleet_rows_find_match(const struct fleet_rows *r, uint32_t base,
						uint32_t corunner, enum corunner_class class)
{
	const struct fleet_row wanted = { .base = base,
					  .corunner = corunner,
					  .second = corunner,
					  .class = class };
	uint64_t key;
	uint32_t row = find_row(r, &wanted, &key), i;

	if (row == MAP_NONE)
		return NULL;
	i = map_get(&r->by_match, (uint64_t)row << 32 | row);
	return i == MAP_NONE ? NULL : &r->matches.data[i];
}

/* ---- a block ---- */

static uint32_t cell_of_row(struct fleet_rows *r, const struct fleet_row *of)
{
	struct fleet_rows_block *block = r->block;
	uint32_t row = (uint32_t)(of - r->rows.data), i = map_get(&block->by_row, row);

	if (i != MAP_NONE)
		return i;
	i = (uint32_t)block->cells.n;
	map_put(&block->by_row, row, i);
	*vec_add(&block->cells) = (struct block_cell){ .row = row, .base_cell = i };
	return i;
}

static uint32_t cell_of(struct fleet_rows *r, uint32_t base, uint32_t corunner,
			enum corunner_class class, uint32_t stratum)
{
	return cell_of_row(r, fleet_rows_get(r, base, corunner, class, stratum));
}

static bool is_left_out(const struct fleet_rows *r, const struct fleet_run *run)
{
	return r->block->indicators[run->indicator] == FLEET_LEFT_OUT;
}

static void add_samples(struct fleet_rows *r, struct block_cell *cell, uint32_t first, uint32_t n)
{
	const uint16_t *buckets = r->block->buckets.data + first;

	tally_add(&r->rows.data[cell->row].tally, r->block->values.data + first, buckets, n);
	cell->n += n;
	for (uint32_t i = 0; i < n; i++)
		cell->sum += buckets[i];
}

static void add_trio(void *ctx, const struct fleet_run *base, uint32_t app, uint32_t second,
		     uint32_t first, uint32_t n)
{
	struct fleet_rows *r = ctx;
	const uint32_t *apps = r->block->apps.data;
	uint32_t own = apps[base->app], stratum = r->block->strata[base->indicator];
	uint32_t base_cell = cell_of(r, own, own, CORUNNER_ALL, stratum);
	uint32_t i = cell_of_row(r, fleet_rows_trio(r, own, apps[app], apps[second], stratum));

	r->block->cells.data[i].base_cell = base_cell;
	add_samples(r, &r->block->cells.data[i], first, n);
}

/* Trios are kept of the first indicator only. */
static bool has_trios(const struct fleet_rows_block *block, const struct fleet_run *run)
{
	return !block->indicators[run->indicator] && block->has_trios.data[run->app];
}

/* Ends the trios of the run before next. next: NULL after the last run. */
static void end_trios(struct fleet_rows *r, const struct fleet_run *next)
{
	struct fleet_rows_block *block = r->block;

	if (block->trio_base && block->trio_base != next)
		trios_find(&block->trios, block->trio_base, add_trio, r);
	block->trio_base = next && has_trios(block, next) ? next : NULL;
}

static void add_corunner(void *ctx, const struct fleet_run *base, enum corunner_class class,
			 uint32_t app, uint32_t first, uint32_t n)
{
	struct fleet_rows *r = ctx;
	uint32_t own = r->block->apps.data[base->app];
	uint32_t stratum = r->block->strata[base->indicator], base_cell, i;

	if (is_left_out(r, base))
		return;
	base_cell = cell_of(r, own, own, CORUNNER_ALL, stratum);
	i = cell_of(r, own, r->block->apps.data[app], class, stratum);
	r->block->cells.data[i].base_cell = base_cell;
	add_samples(r, &r->block->cells.data[i], first, n);
	end_trios(r, base);
	if (r->block->trio_base)
		trios_add(&r->block->trios,
			  &(struct corunner_range){ class, app, first, first + n });
}

static void add_bases(struct fleet_rows *r, const struct fleet_block *b)
{
	vec_for_each (&b->runs, const struct fleet_run, run) {
		uint32_t own = r->block->apps.data[run->app], cell;

		if (!run->n || is_left_out(r, run))
			continue;
		cell = cell_of(r, own, own, CORUNNER_ALL, r->block->strata[run->indicator]);
		add_samples(r, &r->block->cells.data[cell], run->first, run->n);
	}
}

/* The weight is the inverse of the variance that the difference of the two means would have if all
 * samples were independent. */
static void add_contrast(struct fleet_contrast *c, struct block_cell *cell, uint64_t rest_n,
			 uint64_t rest_sum)
{
	fleet_i128 n = cell->n, difference;
	fleet_i128 w = n * rest_n / (n + rest_n);

	if (!w)
		return;
	difference = ((fleet_i128)cell->sum * rest_n - (fleet_i128)rest_sum * n) *
		     FLEET_CONTRAST_UNIT / (n * rest_n);
	cell->w = w;
	cell->difference = difference;
	c->blocks++;
	c->w += w;
	c->wd += w * difference;
	c->w2 += w * w;
	c->wd_w += w * w * difference;
	c->wd2 += w * w * difference * difference;
}

static void add_contrasts(struct fleet_rows *r)
{
	vec_for_each (&r->block->cells, struct block_cell, cell) {
		const struct block_cell *all = &r->block->cells.data[cell->base_cell];

		if (cell != all && all->n > cell->n)
			add_contrast(&r->rows.data[cell->row].contrast, cell, all->n - cell->n,
				     all->sum - cell->sum);
	}
}

/* The weight is that of the sum of two independent differences. */
static void add_match(struct fleet_rows *r, const struct block_cell *cell,
		      const struct block_cell *other)
{
	fleet_i128 w = cell->w * other->w / (cell->w + other->w);
	fleet_i128 x = cell->difference, y = other->difference;

	if (!w)
		return;
	fleet_match_merge(fleet_rows_match(r, cell->row, other->row),
			  &(struct fleet_match){ .blocks = 1,
						 .w = w,
						 .wx = w * x,
						 .wy = w * y,
						 .wxx = w * x * x,
						 .wxy = w * x * y,
						 .wyy = w * y * y });
}

/* Matches a cell with those of the same pair that are of later indicators. */
static void match_cell(struct fleet_rows *r, const struct block_cell *cell, uint32_t n)
{
	const struct fleet_row *row = &r->rows.data[cell->row];
	uint32_t own = r->strata.data[row->stratum].indicator;

	for (uint32_t i = 0; i < n; i++) {
		struct fleet_row wanted = *row;
		uint32_t other = r->block->indicators[i];
		uint64_t key;

		if (other == FLEET_LEFT_OUT || other <= own)
			continue;
		wanted.stratum = r->block->strata[i];
		other = map_get(&r->block->by_row, find_row(r, &wanted, &key));
		if (other != MAP_NONE && r->block->cells.data[other].w)
			add_match(r, cell, &r->block->cells.data[other]);
	}
}

static void add_matches(struct fleet_rows *r)
{
	for (size_t i = 0; i < r->block->cells.n; i++)
		if (r->block->cells.data[i].w)
			match_cell(r, &r->block->cells.data[i], FLEET_INDICATORS);
}

static void copy_values(struct fleet_rows_block *block, const struct fleet_block *b)
{
	vec_reserve(&block->values, b->samples.n);
	vec_reserve(&block->buckets, b->samples.n);
	for (size_t i = 0; i < b->samples.n; i++) {
		block->values.data[i] = b->samples.data[i].value;
		block->buckets.data[i] = tally_bucket(b->samples.data[i].value);
	}
}

/* Maps the block's applications to their numbers in fleet_rows.apps, and notes which have trios. */
static void map_apps(struct fleet_rows *r, const struct fleet_block *b, const struct strtab *trios)
{
	struct fleet_rows_block *block = r->block;

	block->apps.n = block->has_trios.n = 0;
	for (uint32_t i = 0; i < b->apps.n; i++) {
		*vec_add(&block->apps) = strtab_add(&r->apps, b->apps.strings[i]);
		*vec_add(&block->has_trios) =
			trios && strtab_find(trios, b->apps.strings[i]) != MAP_NONE;
	}
}

static void map_indicators(struct fleet_rows *r, uint32_t type, uint64_t bucket,
			   const uint32_t *indicators)
{
	struct fleet_rows_block *block = r->block;

	block->crowds = fleet_rows_stratum(r, type, bucket);
	for (uint32_t i = 0; i < FLEET_INDICATORS; i++) {
		uint32_t number = indicators ? indicators[i] : i ? FLEET_LEFT_OUT : 0;

		block->indicators[i] = number;
		block->strata[i] = number == FLEET_LEFT_OUT
					   ? 0
					   : fleet_rows_stratum_of(r, number, type, bucket);
	}
}

static void begin_block(struct fleet_rows *r, const struct fleet_block *b, const char *type,
			const struct fleet_rows_options *o)
{
	struct fleet_rows_block *block = r->block;

	if (!block)
		block = r->block = xcalloc(1, sizeof(*block));
	block->cells.n = 0;
	map_release(&block->by_row);
	map_indicators(r, strtab_add(&r->types, type), b->start_ns / o->bucket_ns, o->indicators);
	map_apps(r, b, o->trios);
	copy_values(block, b);
}

static void add_time(void *ctx, uint32_t kind, uint32_t number, uint64_t ns)
{
	struct fleet_rows *r = ctx;

	fleet_rows_crowd(r, r->block->crowds, kind, number, ns);
}

/* Returns how many samples of indicator 0 had no co-runner. before: of each indicator as many as
 * had none before the block. */
static uint64_t count(const struct fleet_rows *r, const struct fleet_block *b,
		      const uint64_t *before, struct fleet_counts *counts)
{
	uint64_t alone = 0;

	for (uint32_t i = 0; i < FLEET_INDICATORS; i++) {
		uint32_t number = r->block->indicators[i];
		uint64_t more = r->corunners.alone[i] - before[i];

		if (number == FLEET_LEFT_OUT)
			continue;
		alone += number ? 0 : more;
		if (counts) {
			counts->samples[number] = fleet_block_count(b, i);
			counts->alone[number] = more;
		}
	}
	return alone;
}

uint64_t fleet_rows_add(struct fleet_rows *r, const struct fleet_block *b, const struct topology *t,
			const char *type, const struct fleet_rows_options *o,
			struct fleet_counts *counts)
{
	uint64_t alone[FLEET_INDICATORS];

	memcpy(alone, r->corunners.alone, sizeof(alone));
	begin_block(r, b, type, o);
	add_bases(r, b);
	corunners_find(&r->corunners, b, t, add_corunner, r);
	end_trios(r, NULL);
	add_contrasts(r);
	add_matches(r);
	fleet_crowd_find(b, add_time, r);
	return count(r, b, alone, counts);
}

/* ---- all ---- */

void fleet_contrast_merge(struct fleet_contrast *c, const struct fleet_contrast *more)
{
	c->blocks += more->blocks;
	c->w += more->w;
	c->wd += more->wd;
	c->w2 += more->w2;
	c->wd_w += more->wd_w;
	c->wd2 += more->wd2;
}

void fleet_match_merge(struct fleet_match *m, const struct fleet_match *more)
{
	m->blocks += more->blocks;
	m->w += more->w;
	m->wx += more->wx;
	m->wy += more->wy;
	m->wxx += more->wxx;
	m->wxy += more->wxy;
	m->wyy += more->wyy;
}

static void release_block(struct fleet_rows_block *block)
{
	if (!block)
		return;
	vec_release(&block->cells);
	vec_release(&block->values);
	vec_release(&block->apps);
	vec_release(&block->has_trios);
	trios_release(&block->trios);
	vec_release(&block->buckets);
	map_release(&block->by_row);
	free(block);
}

void fleet_rows_release(struct fleet_rows *r)
{
	vec_for_each (&r->rows, struct fleet_row, row)
		tally_release(&row->tally);
	vec_release(&r->rows);
	vec_release(&r->strata);
	vec_release(&r->crowds);
	vec_release(&r->matches);
	strtab_release(&r->apps);
	strtab_release(&r->types);
	map_release(&r->by_key);
	map_release(&r->by_stratum);
	map_release(&r->by_crowd);
	map_release(&r->by_match);
	corunners_release(&r->corunners);
	release_block(r->block);
	*r = (struct fleet_rows){ 0 };
}
