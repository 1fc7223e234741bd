// SPDX-License-Identifier: GPL-3.0-or-later
/* dump: a trace as text, and text as a trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/result/result.h"
#include "base/err.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/screen.h"
#include "cli/pager.h"
#include "import/import.h"
#include "trace/fixture/fixture.h"
#include "trace/fixture/print.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "trace/record.h"

#define OUTPUT_BYTES (64u << 10) /* written out at once */

struct dump_options {
	struct screen_options screen;
	const char *input, *time, *from_text, *output;
	uint64_t tid;
	bool meta, events;
	/* from --time, relative to the start of the recording */
	uint64_t from_ns, to_ns;
};

static const struct option_row options[] = {
	{ 'i', "input", "FILE", ARG_STRING, offsetof(struct dump_options, input),
	  "read FILE (default ispot.data)", NULL },
	{ 0, "time", "A-B", ARG_STRING, offsetof(struct dump_options, time),
	  "show only A to B after the start (2s-5s, 500ms-)", NULL },
	{ 0, "tid", "N", ARG_U64, offsetof(struct dump_options, tid),
	  "print only thread N, and dropped events", NULL },
	{ 0, "meta", NULL, ARG_FLAG, offsetof(struct dump_options, meta),
	  "print only what describes the recording", NULL },
	{ 0, "events", NULL, ARG_FLAG, offsetof(struct dump_options, events),
	  "print only the records", NULL },
	{ 0, "from-text", "TEXT", ARG_STRING, offsetof(struct dump_options, from_text),
	  "make a recording from the text file TEXT ('-' reads stdin)", NULL },
	{ 'o', "output", "FILE", ARG_STRING, offsetof(struct dump_options, output),
	  "with --from-text: write the recording to FILE", NULL },
	SCREEN_PAGER_ROW(struct dump_options, screen),
	{ 0 },
};

static const char *const examples[] = {
	"ispot dump | less",
	"everything, one record a line",
	"ispot dump --events --tid 4711 --time 1.5s-1.6s",
	"what one thread did in a tenth of a second",
	"ispot dump --meta | jq 'select(.kind == \"function\")'",
	"the traced functions",
	"ispot dump >t.txt; ispot dump --from-text t.txt -o again.data",
	"to text and back",
	NULL,
};

static int parse_window(struct dump_options *o, struct err *err)
{
	if (!text_parse_window(o->time, &o->from_ns, &o->to_ns))
		return 0;
	return args_refuse(
		err, "--time: not a time range; give A-B, two times since the start such as 2s-5s");
}

static int check(struct dump_options *o, int n_words, char **words, struct err *err)
{
	if (n_words == 1 && !o->input) /* `ispot dump x.data` */
		o->input = words[0];
	else if (n_words)
		return args_refuse(err, "more than one file is given; name one: -i FILE");
	if (o->from_text && (o->time || o->meta || o->events || o->input || o->tid != UINT64_MAX))
		return args_refuse(err, "--from-text makes a trace; give it with -o FILE only");
	if (o->output && !o->from_text)
		return args_refuse(
			err,
			"-o names a trace to make from --from-text; redirect standard output instead");
	return o->time ? parse_window(o, err) : 0;
}

/* ---- text to trace ---- */

static int make_trace(const struct dump_options *o, struct err *err)
{
	bool is_stdin = !strcmp(o->from_text, "-");
	FILE *in = is_stdin ? stdin : fopen(o->from_text, "re");
	int ret;

	if (!in)
		return err_set(err, -errno,
			       errno == EACCES ? "cannot read %s: %s; run the command with sudo, "
						 "or as the user who owns the file"
					       : "cannot read %s: %s; name a file that may be read",
			       o->from_text, strerror(errno));
	ret = fixture_write(in, o->output ? o->output : "ispot.data", err);
	if (ret)
		err_prefix(err, "%s", is_stdin ? "standard input" : o->from_text);
	if (!is_stdin)
		fclose(in);
	return ret;
}

/* ---- trace to text ---- */

static int write_out(struct text *out, size_t at_least, struct err *err)
{
	if (out->n < at_least || out->n == 0)
		return 0;
	if (fwrite(out->s, 1, out->n, stdout) != out->n)
		return err_set(err, -errno, "cannot write to standard output: %s; is there room?",
			       strerror(errno));
	out->n = 0;
	return 0;
}

static void add_meta_line(void *out, const char *line, size_t n)
{
	fixture_print_meta_line(line, n, out);
}

static bool is_wanted(const struct dump_options *o, const struct record *r, uint64_t start_ns)
{
	uint64_t since_ns = r->time_ns > start_ns ? r->time_ns - start_ns : 0;

	if (since_ns < o->from_ns || since_ns > o->to_ns)
		return false;
	return o->tid == UINT64_MAX || r->tid == o->tid || r->kind == REC_LOST;
}

/* Reports that no record was selected, so that nobody thinks that the program did nothing. */
static void report_none(const struct dump_options *o, const char *path, uint64_t lasts_ns)
{
	char time[TEXT_NUMBER];

	if (o->tid == UINT64_MAX)
		log_notice("%s: no record in %s, and the recording lasts %s", path, o->time,
			   text_time(time, lasts_ns));
	else if (o->time)
		log_notice("%s: no record of thread %llu in %s", path, (unsigned long long)o->tid,
			   o->time);
	else
		log_notice("%s: no record of thread %llu; run `ispot report --by thread` to list "
			   "those that have any",
			   path, (unsigned long long)o->tid);
}

static int dump_records(const struct dump_options *o, const char *path, struct trace_reader *reader,
			struct text *out, struct err *err)
{
	const struct meta *meta = trace_reader_meta(reader);
	struct fixture_names *names = fixture_names_new(meta);
	const bool to_screen = isatty(STDOUT_FILENO) || pager_active();
	const struct record *records;
	struct progress progress;
	uint64_t printed = 0, start_ns, end_ns;
	size_t n;
	int ret = 0;

	result_span(reader, &start_ns, &end_ns);
	progress_init(&progress, "printing the recording");
	text_add(out, FIXTURE_RECORDED_ORDER ": time-ns cpu tid/tgid kind …\n");
	while (!ret && (n = trace_reader_batch(reader, &records))) {
		for (size_t i = 0; i < n; i++)
			if (is_wanted(o, &records[i], start_ns)) {
				fixture_print_record(names, &records[i], out);
				printed += o->tid == UINT64_MAX || records[i].tid == o->tid;
			}
		ret = write_out(out, OUTPUT_BYTES, err);
		if (!to_screen)
			progress_share(&progress, trace_reader_position(reader));
	}
	progress_end(&progress);
	if (!ret && !printed && (o->time || o->tid != UINT64_MAX))
		report_none(o, path, end_ns > start_ns ? end_ns - start_ns : 0);
	fixture_names_free(names);
	return ret;
}

static int dump_trace(const struct dump_options *o, struct err *err)
{
	const char *path = o->input ? o->input : "ispot.data";
	struct trace_reader *reader = NULL;
	struct text out = { 0 };
	int ret = import_open(&reader, path, err);

	if (ret)
		return ret;
	if (!o->events || o->meta)
		trace_reader_each_meta_line(reader, add_meta_line, &out);
	ret = write_out(&out, 0, err);
	if (!ret && (!o->meta || o->events))
		ret = dump_records(o, path, reader, &out, err);
	if (!ret)
		ret = write_out(&out, 0, err);
	if (!ret && trace_reader_damage(reader))
		log_notice("%s: %s", path, trace_reader_damage(reader));
	text_release(&out);
	trace_reader_free(reader);
	return ret;
}

static int run_dump(int argc, char **argv, struct err *err)
{
	struct dump_options o = { .tid = UINT64_MAX, .to_ns = UINT64_MAX };
	int first, ret = args_parse(options, &o, 0, argc, argv, &first, err);

	if (!ret)
		ret = check(&o, argc - first, argv + first, err);
	if (!ret)
		ret = screen_begin(&o.screen, err);
	if (ret)
		return ret;
	return o.from_text ? make_trace(&o, err) : dump_trace(&o, err);
}

const struct command cmd_dump = {
	.name = "dump",
	.alias = "script",
	.summary = "print a recording as text, or make one from text",
	.usage = "ispot dump [[-i] FILE] [--time A-B] [--tid N] [--meta | --events]\n"
		 "           [--no-pager]\n"
		 "ispot dump --from-text TEXT [-o FILE]",
	.examples = examples,
	.options = options,
	.needs = CMD_READS_TRACE,
	.run = run_dump,
};
