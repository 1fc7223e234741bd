/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/fleet/rows.h"
#include "analysis/fleet/sqlite/rows.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "cmd/fleet/files.h"
#include "cmd/fleet/internal.h"
#include "trace/fleet/file.h"

/* Rows and blocks that are kept in memory before they go to the database: some hundred MB. */
#define ROWS_MAX   200000
#define BLOCKS_MAX 1000000

struct reduction {
	const struct fleet_args *args;
	struct fleet_store *store;
	struct fleet_rows rows;
	struct strtab trios; /* of which applications */
	struct {
		VEC(struct fleet_store_block)
	} blocks; /* of which the rows are */
	struct {
		VEC(struct fleet_store_count)
	} counts; /* counts of indicators other than the database's first */
	uint32_t indicators[FLEET_INDICATORS]; /* [number in the file that is read]: number in the
						  rows */
	struct map pending;		       /* recording and sequence -> index of blocks */
	struct fleet_files files;
	uint32_t machine; /* of the file being read */
	uint64_t alone;
};

static int flush(struct reduction *r, struct err *err)
{
	const struct fleet_store_addition a = {
		.rows = &r->rows,
		.blocks = r->blocks.data,
		.n_blocks = r->blocks.n,
		.counts = r->counts.data,
		.n_counts = r->counts.n,
	};
	int rc = r->blocks.n ? fleet_store_add(r->store, &a, err) : 0;

	fleet_rows_release(&r->rows);
	map_release(&r->pending);
	r->blocks.n = r->counts.n = 0;
	return rc;
}

/* Returns the key of a block. Keys are hashes, and a file can be made so that two blocks have the
 * same one. In this case the second block gets the next free key. */
static uint64_t key_of(const struct reduction *r, uint64_t recording, uint64_t sequence)
{
	const uint64_t numbers[] = { recording, sequence };
	uint64_t key = hash_bytes(numbers, sizeof(numbers));
	uint32_t i;

	for (; (i = map_get(&r->pending, key)) != MAP_NONE; key++)
		if (r->blocks.data[i].recording == recording &&
		    r->blocks.data[i].sequence == sequence)
			break;
	return key;
}

static bool is_known(void *ctx, uint64_t recording, uint64_t sequence)
{
	const struct reduction *r = ctx;

	return map_get(&r->pending, key_of(r, recording, sequence)) != MAP_NONE ||
	       fleet_store_has(r->store, recording, sequence);
}

static void add_counts(struct reduction *r, const struct fleet_store_block *key,
		       const struct fleet_counts *counts)
{
	for (uint32_t i = 1; i < FLEET_INDICATORS; i++)
		if (counts->samples[i])
			*vec_add(&r->counts) =
				(struct fleet_store_count){ key->recording, key->sequence, i,
							    counts->samples[i], counts->alone[i] };
}

static int add_block(void *ctx, const struct fleet_header *h, const struct fleet_block *b,
		     struct err *err)
{
	struct reduction *r = ctx;
	const struct fleet_rows_options o = { r->args->bucket_ns, &r->trios, r->indicators };
	struct fleet_counts counts = { 0 };
	struct fleet_store_block *key;

	map_put(&r->pending, key_of(r, h->id, b->sequence), (uint32_t)r->blocks.n);
	key = vec_add(&r->blocks);
	key->recording = h->id;
	key->sequence = b->sequence;
	key->machine = r->machine;
	key->start_ns = b->start_ns;
	key->alone = fleet_rows_add(&r->rows, b, &h->topology, h->type, &o, &counts);
	key->samples = counts.samples[0];
	add_counts(r, key, &counts);
	for (uint32_t i = 0; i < FLEET_INDICATORS; i++)
		r->alone += counts.alone[i];
	return r->rows.rows.n > ROWS_MAX || r->rows.crowds.n > 10 * ROWS_MAX ||
			       r->blocks.n > BLOCKS_MAX
		       ? flush(r, err)
		       : 0;
}

static int begin_file(void *ctx, const struct fleet_header *h, struct err *err)
{
	struct reduction *r = ctx;
	struct fleet_indicator of[FLEET_INDICATORS];
	struct fleet_store_meta meta;
	int rc;

	fleet_store_meta_of(h, fleet_store_first(r->store, h), r->args->bucket_ns, &meta);
	rc = fleet_store_begin(r->store, &meta, err);
	for (uint32_t i = 0; i <= h->n_more; i++)
		of[i] = fleet_header_indicator(h, i);
	rc = rc ? rc : fleet_store_number(r->store, of, h->n_more + 1, r->indicators, err);
	return rc ? rc : fleet_store_machine(r->store, h, &r->machine, err);
}

static int add_database(void *ctx, const char *path, struct fleet_files *f, struct err *err)
{
	struct reduction *r = ctx;
	struct fleet_store_merged merged;
	int rc = flush(r, err); /* the database and earlier files may have the same blocks */

	if (rc)
		return rc;
	if (fleet_store_merge(r->store, path, &merged, err))
		return 1;
	f->blocks += merged.blocks;
	f->samples += merged.samples;
	f->known_blocks += merged.known_blocks;
	r->alone += merged.alone;
	return 0;
}

static const struct fleet_sink into_store = { begin_file, is_known, add_block, add_database, NULL };

static void report_done(const struct reduction *r, uint64_t wall_ns, uint64_t cpu_ns)
{
	char samples[TEXT_COUNTED], blocks[TEXT_COUNTED], time[TEXT_NUMBER], rate[TEXT_NUMBER];

	printf("%s in %s are new; %s, %s samples per second of CPU\n",
	       text_counted(samples, r->files.samples, "sample"),
	       text_counted(blocks, r->files.blocks, "block"), text_time(time, wall_ns),
	       text_count(rate, cpu_ns ? (uint64_t)((double)r->files.samples * 1e9 / (double)cpu_ns)
				       : 0));
	if (r->files.known_blocks)
		printf("%s had been reduced before and count once\n",
		       text_counted(blocks, r->files.known_blocks, "block"));
	if (r->files.samples)
		printf("%.1f%% of the samples had no co-runner\n",
		       100.0 * (double)r->alone / (double)r->files.samples);
}

static int choose_trios(struct reduction *r, struct err *err)
{
	struct strtab asked = { 0 };
	int rc;

	vec_for_each (&r->args->trios, const char *const, name)
		strtab_add(&asked, *name);
	rc = fleet_store_trios(r->store, &asked, &r->trios, err);
	strtab_release(&asked);
	return rc;
}

/* Reduces the files. files: open ones, of which bad ones are only reported; NULL: the paths are
 * opened. */
static int reduce(const struct fleet_args *a, char **paths, const struct fleet_given *files,
		  struct err *err)
{
	struct reduction r = { .args = a };
	uint64_t wall_ns = clock_now_ns(), cpu_ns = clock_cpu_ns();
	int rc = fleet_store_open(&r.store, a->db ? a->db : FLEET_DB, true, err), flushed;

	if (files) {
		r.files.opened = files->opened;
		r.files.ends = files->ends;
	}
	if (!rc)
		rc = choose_trios(&r, err);
	if (!rc)
		rc = fleet_files_read(&r.files, paths, "reducing", &into_store, &r, err);
	/* After an error, what was read before counts all the same. */
	flushed = flush(&r, rc ? NULL : err);
	rc = rc ? rc : flushed;
	if (!rc)
		report_done(&r, clock_now_ns() - wall_ns, clock_cpu_ns() - cpu_ns);
	if (!rc && !files)
		rc = fleet_files_refused(&r.files, err);
	fleet_rows_release(&r.rows);
	strtab_release(&r.trios);
	vec_release(&r.blocks);
	vec_release(&r.counts);
	map_release(&r.pending);
	fleet_files_release(&r.files);
	fleet_store_close(r.store);
	return rc;
}

int fleet_reduce_files(const struct fleet_args *a, const struct fleet_given *files, struct err *err)
{
	return reduce(a, files->paths, files, err);
}

int fleet_reduce(const struct fleet_args *a, char **words, struct err *err)
{
	if (!*words || !a->bucket_ns)
		return args_refuse(err, "reduce reads files of samples into a database; name them, "
					"and a --bucket above 0");
	/* Check the files before the database is made, so that no empty one is left behind. */
	if (fleet_files_any(words, err))
		return err->code;
	return reduce(a, words, NULL, err);
}
