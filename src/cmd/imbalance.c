/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/counted.h"
#include "analysis/parallel.h"
#include "analysis/result.h"
#include "args.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "command.h"
#include "memory.h"
#include "screen.h"
#include "probes/valgrind.h"
#include "report/imbalance.h"
#include "trace/meta.h"
#include "trace/reader.h"

#define NOTICES_MAX 4

struct imbalance_options {
	const char *input, *section, *time;
	uint64_t top;
	double threshold;
	bool json, caches;
};

static const struct option_row options[] = {
	{ 'i', "input", "FILE", ARG_STRING, offsetof(struct imbalance_options, input),
	  "read FILE instead of ispot.data", NULL },
	{ 0, "section", "NAME", ARG_STRING, offsetof(struct imbalance_options, section),
	  "take the calls of a function or marker as the sections", NULL },
	{ 0, "time", "A-B", ARG_STRING, offsetof(struct imbalance_options, time),
	  "only from A to B after the start (2s-5s, 500ms-)", NULL },
	{ 0, "caches", NULL, ARG_FLAG, offsetof(struct imbalance_options, caches),
	  "with CMD: count cache misses too, slower", NULL },
	{ 0, "threshold", "R", ARG_F64, offsetof(struct imbalance_options, threshold),
	  "with CMD: events that correlate by R or more go together (0.9)", NULL },
	{ 0, "top", "N", ARG_ABOVE_0, offsetof(struct imbalance_options, top), "show N sections",
	  NULL },
	{ 0, "json", NULL, ARG_FLAG, offsetof(struct imbalance_options, json),
	  "write JSON to standard output", NULL },
	{ 0 },
};

static const char *const examples[] = {
	"ispot imbalance",
	"which parallel sections lose time to their slowest thread",
	"ispot imbalance -- ./app 8",
	"which lines make its threads uneven, counted by valgrind",
	"ispot imbalance --section worker",
	"calls of worker that run at the same time are a section",
	"ispot imbalance --json | jq '.sections[] | {name, imbalance}'",
	"for scripts",
	NULL,
};

/* What the sections' numbers do not say themselves; freed by the caller. */
static size_t find_notices(const struct parallel *p, struct trace_reader *r, char **notices)
{
	const char *damage = trace_reader_damage(r);
	char number[TEXT_COUNTED];
	size_t n = 0;

	if (damage)
		notices[n++] = xstrdup(damage);
	if (p->lost_records)
		notices[n++] = xasprintf("%s lost: a section that a thread's loss falls into is "
					 "without that thread",
					 text_counted(number, p->lost_records, "record"));
	if (p->sampled)
		notices[n++] = xasprintf("%s of barriers left no record, because calls were "
					 "sampled: sections are too few and too long",
					 text_counted(number, p->sampled, "call"));
	if (p->bodiless)
		notices[n++] = xasprintf("of %s no thread's part was recorded; record them with "
					 "-F GOMP_parallel -F '*._omp_fn.*' (clang: -F "
					 "__kmpc_fork_call -F '*.omp_outlined*')",
					 text_counted(number, p->bodiless, "OpenMP region"));
	return n;
}

static int show(const struct imbalance_options *o, const struct parallel *p, struct trace_reader *r,
		const struct result_options *ro, struct err *err)
{
	const struct meta *meta = trace_reader_meta(r);
	char *notices[NOTICES_MAX + 1] = { NULL };
	uint64_t from = trace_reader_first_ns(r), to = trace_reader_last_ns(r);
	struct text out = { 0 };
	struct imbalance_view v = {
		.imbalance = &p->imbalance,
		.program = meta->session.program ? meta->session.program : "",
		.command = meta->session.command ? meta->session.command : "",
		.file = o->input,
		.notices = (const char *const *)notices,
		.top = o->top,
		.colours = screen_colours(),
		.utf8 = text_locale_is_utf8(),
		.width = screen_width(),
	};
	size_t n = find_notices(p, r, notices);
	int rc;

	if (meta->session.start_ns != META_UNKNOWN && meta->session.start_ns < from)
		from = meta->session.start_ns;
	if (meta->end.present && meta->end.end_ns > to)
		to = meta->end.end_ns;
	v.duration_ns = ro->to_ns < to - from ? ro->to_ns : to - from;
	v.duration_ns -= ro->from_ns < v.duration_ns ? ro->from_ns : v.duration_ns;
	(o->json ? report_imbalance_json : report_imbalance_text)(&v, &out);
	rc = screen_write(&out, err);
	text_release(&out);
	while (n)
		free(notices[--n]);
	return rc;
}

static int read_sections(const struct imbalance_options *o, const struct result_options *ro,
			 struct err *err)
{
	struct trace_reader *r = NULL;
	struct parallel p = { 0 };
	struct call_visitor v;
	struct calls calls;
	int rc = trace_reader_open(&r, o->input, err);

	if (rc)
		return rc;
	rc = parallel_init(&p, trace_reader_meta(r), &calls, o->section, err);
	v = parallel_visitor(&p);
	if (!rc)
		rc = result_scan(&calls, r, ro, &v, err);
	if (!rc)
		rc = show(o, &p, r, ro, err);
	parallel_release(&p);
	trace_reader_free(r);
	return rc;
}

/* ---- counting ---- */

static int print_counted(const struct imbalance_options *o, const struct counted *c, char **argv,
			 struct err *err)
{
	static const char *const none[] = { NULL };
	const char *slash = strrchr(argv[0], '/');
	struct text out = { 0 }, command = { 0 };
	struct imbalance_view v = {
		.imbalance = &c->imbalance,
		.counted = c,
		.program = slash ? slash + 1 : argv[0],
		.notices = none,
		.top = o->top,
		.colours = screen_colours(),
		.utf8 = text_locale_is_utf8(),
		.width = screen_width(),
	};
	int rc;

	for (char **word = argv; *word; word++)
		text_printf(&command, "%s%s", word == argv ? "" : " ", *word);
	v.command = command.s;
	(o->json ? report_imbalance_json : report_imbalance_text)(&v, &out);
	rc = screen_write(&out, err);
	text_release(&out);
	text_release(&command);
	return rc;
}

static int read_dumps(struct callgrind *run, const char *dir, struct err *err)
{
	struct dirent **files;
	int n = scandir(dir, &files, NULL, alphasort), rc = 0;

	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, files[i]->d_name);

		if (!rc && !strncmp(files[i]->d_name, "cg", 2)) {
			rc = callgrind_read(run, path, err);
			rc = rc == -EINVAL ? 0 : rc; /* an empty one */
		}
		unlink(path);
		free(path);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
	rmdir(dir);
	return rc;
}

/* Runs the command under valgrind; its dumps are read and removed. */
static int count(const struct imbalance_options *o, char **argv, struct callgrind *run,
		 struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf("%s/ispot-imbalance.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	struct valgrind_options vo = { .before = counted_barriers,
				       .around = counted_bodies,
				       .caches = o->caches,
				       .dir = dir };
	int status = 0, rc;

	if (!mkdtemp(dir)) {
		rc = err_set(err, -errno, "%s: %s; set TMPDIR to a directory with room", dir,
			     strerror(errno));
		free(dir);
		return rc;
	}
	memory_unbound(); /* the command's is its own affair */
	rc = valgrind_run(argv, &vo, &status, err);
	memory_bound(NULL);
	if (rc)
		read_dumps(&(struct callgrind){ 0 }, dir, NULL);
	else
		rc = read_dumps(run, dir, err);
	if (!rc && !run->places.n) {
		rc = err_set(err, -ENODATA,
			     "%s ran nothing that valgrind could count (status %d); does `valgrind "
			     "%s` work?",
			     argv[0], status, argv[0]);
		err->exit_status = status == 126 || status == 127 ? status : 0;
	}
	free(dir);
	return rc;
}

static int run_counted(const struct imbalance_options *o, char **argv, struct err *err)
{
	struct cluster_options co = { o->threshold, CLUSTER_BULK };
	struct callgrind run = { 0 };
	struct counted c = { 0 };
	int rc = count(o, argv, &run, err);

	if (!rc) {
		counted_find(&c, &run, &co);
		rc = print_counted(o, &c, argv, err);
		counted_release(&c);
	}
	callgrind_release(&run);
	return rc;
}

/* ---- either ---- */

static int run_imbalance(int argc, char **argv, struct err *err)
{
	struct imbalance_options o = { .threshold = CLUSTER_THRESHOLD };
	struct result_options ro = { .to_ns = UINT64_MAX };
	int first, rc = args_parse(options, &o, ARGS_STOP_AT_WORD | ARGS_KEEP_DASHES, argc, argv,
				   &first, err);
	bool command = !rc && first < argc && !strcmp(argv[first], "--");

	if (rc)
		return rc;
	if (!(o.threshold > 0 && o.threshold <= 1))
		return args_refuse(err,
				   "--threshold is a correlation; give more than 0, at most 1");
	if (command && (o.input || o.section || o.time || first + 1 == argc))
		return args_refuse(err, "with -- give a command, and no -i, --section or --time");
	if (command)
		return run_counted(&o, argv + first + 1, err);
	if (argc - first == 1 && !o.input)
		o.input = argv[first];
	else if (argc > first)
		return args_refuse(
			err, "imbalance reads one file, or runs a command: -i FILE, or -- CMD");
	if (o.caches || o.threshold != CLUSTER_THRESHOLD)
		return args_refuse(err, "--caches and --threshold are for counting; give -- CMD");
	if (!o.input)
		o.input = "ispot.data";
	if (o.time && text_parse_window(o.time, &ro.from_ns, &ro.to_ns))
		return args_refuse(err,
				   "--time wants A-B, two times since the start such as 2s-5s");
	return read_sections(&o, &ro, err);
}

const struct command cmd_imbalance = {
	.name = "imbalance",
	.summary = "find threads that wait for the slowest of them",
	.usage = "ispot imbalance [[-i] FILE] [--section NAME] [--time A-B] [--top N] [--json]\n"
		 "ispot imbalance [--caches] [--threshold R] [--top N] [--json] -- CMD...",
	.examples = examples,
	.options = options,
	.needs = CMD_READS_TRACE | CMD_PAGER,
	.run = run_imbalance,
};
