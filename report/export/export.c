/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "report/export/export.h"
#include "import/import.h"
#include "trace/meta/meta.h"
#include "base/output.h"
#include "trace/read/reader.h"
#include "trace/record.h"

#define OUT_BYTES	 (256u << 10) /* written at once */
#define PROGRESS_RECORDS (1u << 18)

static void flush(struct export *e)
{
	if (e->out.n && !e->failed)
		e->failed = output_write(e->file, e->out.s, e->out.n);
	e->out.n = 0;
}

void export_write(struct export *e, const void *data, size_t n)
{
	flush(e);
	if (!e->failed)
		e->failed = output_write(e->file, data, n);
}

const char *export_function_name(const struct export *e, uint32_t id)
{
	const struct meta_function *f = meta_function(e->meta, id);

	return f->name && *f->name ? f->name : f->symbol;
}

const char *export_thread_name(const struct export *e, const struct thread *t)
{
	const struct meta_session *s = &e->meta->session;

	if (t->comm[0])
		return t->comm;
	if (s->program && *s->program)
		return s->program;
	return s->command && *s->command ? s->command : "unknown";
}

uint64_t export_since(const struct export *e, uint64_t time_ns)
{
	return time_ns > e->start_ns ? time_ns - e->start_ns : 0;
}

void export_json_string(struct text *out, const char *s)
{
	text_add(out, "\"");
	while (*s) {
		uint32_t code;
		size_t n = text_utf8(s, &code);

		if (!n)
			text_add(out, "?");
		else if (text_is_control(code))
			text_printf(out, "\\u%04x", code);
		else if (*s == '"' || *s == '\\')
			text_printf(out, "\\%c", *s);
		else
			text_addn(out, s, n);
		s += n ? n : 1;
	}
	text_add(out, "\"");
}

/* ---- the pass ---- */

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	struct export *e = self;
	uint64_t limit = e->options->limit ? e->options->limit : e->format->limit;

	if (!call_has_times(c)) {
		e->without_end++;
		return;
	}
	if (limit && e->exported >= limit) {
		e->beyond++;
		return;
	}
	e->exported++;
	e->format->call(e, t, c);
	if (e->out.n >= OUT_BYTES)
		flush(e);
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	struct export *e = self;

	if (e->format->record)
		e->format->record(e, t, r);
	if (e->out.n >= OUT_BYTES)
		flush(e);
}

static void pass(struct export *e, struct trace_reader *r, uint64_t end_ns)
{
	uint64_t from_ns = e->start_ns + e->options->from_ns, n = 0;
	struct progress progress;
	struct record rec;
	bool more = trace_reader_next(r, &rec);

	progress_init(&progress, "exporting the recording");
	interrupt_begin();
	if (e->options->from_ns) {
		for (; more && record_due_ns(&rec) < from_ns && !interrupt_noted();
		     more = trace_reader_next(r, &rec)) {
			calls_skip(&e->calls, &rec);
			if (++n % PROGRESS_RECORDS == 0)
				progress_share(&progress, trace_reader_position(r));
		}
		calls_restart(&e->calls, from_ns);
	}
	for (; more && record_due_ns(&rec) <= end_ns && !e->failed && !interrupt_noted();
	     more = trace_reader_next(r, &rec)) {
		calls_record(&e->calls, &rec);
		if (++n % PROGRESS_RECORDS == 0)
			progress_share(&progress, trace_reader_position(r));
	}
	progress_end(&progress);
	e->interrupted = interrupt_noted() && more;
	interrupt_end();
	if (e->interrupted && rec.time_ns < end_ns)
		end_ns = rec.time_ns;
	calls_end(&e->calls, end_ns);
}

static uint64_t end_of(const struct export *e, const struct trace_reader *r)
{
	uint64_t last = trace_reader_last_ns(r), wanted = e->options->to_ns;

	if (e->meta->end.present && e->meta->end.end_ns != META_UNKNOWN &&
	    e->meta->end.end_ns > last)
		last = e->meta->end.end_ns;
	return wanted < last - e->start_ns ? e->start_ns + wanted : last;
}

static int check_window(const struct export *e, const struct trace_reader *r, struct err *err)
{
	uint64_t length_ns = trace_reader_last_ns(r) - e->start_ns;

	if (!e->options->from_ns || e->options->from_ns < length_ns)
		return 0;
	return err_set(
		err, -EINVAL,
		"--time starts at %.3f s, but the recording lasts %.3f s; give times inside it",
		(double)e->options->from_ns / 1e9, (double)length_ns / 1e9);
}

static void write_calls(struct export *e, struct trace_reader *r)
{
	struct call_visitor v = { .self = e, .call = on_call, .record = on_record };

	calls_init(&e->calls, e->meta, e->start_ns);
	calls_add_visitor(&e->calls, &v);
	if (e->format->begin)
		e->format->begin(e);
	pass(e, r, end_of(e, r));
	if (e->format->end)
		e->format->end(e);
	calls_release(&e->calls);
}

static int write_all(struct export *e, struct trace_reader *r, struct err *err)
{
	int rc = 0;

	if (e->format->whole)
		rc = e->format->whole(e, r, err);
	else
		write_calls(e, r);
	if (!rc)
		flush(e);
	return rc;
}

int export_run(struct export *e, const struct export_format *format, const struct export_options *o,
	       struct err *err)
{
	struct trace_reader *r = NULL;
	struct output file = { .fd = -1 };
	int rc = import_open(&r, o->input, err);

	*e = (struct export){ .options = o, .format = format };
	if (rc)
		return rc;
	e->meta = trace_reader_meta(r);
	e->start_ns = e->meta->session.start_ns != META_UNKNOWN && e->meta->session.start_ns
			      ? e->meta->session.start_ns
			      : trace_reader_first_ns(r);
	e->file = &file;
	rc = check_window(e, r, err);
	if (!rc)
		rc = output_open(&file, o->output, err);
	if (!rc) {
		int closed;

		rc = write_all(e, r, err);
		closed = output_close(&file, rc ? NULL : err);
		rc = rc ? rc : closed;
	}
	text_release(&e->out);
	trace_reader_free(r);
	e->file = NULL;
	e->meta = NULL;
	return rc;
}
