/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/fleet_rows.h"
#include "analysis/fleet_store.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "fleet_verbs.h"
#include "trace/fleet_file.h"

/* Are kept before they go to the database: a few 100 MB. */
#define ROWS_MAX   200000
#define BLOCKS_MAX 1000000

struct reduction {
	const struct fleet_args *args;
	struct fleet_store *store;
	struct fleet_rows rows;
	struct strtab trios; /* of which applications */
	struct {
		VEC(struct fleet_store_block)
	} blocks;	    /* of which the rows are */
	struct map pending; /* recording, sequence -> index of blocks */
	struct fleet_block block;
	struct progress progress;
	uint64_t samples, alone, new_blocks, known_blocks, refused_files, files;
	bool several; /* files: one that cannot be read does not end it */
};

static int flush(struct reduction *r, struct err *err)
{
	int rc = r->blocks.n ? fleet_store_add(r->store, &r->rows, r->blocks.data, r->blocks.n, err)
			     : 0;

	fleet_rows_release(&r->rows);
	map_release(&r->pending);
	r->blocks.n = 0;
	return rc;
}

/* Keys are hashes, which a file may choose: of two with the same the second has the next one that
 * is free. */
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

static bool is_known(const struct reduction *r, uint64_t recording, uint64_t sequence)
{
	return map_get(&r->pending, key_of(r, recording, sequence)) != MAP_NONE ||
	       fleet_store_has(r->store, recording, sequence);
}

static void add_block(struct reduction *r, const struct fleet_header *h, uint32_t machine)
{
	const struct fleet_rows_options o = { r->args->bucket_ns, &r->trios };
	struct fleet_store_block *key;

	map_put(&r->pending, key_of(r, h->id, r->block.sequence), (uint32_t)r->blocks.n);
	key = vec_add(&r->blocks);
	key->recording = h->id;
	key->sequence = r->block.sequence;
	key->machine = machine;
	key->start_ns = r->block.start_ns;
	key->samples = r->block.samples.n;
	key->alone = fleet_rows_add(&r->rows, &r->block, &h->topology, h->type, &o);
	r->new_blocks++;
	r->samples += key->samples;
	r->alone += key->alone;
}

static int refuse_file(struct reduction *r, const struct err *why, struct err *err)
{
	if (!r->several)
		return err_set(err, why->code, "%s", why->text);
	r->refused_files++;
	log_notice("%s", why->text);
	return 0;
}

static int read_blocks(struct reduction *r, struct fleet_reader *file, uint32_t machine,
		       struct err *err)
{
	struct fleet_block_head head;
	struct err why = { 0 };
	int rc = 0;

	while (!rc && (rc = fleet_reader_next(file, &head, &why)) > 0) {
		rc = 0;
		if (is_known(r, file->header.id, head.sequence)) {
			fleet_reader_skip(file, &head);
			r->known_blocks++;
		} else if (fleet_reader_block(file, &head, &r->block)) {
			add_block(r, &file->header, machine);
		}
		progress_rate(&r->progress, r->samples, "samples");
		if (r->rows.rows.n > ROWS_MAX || r->rows.crowds.n > 10 * ROWS_MAX ||
		    r->blocks.n > BLOCKS_MAX)
			rc = flush(r, err);
	}
	if (why.code)
		rc = refuse_file(r, &why, err);
	if (file->truncated)
		log_notice("%s ends inside of a block; the blocks before it count", file->path);
	if (file->damaged_blocks)
		log_notice("%s is damaged; its sound blocks count", file->path);
	return rc;
}

static int read_file(struct reduction *r, const char *path, struct err *err)
{
	struct fleet_store_meta meta = { .bucket_ns = r->args->bucket_ns };
	struct fleet_reader file;
	uint32_t machine;
	struct err why = { 0 };
	int rc = fleet_reader_open(&file, path, &why);

	r->files++;
	if (rc)
		return refuse_file(r, &why, err);
	snprintf(meta.indicator, sizeof(meta.indicator), "%s", file.header.indicator);
	snprintf(meta.unit, sizeof(meta.unit), "%s", file.header.unit);
	snprintf(meta.by, sizeof(meta.by), "%s", file.header.by);
	meta.higher_is_better = file.header.higher_is_better;
	rc = fleet_store_begin(r->store, &meta, err);
	if (rc)
		err_prefix(err, "%s", path);
	if (!rc)
		rc = fleet_store_machine(r->store, &file.header, &machine, err);
	if (!rc)
		rc = read_blocks(r, &file, machine, err);
	fleet_reader_close(&file);
	return rc;
}

static void say_done(const struct reduction *r, uint64_t wall_ns, uint64_t cpu_ns)
{
	char samples[TEXT_COUNTED], blocks[TEXT_COUNTED], time[TEXT_NUMBER], rate[TEXT_NUMBER];

	printf("%s in %s are new; %s, %s samples per second of CPU\n",
	       text_counted(samples, r->samples, "sample"),
	       text_counted(blocks, r->new_blocks, "block"), text_time(time, wall_ns),
	       text_count(rate,
			  cpu_ns ? (uint64_t)((double)r->samples * 1e9 / (double)cpu_ns) : 0));
	if (r->known_blocks)
		printf("%s had been reduced before and count once\n",
		       text_counted(blocks, r->known_blocks, "block"));
	if (r->samples)
		printf("%.1f %% of the samples had no co-runner\n",
		       100.0 * (double)r->alone / (double)r->samples);
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

int fleet_reduce(const struct fleet_args *a, char **words, struct err *err)
{
	struct reduction r = { .args = a };
	uint64_t wall_ns = clock_now_ns(), cpu_ns = clock_cpu_ns();
	int rc, flushed;

	if (!*words || !a->bucket_ns)
		return args_refuse(err, "reduce reads files of samples into a database; name them, "
					"and a --bucket above 0");
	r.several = words[1];
	rc = fleet_store_open(&r.store, a->db, true, err);
	if (!rc)
		rc = choose_trios(&r, err);
	progress_init(&r.progress, "reducing");
	for (; !rc && *words; words++)
		rc = read_file(&r, *words, err);
	flushed = flush(&r, rc ? NULL : err); /* of what was read the rest counts anyhow */
	rc = rc ? rc : flushed;
	progress_end(&r.progress);
	if (!rc)
		say_done(&r, clock_now_ns() - wall_ns, clock_cpu_ns() - cpu_ns);
	if (!rc && r.refused_files)
		rc = err_set(err, -EBADMSG,
			     "%" PRIu64 " of %" PRIu64 " files cannot be read, as said above; "
			     "the others count",
			     r.refused_files, r.files);
	fleet_rows_release(&r.rows);
	strtab_release(&r.trios);
	vec_release(&r.blocks);
	map_release(&r.pending);
	fleet_block_release(&r.block);
	fleet_store_close(r.store);
	return rc;
}
