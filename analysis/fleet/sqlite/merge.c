/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of store.h that adds one database to another. Rows are sums, and blocks are
 * counted in them: two databases can only be added if they have no block in common. */
#include "analysis/fleet/sqlite/internal.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/hash.h"

struct merge {
	struct fleet_store *into, *from;
	struct fleet_store_merged *counted;
};

/* What all rows of both have in common, and whose trios are kept. */
static int agree(struct merge *m, struct err *err)
{
	struct strtab theirs = { 0 }, kept = { 0 };
	struct fleet_store_totals totals;
	struct fleet_store_meta meta;
	int rc = fleet_store_meta(m->from, &meta, &totals, err);

	rc = rc ? rc : fleet_store_begin(m->into, &meta, err);
	fleet_store_trio_bases(m->from, &theirs);
	rc = rc ? rc : fleet_store_trios(m->into, &theirs, &kept, err);
	if (!rc && !fleet_store_same_names(&theirs, &kept))
		rc = err_set(err, -EINVAL,
			     "%s keeps trios that %s does not; reduce into another database "
			     "with --db",
			     m->into->path, m->from->path);
	strtab_release(&theirs);
	strtab_release(&kept);
	return rc;
}

/* Those that are new; what both have is counted. */
static int add_block(void *ctx, const struct fleet_store_line *line, struct err *err)
{
	struct merge *m = ctx;
	struct fleet_store_block b = { .recording = line->recording,
				       .sequence = line->sequence,
				       .start_ns = line->start_ns,
				       .samples = line->samples,
				       .alone = line->alone };

	if (fleet_store_has(m->into, b.recording, b.sequence)) {
		m->counted->known_blocks++;
		return 0;
	}
	m->counted->blocks++;
	m->counted->samples += b.samples;
	m->counted->alone += b.alone;
	b.machine = store_number(m->into, ADD_MACHINE, GET_MACHINE, line->machine, line->type);
	return b.machine && store_add_blocks(m->into, &b, 1) ? 0 : store_failed(m->into, err);
}

static int add_rows(void *ctx, const struct fleet_rows *rows, struct err *err)
{
	struct merge *m = ctx;

	return store_add_all(m->into, rows, NULL, 0) ? 0 : store_failed(m->into, err);
}

static int add_all(struct merge *m, struct err *err)
{
	int rc = agree(m, err);

	rc = rc ? rc : fleet_store_each_block(m->from, add_block, m, err);
	if (rc || !m->counted->blocks)
		return rc;
	if (m->counted->known_blocks)
		return err_set(err, -EEXIST,
			       "%s has %" PRIu64 " blocks that are in %s, too, and others, which "
			       "cannot be told apart any more; reduce the files that it is of",
			       m->from->path, m->counted->known_blocks, m->into->path);
	return fleet_store_each_rows(m->from, add_rows, m, err);
}

int fleet_store_merge(struct fleet_store *into, const char *path,
		      struct fleet_store_merged *counted, struct err *err)
{
	struct merge m = { .into = into, .counted = counted };
	int rc;

	*counted = (struct fleet_store_merged){ 0 };
	rc = fleet_store_open(&m.from, path, false, err);
	if (rc)
		return rc;
	rc = store_execute(into, "BEGIN IMMEDIATE") ? add_all(&m, err) : store_failed(into, err);
	if (!rc && counted->blocks && !store_execute(into, "COMMIT"))
		rc = store_failed(into, err);
	if (rc || !counted->blocks)
		store_execute(into, "ROLLBACK");
	fleet_store_close(m.from);
	return rc;
}
