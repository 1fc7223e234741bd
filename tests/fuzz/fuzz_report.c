// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Any bytes as a trace, through the whole of what follows on the reader: one kind of analysis, all
 * views of it, an export and a comparison, chosen by the bytes. Built with codec_raw.c. What it may
 * take is bounded by the options of `run`: time by -timeout, memory by -rss_limit_mb.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/diff/diff.h"
#include "analysis/result/grouping.h"
#include "analysis/result/result.h"
#include "analysis/result/slow.h"
#include "analysis/result/timeline.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/diff.h"
#include "report/block/json.h"
#include "report/block/rank.h"
#include "report/block/transitions.h"
#include "report/block/view.h"
#include "report/export/export.h"
#include "report/export/formats.h"
#include "report/html/html.h"
#include "report/screen/text.h"
#include "report/screen/transitions.h"
#include "report/slow/slow.h"
#include "trace/read/reader.h"

static char in_path[64], out_path[] = "/tmp/ispot-fuzz.XXXXXX";

/* A terminal obeys ESC and the C1 control characters, whatever name they come from. */
static void must_be_tame(const struct text *out)
{
	for (size_t i = 0; i < out->n; i++) {
		unsigned char c = (unsigned char)out->s[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			abort();
		if (c == 0xc2 && i + 1 < out->n && (unsigned char)out->s[i + 1] < 0xa0)
			abort();
	}
}

static void views(struct view *v, const struct timeline *timeline)
{
	void (*const plain[])(const struct view *, struct text *) = { report_text, report_json,
								      report_csv };
	struct text out = { 0 };

	view_rank(v);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		out.n = 0;
		plain[i](v, &out);
		must_be_tame(&out);
	}
	out.n = 0;
	report_html(v, timeline, &out);
	must_be_tame(&out);
	for (unsigned i = 0; v->result->transitions && i < 2; i++) {
		out.n = 0;
		(i ? report_transitions_csv : report_transitions_text)(v, &out);
		must_be_tame(&out);
	}
	text_release(&out);
	free(v->rows);
	v->rows = NULL;
	v->n_rows = 0;
}

static void slow_view(struct view *v, struct trace_reader *r, const struct result_options *o)
{
	const struct result *res = v->result;
	struct slow slow = { 0 };
	struct text out = { 0 };

	if (!res->blocks.n)
		return;
	if (!slow_read(&slow, res, r, o, res->blocks.data[res->blocks.n / 2].name, NULL)) {
		report_slow(v, &slow, &out);
		must_be_tame(&out);
		out.n = 0;
		report_slow_json(v, &slow, &out);
		must_be_tame(&out);
	}
	slow_release(&slow);
	text_release(&out);
}

static void report(struct trace_reader *r, const char *by, bool of_sequences)
{
	struct timeline timeline = { 0 };
	struct grouping grouping = { .of_sequences = of_sequences };
	struct result_options o = { .to_ns = UINT64_MAX };
	struct result result;
	struct blocks by_thread = { 0 };
	struct view v = { .result = &result, .file = "x", .blocks = &result.blocks, .width = 80 };

	if (grouping_find(by, &grouping.by, NULL))
		abort();
	o.visitors[0] = timeline_calls(&timeline);
	o.visitors[1] = timeline_losses(&timeline);
	if (!grouping_read(&grouping, r, &o, &result, NULL)) {
		v.by_thread = !strcmp(by, "thread");
		if (v.by_thread)
			view_thread_blocks(&result, &by_thread);
		if (v.by_thread)
			v.blocks = &by_thread;
		else if (result.keyed.rule.kind != BLOCK_FUNCTION)
			v.blocks = &result.groups;
		views(&v, &timeline);
		v.all = v.totals = true;
		views(&v, &timeline);
		/* A view by thread is only of threads' blocks. */
		v.by_thread = false;
		v.blocks = &result.blocks;
		views(&v, &timeline);
		if (!strcmp(by, "function"))
			slow_view(&v, r, &o);
		blocks_release(&by_thread);
		result_release(&result);
	}
	timeline_release(&timeline);
	grouping_release(&grouping);
}

static void export_as(const struct export_format *format)
{
	struct export_options o = { .input = in_path, .output = out_path, .to_ns = UINT64_MAX };
	struct export e;

	unlink(out_path);
	export_run(&e, format, &o, NULL);
}

static void compare(void)
{
	const char *path = in_path;
	struct diff diff = { 0 };
	struct diff_view v = { .diff = &diff, .all = true, .width = 80 };
	struct text out = { 0 };

	if (!diff_read(&diff, &path, 1, &path, 1, NULL)) {
		report_diff_text(&v, &out);
		report_diff_json(&v, &out);
		must_be_tame(&out);
	}
	text_release(&out);
	diff_release(&diff);
}

static void open_paths(int *fd)
{
	*fd = memfd_create("trace", 0);
	snprintf(in_path, sizeof(in_path), "/proc/self/fd/%d", *fd);
	close(mkstemp(out_path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kinds[] = { "function", "lock",   "sequence",
					     "site",	 "thread", "transition" };
	uint64_t choice = hash_bytes(data, size);
	struct trace_reader *reader;
	static int fd = -1;

	if (trace_reader_open_memory(&reader, data, size, NULL))
		return -1; /* that is fuzz_reader's */
	report(reader, kinds[choice % 6], choice >> 24 & 1);
	trace_reader_free(reader);
	if (fd < 0)
		open_paths(&fd);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	export_as(export_formats[(choice >> 8) % export_formats_n]);
	if (choice >> 16 & 1)
		compare();
	unlink(out_path);
	return 0;
}
