// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "trace/fixture_line.h"
#include "trace/meta.h"
#include "trace/writer.h"

#define AMBIGUOUS (MAP_NONE - 1)

/* Stack pointers made up: threads apart from each other, frames of 64 bytes growing down. */
#define SP_TOP	   0x7ffc00000000u
#define SP_PER_TID 0x100000u
#define SP_FRAME   64

struct fixture {
	struct {
		VEC(char *)
	} meta_lines, added_lines; /* as written; for undeclared functions and the end */
	struct {
		VEC(struct fixture_record)
	} records;
	struct meta meta;    /* of meta_lines */
	struct strtab names; /* of functions */
	struct {
		VEC(uint32_t)
	} ids; /* by name: function id or AMBIGUOUS */
	uint32_t next_id;
	bool has_session, has_end;
	bool in_recorded_order;
};

static void fixture_release(struct fixture *x)
{
	vec_for_each (&x->meta_lines, char *, line)
		free(*line);
	vec_for_each (&x->added_lines, char *, line)
		free(*line);
	vec_for_each (&x->records, struct fixture_record, f)
		fixture_record_release(f);
	vec_release(&x->meta_lines);
	vec_release(&x->added_lines);
	vec_release(&x->records);
	vec_release(&x->ids);
	strtab_release(&x->names);
	meta_release(&x->meta);
}

/* ---- lines ---- */

static int add_meta_line(struct fixture *x, const char *line, struct err *err)
{
	struct json *json = json_parse(line, strlen(line));
	const char *kind = json_string(json, "kind", "");

	if (!json)
		return err_set(err, -EINVAL,
			       "this is not JSON; a line that begins with { is one object");
	x->has_session |= !strcmp(kind, "session");
	x->has_end |= !strcmp(kind, "end");
	json_free(json);
	meta_read_line(&x->meta, line, strlen(line));
	*vec_add(&x->meta_lines) = xstrdup(line);
	return 0;
}

static int add_line(struct fixture *x, char *line, size_t number, struct err *err)
{
	struct fixture_record *f;

	line[strcspn(line, "\r\n")] = 0;
	line += strspn(line, " \t");
	if (*line == '#')
		x->in_recorded_order |=
			!strncmp(line, FIXTURE_RECORDED_ORDER, strlen(FIXTURE_RECORDED_ORDER));
	if (!*line || *line == '#')
		return 0;
	if (*line == '{')
		return add_meta_line(x, line, err);
	f = vec_add(&x->records);
	f->line = number;
	return fixture_parse_record(line, f, err);
}

static int read_lines(struct fixture *x, FILE *in, struct err *err)
{
	char *line = NULL;
	size_t room = 0, number = 0;
	int ret = 0;

	while (!ret && getline(&line, &room, in) >= 0) {
		number++;
		ret = add_line(x, line, number, err);
		if (ret)
			err_prefix(err, "line %zu", number);
	}
	if (!ret && ferror(in))
		ret = err_set(err, -EIO, "cannot read the text: %s", strerror(errno));
	free(line);
	return ret;
}

/* ---- functions ---- */

static void learn_names(struct fixture *x)
{
	vec_for_each (&x->meta.functions, struct meta_function, f) {
		uint32_t i;

		if (!f->symbol)
			continue;
		i = strtab_add(&x->names, f->name);
		if (i == x->ids.n)
			*vec_add(&x->ids) = f->id;
		else
			x->ids.data[i] = AMBIGUOUS;
	}
	x->next_id = (uint32_t)x->meta.functions.n;
}

static void keep_line(struct fixture *x, struct text *line)
{
	*vec_add(&x->added_lines) = line->s;
	*line = (struct text){ 0 };
}

static void declare_function(struct fixture *x, const char *name)
{
	struct meta_object object = { .path = "app", .build_id = "" };
	struct meta_function f = {
		.id = x->next_id,
		.name = name,
		.symbol = name,
		.address = 0x1000 + (uint64_t)x->next_id * 0x100,
		.size_bytes = 0x100,
		.file = "",
		.block = "function",
		.chosen = true,
		.parameters = META_UNKNOWN,
	};
	struct text line = { 0 };

	if (x->meta.objects.n == 0 && x->added_lines.n == 0) {
		meta_print_object(&object, &line);
		keep_line(x, &line);
	}
	meta_print_function(&f, &line);
	keep_line(x, &line);
	*vec_add(&x->ids) = x->next_id++;
}

static int resolve(struct fixture *x, const struct fixture_function *f, uint32_t *id,
		   struct err *err)
{
	uint32_t i;

	*id = f->id;
	if (!f->name)
		return 0;
	i = strtab_add(&x->names, f->name);
	if (i == x->ids.n)
		declare_function(x, f->name);
	*id = x->ids.data[i];
	if (*id == AMBIGUOUS)
		return err_set(err, -EINVAL,
			       "more than one function is called %s; write @ and its id", f->name);
	return 0;
}

static int bind_records(struct fixture *x, struct err *err)
{
	vec_for_each (&x->records, struct fixture_record, f) {
		uint32_t id = 0;
		int ret = f->has_function ? resolve(x, &f->function, &id, err) : 0;

		if (ret)
			return err_prefix(err, "line %zu", f->line), ret;
		fixture_record_bind(f, id);
	}
	return 0;
}

/* ---- stack pointers ---- */

struct open_call {
	uint32_t tid, id;
	uint64_t sp;
};

/* The open calls of all threads, innermost last. */
struct open_calls {
	VEC(struct open_call)
};

static void open_call(struct open_calls *open, struct fixture_record *f)
{
	uint64_t sp = SP_TOP + (uint64_t)f->r.tid * SP_PER_TID;

	vec_for_each (open, struct open_call, c)
		if (c->tid == f->r.tid)
			sp = c->sp;
	if (!f->has_sp)
		f->r.sp = sp - SP_FRAME;
	*vec_add(open) = (struct open_call){ f->r.tid, f->r.id, f->r.sp };
}

/* The innermost open call of the function; false: there is none. Those inside of it were unwound.
 */
static bool close_call(struct open_calls *open, struct fixture_record *f)
{
	for (size_t i = open->n; i-- > 0;) {
		struct open_call *c = &open->data[i];

		if (c->tid != f->r.tid || c->id != f->r.id || (f->has_sp && c->sp != f->r.sp))
			continue;
		f->r.sp = c->sp;
		memmove(c, c + 1, (open->n - i - 1) * sizeof(*c));
		open->n--;
		return true;
	}
	return f->has_sp;
}

static int make_stack_pointers(struct fixture *x, struct err *err)
{
	struct open_calls open = { 0 };
	bool wanted = false;
	int ret = 0;

	vec_for_each (&x->records, struct fixture_record, f)
		wanted |= f->r.kind <= REC_EXIT && !f->has_sp;
	if (!wanted)
		return 0;
	vec_for_each (&x->records, struct fixture_record, f) {
		if (f->r.kind == REC_ENTRY)
			open_call(&open, f);
		else if (f->r.kind == REC_EXIT && !ret && !close_call(&open, f))
			ret = err_set(err, -EINVAL,
				      "line %zu: the exit has no entry before it; write sp=0x…",
				      f->line);
	}
	vec_release(&open);
	return ret;
}

/* Stack pointers were made by function: now the entries get the ids of their sites. */
static void put_sites(struct fixture *x)
{
	vec_for_each (&x->records, struct fixture_record, f)
		if (f->site)
			f->r.id = f->site;
}

/* ---- the file ---- */

static int by_time_and_line(const void *a, const void *b)
{
	const struct fixture_record *x = a, *y = b;

	if (x->r.time_ns != y->r.time_ns)
		return x->r.time_ns < y->r.time_ns ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static uint32_t n_cpus(const struct fixture *x)
{
	uint32_t n = 1;

	vec_for_each (&x->records, struct fixture_record, f)
		n = f->r.cpu >= n ? f->r.cpu + 1 : n;
	return n;
}

static void put_session(struct fixture *x, struct trace_writer *w)
{
	const struct fixture_record *first = x->records.data;
	struct meta_session s = x->meta.session;
	struct text line = { 0 };

	if (x->has_session)
		return;
	s.version = TRACE_VERSION;
	s.command = "app";
	s.clock = "monotonic";
	s.producer = "synthetic";
	s.pmu = "none";
	s.cpus = n_cpus(x);
	s.pid = x->records.n ? first->r.tgid : META_UNKNOWN;
	s.start_ns = x->records.n ? first->r.time_ns : 0;
	meta_print_session(&s, &line);
	trace_writer_meta(w, line.s);
	text_release(&line);
}

static void put_end(struct fixture *x, struct trace_writer *w)
{
	struct meta_end e = { .present = true,
			      .recorder_cpu_ns = META_UNKNOWN,
			      .target_cpu_ns = META_UNKNOWN,
			      .counting_cost_ns = META_UNKNOWN,
			      .scheduling_cost_ns = META_UNKNOWN,
			      .sampling_cost_ns = META_UNKNOWN,
			      .sample_ns = META_UNKNOWN,
			      .after_cost_ns = META_UNKNOWN,
			      .probes_cost_ns = META_UNKNOWN,
			      .reason = "command ended" };
	struct text line = { 0 };

	if (x->has_end)
		return;
	vec_for_each (&x->records, struct fixture_record, f) {
		e.end_ns = f->r.time_ns > e.end_ns ? f->r.time_ns : e.end_ns;
		e.made_records += f->r.kind <= REC_EXIT;
		e.lost_records += f->r.kind == REC_LOST ? f->r.values[0] : 0;
	}
	e.made_records += e.lost_records;
	meta_print_end(&e, &line);
	trace_writer_meta(w, line.s);
	text_release(&line);
}

static int put_all(struct fixture *x, struct trace_writer *w)
{
	int ret = 0;

	put_session(x, w);
	vec_for_each (&x->meta_lines, char *, line)
		trace_writer_meta(w, *line);
	vec_for_each (&x->added_lines, char *, line)
		trace_writer_meta(w, *line);
	put_end(x, w);
	vec_for_each (&x->records, struct fixture_record, f)
		ret = ret ? ret : trace_writer_record(w, &f->r);
	return ret;
}

static int write_file(struct fixture *x, const char *path, struct err *err)
{
	struct trace_writer_options o = { .path = path, .n_cpus = n_cpus(x) };
	struct trace_writer *w;
	int ret = trace_writer_open(&w, &o, err), close_ret;

	if (ret)
		return ret;
	ret = put_all(x, w);
	close_ret = trace_writer_close(w, err);
	return close_ret ? close_ret : ret;
}

int fixture_write(FILE *in, const char *path, struct err *err)
{
	struct fixture x = { 0 };
	int ret;

	meta_init(&x.meta);
	ret = read_lines(&x, in, err);
	if (!ret) {
		learn_names(&x);
		ret = bind_records(&x, err);
	}
	if (!ret) {
		if (!x.in_recorded_order)
			vec_sort(&x.records, by_time_and_line);
		ret = make_stack_pointers(&x, err);
		if (!ret)
			put_sites(&x);
	}
	if (!ret)
		ret = write_file(&x, path, err);
	fixture_release(&x);
	return ret;
}

int fixture_write_text(const char *text, const char *path, struct err *err)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int ret;

	if (!in)
		return err_set(err, -errno, "cannot read the text: %s", strerror(errno));
	ret = fixture_write(in, path, err);
	fclose(in);
	return ret;
}
