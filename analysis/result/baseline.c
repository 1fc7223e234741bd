/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analysis/result/baseline.h"
#include "import/import.h"
#include "analysis/result/result.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"

static char *name_of(const struct block *b)
{
	const char *path = b->object ? b->object->path : "";

	return xasprintf("%s:%s", text_base_name(path), b->function->symbol);
}

static void read_blocks(struct baseline *baseline, const struct blocks *blocks)
{
	vec_for_each (blocks, const struct block, b) {
		char *name = name_of(b);
		uint32_t i = strtab_add(&baseline->names, name);
		struct baseline_min *min;

		while (baseline->mins.n <= i)
			*vec_add(&baseline->mins) =
				(struct baseline_min){ .d_ns = BLOCK_NONE, .own_ns = BLOCK_NONE };
		min = &baseline->mins.data[i];
		if (b->min_ns < min->d_ns) {
			min->d_ns = b->min_ns;
			min->off = b->off_fastest;
		}
		if (b->self_min_ns < min->own_ns) {
			min->own_ns = b->self_min_ns;
			min->own_off = b->own_off_fastest;
		}
		free(name);
	}
}

int baseline_read(struct baseline *baseline, const char *path, struct err *err)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct trace_reader *r = NULL;
	struct result res;
	int rc = import_open(&r, path, err);

	if (!rc)
		rc = result_read(&res, r, &o, err);
	if (!rc) {
		if (res.interrupted)
			log_notice("interrupted: %s gives the fastest of the calls that were read "
				   "until then",
				   path);
		read_blocks(baseline, &res.blocks);
		result_release(&res);
	}
	trace_reader_free(r);
	return rc ? err_prefix(err, "--baseline") : 0;
}

/* Returns the fastest calls of a block's function in the baseline, or NULL if it has none. */
static const struct baseline_min *find(const struct baseline *baseline, const struct block *b)
{
	char *name = name_of(b);
	uint32_t i = strtab_find(&baseline->names, name);

	free(name);
	return i == MAP_NONE ? NULL : &baseline->mins.data[i];
}

uint64_t baseline_min(void *ctx, const struct block *b, bool own)
{
	const struct baseline_min *min = find(ctx, b);

	if (!min)
		return BLOCK_NONE;
	return own ? min->own_ns : min->d_ns;
}

void baseline_off(void *ctx, const struct block *b, bool own, struct offcpu *off)
{
	const struct baseline_min *min = find(ctx, b);

	if (min)
		*off = own ? min->own_off : min->off;
}

void baseline_release(struct baseline *baseline)
{
	strtab_release(&baseline->names);
	vec_release(&baseline->mins);
}
