/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a line per call, in the order in which calls end. Times are in ns; entries count from the
 * start of the recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/export/export.h"
#include "report/export/rows.h"
#include "trace/frame/codec.h"
#include "report/table/csv.h"
#include "trace/meta/meta.h"

#define BLOCK_BYTES (1u << 20)

struct csv {
	struct compressor *compressor; /* NULL: plain */
	struct text block;	       /* not written yet */
};

static void begin(struct export *e)
{
	const char *path = e->options->output;
	size_t n = strlen(path);
	struct csv *s = xcalloc(1, sizeof(*s));

	e->state = s;
	if (n > 4 && !strcmp(path + n - 4, ".zst"))
		s->compressor = compressor_new(0, 2 * BLOCK_BYTES);
	text_add(&s->block, "pid,tid,comm,function,object,entry_ns,duration_ns,own_ns,cpu,end\n");
}

static void write_block(struct export *e, struct csv *s)
{
	const void *frame = s->block.s;
	size_t n = s->block.n;

	if (s->compressor && compressor_plain(s->compressor, s->block.s, s->block.n, &frame, &n))
		e->failed = -EIO;
	export_write(e, frame, n);
	s->block.n = 0;
}

static void field(struct text *out, const char *s)
{
	csv_print_text(s ? s : "", out);
	text_add(out, ",");
}

static void on_call(struct export *e, const struct thread *t, const struct call *c)
{
	struct csv *s = e->state;
	const struct meta_function *f = meta_function(e->meta, c->id);

	text_printf(&s->block, "%u,%u,", t->tgid, t->tid);
	field(&s->block, t->comm);
	field(&s->block, export_function_name(e, c->id));
	field(&s->block, meta_object(e->meta, f->object)->path);
	text_printf(&s->block, "%llu,%llu,", (unsigned long long)export_since(e, c->entry_ns),
		    (unsigned long long)c->duration_ns);
	if (!c->own_unknown)
		text_printf(&s->block, "%llu", (unsigned long long)c->own_ns);
	text_printf(&s->block, ",%u,%s\n", c->entry_cpu, c->end == CALL_OPEN ? "open" : "exit");
	if (s->block.n >= BLOCK_BYTES)
		write_block(e, s);
}

static void end(struct export *e)
{
	struct csv *s = e->state;

	write_block(e, s);
	compressor_free(s->compressor);
	text_release(&s->block);
	free(s);
}

const struct export_format export_csv = {
	.name = "csv",
	.what = "a line per call; compressed where OUT ends with .zst",
	.begin = begin,
	.call = on_call,
	.end = end,
};
