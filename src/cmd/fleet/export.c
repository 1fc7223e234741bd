/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raw samples for other programs: CSV in zstd frames. */
#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/text.h"
#include "cmd/fleet/files.h"
#include "cmd/fleet/internal.h"
#include "report/block/column.h"
#include "trace/fleet/block.h"
#include "trace/fleet/file.h"
#include "trace/frame/codec.h"
#include "base/output.h"

#define PIECE	 (1u << 20) /* a frame has hardly more */
#define LINE_MAX (1u << 16)

struct export
{
	struct compressor *compressor;
	struct output file;
	struct text lines;
};

static void add_text(struct text *out, const char *s)
{
	const struct value value = { .type = VALUE_TEXT, .text = s };

	text_add(out, ",");
	value_print_csv(&value, out);
}

static int write_rows(struct export *x, struct err *err)
{
	const void *frame;
	size_t n;
	int rc;

	rc = x->lines.n ? compressor_plain(x->compressor, x->lines.s, x->lines.n, &frame, &n) : 0;
	if (rc)
		return err_set(err, rc, "a block's lines cannot be compressed; is there memory?");
	if (x->lines.n)
		rc = output_write(&x->file, frame, n);
	x->lines.n = 0;
	return rc ? output_explain(&x->file, err) : 0;
}

/*
 * Writes the first columns of every line of a run. Of the place, core, cache and socket are empty
 * if they are unknown.
 */
static void begin_run(const struct fleet_header *h, const struct fleet_block *b,
		      const struct fleet_track *track, const struct fleet_run *run,
		      struct text *out)
{
	const struct topology_cpu *place = &h->topology.cpus[track->cpu];

	text_printf(out, "%" PRIu64 ",%" PRIu64, h->id, b->sequence);
	add_text(out, h->machine);
	add_text(out, h->type);
	text_printf(out, ",%u", track->cpu);
	if (track->cpu < h->topology.n)
		text_printf(out, ",%u,%u,%u", place->core, place->cache, place->socket);
	else
		text_add(out, ",,,");
	add_text(out, strtab_get(&b->apps, run->app));
}

/* Adds the lines of a run. end: the last column of each. */
static int add_run(struct export *x, const struct text *begin, const struct text *end,
		   const struct fleet_block *b, const struct fleet_run *run, struct err *err)
{
	int rc = 0;

	if (!run->n)
		text_printf(&x->lines, "%s,%" PRIu64 ",%" PRIu64 ",,\n", begin->s, run->start_ns,
			    run->end_ns);
	for (uint32_t i = run->first; !rc && i < run->first + run->n; i++) {
		text_printf(&x->lines, "%s,%" PRIu64 ",%" PRIu64 ",%u%s\n", begin->s,
			    fleet_sample_start(b, run, i), b->samples.data[i].end_ns,
			    b->samples.data[i].value, end->s);
		rc = x->lines.n > PIECE ? write_rows(x, err) : 0;
	}
	return rc || x->lines.n <= PIECE ? rc : write_rows(x, err);
}

static int begin_file(void *ctx, const struct fleet_header *h, struct err *err)
{
	(void)ctx, (void)h, (void)err;
	return 0;
}

static bool is_known(void *ctx, uint64_t recording, uint64_t sequence)
{
	(void)ctx, (void)recording, (void)sequence;
	return false;
}

static int add_block(void *ctx, const struct fleet_header *h, const struct fleet_block *b,
		     struct err *err)
{
	struct export *x = ctx;
	struct text begin = { 0 }, end = { 0 };
	int rc = 0;

	vec_for_each (&b->tracks, const struct fleet_track, track)
		for (uint32_t i = 0; !rc && i < track->n_runs; i++) {
			const struct fleet_run *run = &b->runs.data[track->first_run + i];

			begin.n = end.n = 0;
			begin_run(h, b, track, run, &begin);
			add_text(&end, fleet_header_indicator(h, run->indicator).name);
			rc = add_run(x, &begin, &end, b, run, err);
		}
	text_release(&begin);
	text_release(&end);
	return rc ? rc : write_rows(x, err);
}

static const struct fleet_sink into_csv = { begin_file, is_known, add_block, NULL, NULL };

int fleet_export(const struct fleet_args *a, char **words, struct err *err)
{
	struct export x = { .file = { .fd = -1 } };
	struct fleet_files files = { 0 };
	int rc, closed;

	if (!*words || !a->output)
		return args_refuse(err, "export reads files of samples and writes CSV, compressed; "
					"name them, and -o OUT");
	x.compressor = compressor_new(0, PIECE + LINE_MAX);
	rc = x.compressor ? output_open(&x.file, a->output, err)
			  : err_set(err, -ENOMEM, "no memory for compressing; close something");
	text_add(&x.lines, "recording,sequence,machine,type,cpu,core,cache,socket,application,"
			   "start_ns,end_ns,value,indicator\n");
	rc = rc ? rc : fleet_files_read(&files, words, "exporting", &into_csv, &x, err);
	rc = rc ? rc : write_rows(&x, err);
	closed = output_close(&x.file, rc ? NULL : err);
	rc = rc ? rc : closed;
	rc = rc ? rc : fleet_files_refused(&files, err);
	compressor_free(x.compressor);
	text_release(&x.lines);
	fleet_files_release(&files);
	return rc;
}
