// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/import.h"

#include <math.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/temporary.h"
#include "base/text.h"
#include "import/internal.h"
#include "trace/format.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"
#include "trace/read/reader.h"
#include "trace/write/writer.h"

static int nothing_in(const struct import *im, const char *missing, struct err *err)
{
	if (im->perf.stopped_at)
		return err_set(err, -ENODATA,
			       "interrupted before a call was found in %s; let it read on",
			       im->file);
	return err_set(err, -ENODATA,
		       "%s has no %s; `ispot check --perf-script` prints how to record them with "
		       "perf",
		       im->file, missing);
}

/* Without calls: NULL facts, a file that somebody brought, is refused; a recording is of none. */
static int scan(struct import *im, const struct import_facts *facts, struct err *err)
{
	int ret;

	im->n_cpus = 1;
	ret = perfdata_each(&im->perf, &im->source, import_scan, im, err);
	if (im->perf.stopped_at)
		interrupt_begin();
	if (im->exec_ns && !im->wide)
		im->first_ns = im->exec_ns;
	if (!ret && !im->last_ns && !facts)
		ret = nothing_in(im, "samples with a time", err);
	return ret;
}

static void write_line(struct import *im, struct text *line)
{
	trace_writer_meta(im->writer, line->s);
	line->n = 0;
}

static void write_session(struct import *im, const struct import_facts *f, struct text *line)
{
	const struct perf_event_attr *attr = &im->perf.events.data[0].attr;
	struct meta meta;
	struct meta_session *s = &meta.session;
	uint32_t i;

	meta_init(&meta);
	s->version = TRACE_VERSION;
	s->ispot_version = f->version ? f->version : "";
	s->command = f->command ? f->command : im->perf.command ? im->perf.command : "";
	i = map_get(&im->by_tid, im->first_pid);
	if (f->program)
		s->program = f->program;
	else if (i != MAP_NONE && im->threads.data[i].comm)
		s->program = im->threads.data[i].comm;
	s->start_ns = im->first_ns;
	s->clock = attr->use_clockid && attr->clockid == 1 ? "monotonic" : "perf";
	s->cpus = im->perf.cpus ? im->perf.cpus : im->n_cpus;
	s->hostname = im->perf.hostname ? im->perf.hostname : "";
	s->kernel = im->perf.kernel ? im->perf.kernel : "";
	s->machine = im->perf.machine ? im->perf.machine : "";
	s->pmu = "none";
	s->producer = f->producer ? f->producer : "import";
	s->options = f->options ? f->options : "";
	s->period = 1;
	if (f->pid || im->first_pid)
		s->pid = f->pid ? f->pid : im->first_pid;
	meta_print_session(s, line);
	write_line(im, line);
	meta_release(&meta);
}

static void notice(struct import *im, const char *code, const char *words, struct text *line)
{
	struct meta_notice n = { .code = code, .text = words };

	meta_print_notice(&n, line);
	write_line(im, line);
}

static void write_notices(struct import *im, const struct import_facts *f, struct text *line)
{
	if (f->notice)
		notice(im, "engine", f->notice, line);
	else
		notice(im, "imported",
		       "imported from a perf.data: what its probes cost is not known, so neither "
		       "is the floor; causes that only ispot record sees are missing",
		       line);
	if (!im->n_switches && im->n_halves)
		notice(im, "half-switches",
		       "sched_switch was recorded of single processes: it says when their threads "
		       "stop running, not when they go on, so waiting is not told from work; give "
		       "perf record --switch-events, or -a",
		       line);
	else if (!im->n_switches)
		notice(im, "no-switches",
		       "no context switches were recorded: waiting is not told from work; give "
		       "perf record --switch-events",
		       line);
	if (!im->sps && im->result.entries)
		notice(im, "no-stack-pointers",
		       "no stack pointers were recorded: an exit ends the innermost open call of "
		       "its function; give perf record --user-regs=sp",
		       line);
	if (im->perf.stopped_at)
		notice(im, "interrupted",
		       "interrupted: this is what was converted of the perf.data until then, not "
		       "the whole of it",
		       line);
	if (im->perf.cut_off)
		notice(im, "cut-off", "the perf.data is cut off or damaged at its end", line);
}

static void write_end(struct import *im, const struct import_facts *f, struct text *line)
{
	struct meta_end e = meta_end_unknown();

	e.present = true;
	e.end_ns = im->last_ns;
	e.made_records = im->result.entries + im->result.exits + im->result.lost;
	e.lost_records = im->result.lost;
	e.exit_status = f->reason ? f->exit_status : -1;
	e.reason = f->reason ? f->reason : "imported";
	if (f->recorder_cpu_ns)
		e.recorder_cpu_ns = f->recorder_cpu_ns;
	if (f->target_cpu_ns)
		e.target_cpu_ns = f->target_cpu_ns;
	meta_print_end(&e, line);
	write_line(im, line);
}

static void write_threads(struct import *im, struct text *line)
{
	vec_for_each (&im->threads, struct import_thread, t) {
		struct meta_thread m = {
			.tid = t->tid, .tgid = t->pid, .comm = t->comm, .seen_ns = im->first_ns
		};

		if (!t->comm || !t->tid || !t->was_there || !import_is_target(im, t))
			continue;
		meta_print_thread(&m, line);
		write_line(im, line);
	}
}

static int convert(struct import *im, const struct import_facts *facts, struct err *err)
{
	static const struct import_facts none = { 0 };
	const struct import_facts *f = facts ? facts : &none;
	struct text line = { 0 };
	int ret;

	im->last_of_cpu = xcalloc(im->n_cpus, sizeof(*im->last_of_cpu));
	im->last_ns = 0;
	layouts_read(&im->layouts, &im->perf);
	ret = perfdata_each(&im->perf, &im->source, import_read, im, err);
	order_round(&im->order, true, import_happened, im);
	if (!ret && !im->result.entries && !facts)
		ret = nothing_in(im, "calls of functions: no sample is a uprobe's", err);
	if (im->counted_lost > im->result.lost)
		im->result.lost = im->counted_lost;
	im->result.functions = (uint32_t)im->names.functions.n;
	write_session(im, f, &line);
	names_write(&im->names, im->writer);
	write_threads(im, &line);
	write_notices(im, f, &line);
	write_end(im, f, &line);
	text_release(&line);
	return ret;
}

static void import_release(struct import *im)
{
	vec_for_each (&im->threads, struct import_thread, t) {
		free(t->comm);
		vec_release(&t->open);
	}
	vec_release(&im->threads);
	map_release(&im->by_tid);
	order_release(&im->order);
	names_release(&im->names);
	layouts_release(&im->layouts);
	perfdata_release(&im->perf);
	free(im->last_of_cpu);
	source_release(&im->source);
}

/* Takes over the source. */
static int import_source(struct source *source, const char *name, const char *path,
			 const struct import_facts *facts, struct import_result *result,
			 struct err *err)
{
	struct import im = { .source = *source, .file = name };
	struct trace_writer_options o = { .path = path };
	int ret, close_ret;

	names_init(&im.names);
	ret = perfdata_open(&im.perf, &im.source, name, err);
	if (!ret)
		ret = scan(&im, facts, err);
	o.n_cpus = im.n_cpus;
	if (!ret)
		ret = trace_writer_open(&im.writer, &o, err);
	if (!ret) {
		ret = convert(&im, facts, err);
		close_ret = trace_writer_close(im.writer, ret ? NULL : err);
		ret = ret ? ret : close_ret;
	}
	*result = im.result;
	import_release(&im);
	return ret;
}

int import_file(int fd, const char *name, const char *path, const struct import_facts *facts,
		struct import_result *result, struct err *err)
{
	struct source source;
	int ret = source_open_fd(&source, fd, err);

	return ret ? ret : import_source(&source, name, path, facts, result, err);
}

static bool is_perf(struct source *s)
{
	size_t got;
	const uint8_t *start = source_at(s, 0, 16, &got);

	return perfdata_is(start, got);
}

static int import_temporary(struct trace_reader **r, struct source *source, const char *name,
			    struct err *err)
{
	struct import_result result;
	char *dir, *path;
	int ret;

	interrupt_begin();
	ret = temporary_directory(&dir, "ispot", TEMPORARY_LARGE, err);
	if (ret) {
		source_release(source);
		interrupt_end();
		return ret;
	}
	path = xasprintf("%s/ispot.data", dir);
	ret = import_source(source, name, path, NULL, &result, err);
	if (!ret)
		ret = trace_reader_open(r, path, err);
	free(path);
	temporary_release(dir);
	interrupt_end();
	return ret;
}

int import_open(struct trace_reader **r, const char *path, struct err *err)
{
	struct source source;
	int ret = source_open(&source, path, err);

	if (ret)
		return ret;
	if (is_perf(&source))
		return import_temporary(r, &source, strcmp(path, "-") ? path : "standard input",
					err);
	return trace_reader_open_source(r, &source, path, err);
}
