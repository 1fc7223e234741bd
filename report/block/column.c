/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/block/column.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analysis/score/block.h"
#include "analysis/calls/paircost.h"
#include "analysis/lock/section.h"
#include "base/err.h"
#include "analysis/cause/verdict.h"
#include "analysis/result/result.h"
#include "analysis/threads/threads.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/counters.h"
#include "report/block/view.h"
#include "report/table/csv.h"
#include "trace/meta/meta.h"

static struct value none(void)
{
	return (struct value){ .type = VALUE_NONE };
}

static struct value number(enum value_type type, uint64_t count)
{
	return count == BLOCK_NONE ? none() : (struct value){ .type = type, .count = count };
}

static struct value ratio(enum value_type type, double r)
{
	return isnan(r) ? none() : (struct value){ .type = type, .ratio = r };
}

static struct value text(const char *s)
{
	return s && *s ? (struct value){ .type = VALUE_TEXT, .text = s } : none();
}

#define GET(name) static struct value get_##name(const struct block *b, char scratch[VALUE_SCRATCH])
#define GET_FIELD(name, how, type)         \
	GET(name)                          \
	{                                  \
		(void)scratch;             \
		return how(type, b->name); \
	}

GET_FIELD(calls, number, VALUE_COUNT)
GET_FIELD(timed_calls, number, VALUE_COUNT)
GET_FIELD(open_calls, number, VALUE_COUNT)
GET_FIELD(untimed_calls, number, VALUE_COUNT)
GET_FIELD(estimated_calls, number, VALUE_COUNT)
GET_FIELD(threads, number, VALUE_COUNT)
GET_FIELD(lost_threads, ratio, VALUE_THREADS)
GET_FIELD(idle_threads, ratio, VALUE_THREADS)
GET_FIELD(unexplained_threads, ratio, VALUE_THREADS)
GET_FIELD(sci, ratio, VALUE_RATIO)
GET_FIELD(sci_low, ratio, VALUE_RATIO)
GET_FIELD(sci_high, ratio, VALUE_RATIO)
GET_FIELD(sci_worst_thread, ratio, VALUE_RATIO)
GET_FIELD(self_sci, ratio, VALUE_RATIO)
GET_FIELD(sci_by_shape, ratio, VALUE_RATIO)
GET_FIELD(floor, ratio, VALUE_RATIO)
GET_FIELD(lost_records, number, VALUE_COUNT)
GET_FIELD(total_ns, number, VALUE_TIME)
GET_FIELD(excess_ns, number, VALUE_TIME)
GET_FIELD(self_excess_ns, number, VALUE_TIME)
GET_FIELD(open_ns, number, VALUE_TIME)
GET_FIELD(observed_ns, number, VALUE_TIME)
GET_FIELD(min_ns, number, VALUE_TIME)
GET_FIELD(p50_ns, number, VALUE_TIME)
GET_FIELD(p90_ns, number, VALUE_TIME)
GET_FIELD(p99_ns, number, VALUE_TIME)
GET_FIELD(max_ns, number, VALUE_TIME)
GET_FIELD(min_cycles, number, VALUE_COUNT)
GET_FIELD(p50_cycles, number, VALUE_COUNT)
GET_FIELD(p99_cycles, number, VALUE_COUNT)
GET_FIELD(shapes, number, VALUE_COUNT)
GET_FIELD(shapes_overflow, number, VALUE_COUNT)

GET(name)
{
	return text(text_printable(scratch, VALUE_SCRATCH, b->name));
}

GET(object)
{
	return b->object ? text(text_printable(scratch, VALUE_SCRATCH, b->object->path)) : none();
}

GET(build_id)
{
	(void)scratch;
	return b->object ? text(b->object->build_id) : none();
}

GET(file_line)
{
	const struct meta_function *f = b->kind == BLOCK_SITE ? NULL : b->function;
	const char *where = b->place ? b->place->file : f ? f->file : NULL;
	char file[VALUE_SCRATCH - 16];

	if (!where || !*where)
		return none();
	text_printable(file, sizeof(file), where);
	snprintf(scratch, VALUE_SCRATCH, "%s:%u", file, b->place ? b->place->line : f->line);
	return text(scratch);
}

GET(loop)
{
	const struct meta_frame *f = block_loop(b);
	char file[VALUE_SCRATCH - 16];

	if (!f)
		return none();
	snprintf(scratch, VALUE_SCRATCH, "%s:%u", text_printable(file, sizeof(file), f->file),
		 f->loop);
	return text(scratch);
}

GET(probe_offset)
{
	(void)scratch;
	return b->function ? number(VALUE_COUNT, b->function->probe_offset) : none();
}

GET(probe_class)
{
	(void)scratch;
	return b->function && b->function->class != CLASS_UNKNOWN
		       ? text(probe_class_name(b->function->class))
		       : none();
}

/* Recordings of other tools have neither a probe class nor a known engine. */
GET(probe_engine)
{
	(void)scratch;
	if (!b->function || (!b->function->in_process && b->function->class == CLASS_UNKNOWN))
		return none();
	return text(b->function->in_process ? "in-process" : "kernel");
}

GET(probe_exit)
{
	(void)scratch;
	return b->function ? text(exit_mech_name(b->function->exit)) : none();
}

GET(pair_ns)
{
	(void)scratch;
	return b->cost && b->cost->known ? number(VALUE_TIME, b->cost->full_ns) : none();
}

GET(kind)
{
	(void)scratch;
	return text(block_kind_name(b->kind));
}

GET(key)
{
	return b->key ? text(text_printable(scratch, VALUE_SCRATCH, b->key)) : none();
}

GET(verdict)
{
	(void)scratch;
	return b->kind == BLOCK_THREAD ? none() : text(verdict_name(b->verdict));
}

GET(cause)
{
	(void)scratch;
	return b->causes.n ? text(b->causes.data[0].kind) : none();
}

GET(cause_share)
{
	(void)scratch;
	return b->causes.n ? ratio(VALUE_RATIO, b->causes.data[0].share) : none();
}

GET(tid)
{
	(void)scratch;
	return b->thread ? number(VALUE_ID, b->thread->tid) : none();
}

GET(pid)
{
	(void)scratch;
	return b->thread ? number(VALUE_ID, b->thread->tgid) : none();
}

static const struct block *block_hold(const struct block *b)
{
	return b->section ? b->section->hold : NULL;
}

GET(contended)
{
	const struct section *s = b->section;

	(void)scratch;
	if (!s || !s->acquired || !s->is_clear || s->contended_only)
		return none();
	/* a few that were seen before the probes of the release went, or after they came */
	if (s->acquired < CALLS_MIN && s->acquired < b->calls)
		return none();
	return ratio(VALUE_RATIO, (double)s->contended / (double)s->acquired);
}

#define GET_HOLD(name, how, type)                                               \
	GET(hold_##name)                                                        \
	{                                                                       \
		(void)scratch;                                                  \
		return block_hold(b) ? how(type, block_hold(b)->name) : none(); \
	}

/* A shortest hold time of 0 gives no score. */
GET(hold_sci)
{
	(void)scratch;
	return block_hold(b) && block_hold(b)->min_ns ? ratio(VALUE_RATIO, block_hold(b)->sci)
						      : none();
}

GET_HOLD(calls, number, VALUE_COUNT)
GET_HOLD(total_ns, number, VALUE_TIME)
GET_HOLD(min_ns, number, VALUE_TIME)
GET_HOLD(p50_ns, number, VALUE_TIME)
GET_HOLD(p99_ns, number, VALUE_TIME)
GET_HOLD(max_ns, number, VALUE_TIME)

const struct column columns[] = {
	{ "name", "function", NULL, "the block's name", 0, get_name },
	{ "object", "object", NULL, "the file it is in", 24, get_object },
	{ "build_id", "build-id", NULL, "of that file", 40, get_build_id },
	{ "file_line", "line", NULL, "where its source is; of a call site, the line that calls", 20,
	  get_file_line },
	{ "offset", "offset", "probe", "of the entry probe in the function", 6, get_probe_offset },
	{ "class", "class", "probe", "how the kernel runs the probed instruction", 11,
	  get_probe_class },
	{ "exit", "exit", "probe", "how its exit is seen", 9, get_probe_exit },
	{ "pair_ns", "pair", "probe", "what a traced call adds to its caller", 6, get_pair_ns },
	{ "kind", "kind", NULL, "of block", 8, get_kind },
	{ "key", "key", NULL, "the call site or arguments it is split by", 8, get_key },
	{ "calls", "calls", NULL, "entries seen", 6, get_calls },
	{ "timed_calls", "timed", NULL, "calls with a duration", 6, get_timed_calls },
	{ "open_calls", "open", NULL, "calls that had not ended", 6, get_open_calls },
	{ "untimed_calls", "untimed", NULL, "calls whose exit is not known", 7, get_untimed_calls },
	{ "estimated_calls", "est.", NULL, "calls, those sampling left out included", 6,
	  get_estimated_calls },
	{ "threads", "threads", NULL, "threads that ran it", 7, get_threads },
	{ "lost_threads", "lost", NULL, "own excess from interference, in threads", 5,
	  get_lost_threads },
	{ "idle_threads", "idle", NULL, "own excess that waited for work, not in lost", 5,
	  get_idle_threads },
	{ "sci", "SCI", NULL, "excess over its threads' time", 5, get_sci },
	{ "sci_low", "low", NULL, "lower bound of the SCI", 5, get_sci_low },
	{ "sci_high", "high", NULL, "upper bound of the SCI", 5, get_sci_high },
	{ "sci_worst_thread", "worst", NULL, "SCI of its worst thread", 5, get_sci_worst_thread },
	{ "self_sci", "self", NULL, "SCI of its own time, without traced callees", 5,
	  get_self_sci },
	{ "sci_by_shape", "shape", NULL, "SCI with a fastest call for each path", 5,
	  get_sci_by_shape },
	{ "floor", "floor", NULL, "what the probes alone would score", 5, get_floor },
	{ "lost_records", "missing", NULL, "records that may be missing from it", 7,
	  get_lost_records },
	{ "verdict", "verdict", NULL, "what the score means", 13, get_verdict },
	{ "total_ns", "total", NULL, "time of all timed calls", 6, get_total_ns },
	{ "excess_ns", "excess", NULL, "time beyond that of the fastest call", 6, get_excess_ns },
	{ "self_excess_ns", "own-excess", NULL, "the same of its own time", 10,
	  get_self_excess_ns },
	{ "open_ns", "open-time", NULL, "what open calls add to the excess", 9, get_open_ns },
	{ "observed_ns", "observed", NULL, "time its threads were observed", 8, get_observed_ns },
	{ "min_ns", "min", NULL, "fastest call, without its wait if it need not wait", 6,
	  get_min_ns },
	{ "p50_ns", "p50", NULL, "median call", 6, get_p50_ns },
	{ "p90_ns", "p90", NULL, "call slower than 90% of all", 6, get_p90_ns },
	{ "p99_ns", "p99", NULL, "call slower than 99% of all", 6, get_p99_ns },
	{ "max_ns", "max", NULL, "slowest call", 6, get_max_ns },
	{ "shapes", "paths", NULL, "paths told apart by the traced calls inside", 5, get_shapes },
	{ "shapes_overflow", "overflow", NULL, "calls of paths beyond the table", 8,
	  get_shapes_overflow },
	{ "tid", "tid", "thread", "the thread's number", 7, get_tid },
	{ "pid", "pid", "thread", "its process", 7, get_pid },
	{ "cause", "why", "csv", "its main cause", 13, get_cause },
	{ "cause_share", "share", "csv", "of the excess that the cause explains", 5,
	  get_cause_share },
	{ "contended", "cont", "lock", "part of a lock's takers that found it held", 5,
	  get_contended },
	{ "holds", "holds", "lock", "times it was held and released", 6, get_hold_calls },
	{ "hold_sci", "hold-SCI", "lock", "SCI of the time it was held", 8, get_hold_sci },
	{ "hold_total_ns", "held", "lock", "time it was held", 6, get_hold_total_ns },
	{ "hold_min_ns", "hold-min", "lock", "shortest time it was held", 8, get_hold_min_ns },
	{ "hold_p50_ns", "hold50", "lock", "median time it was held", 6, get_hold_p50_ns },
	{ "hold_p99_ns", "hold99", "lock", "time it was held, 99th percentile", 6,
	  get_hold_p99_ns },
	{ "hold_max_ns", "hold-max", "lock", "longest time it was held", 8, get_hold_max_ns },
	{ "loop", "loop", NULL, "where it was called too few times: the line of its loop to mark",
	  20, get_loop },
	{ "unexplained_threads", "unexpl", NULL, "own excess that nothing explains, not in lost", 6,
	  get_unexplained_threads },
	{ "min_cycles", "min-cyc", NULL, "fastest call, in cycles of the TSC", 7, get_min_cycles },
	{ "p50_cycles", "p50-cyc", NULL, "median call, in cycles", 7, get_p50_cycles },
	{ "p99_cycles", "p99-cyc", NULL, "call slower than 99% of all, in cycles", 7,
	  get_p99_cycles },
	{ "engine", "engine", "probe", "what times its calls", 10, get_probe_engine },
};
const unsigned columns_n = sizeof(columns) / sizeof(columns[0]);

const struct column *column_find(const char *name)
{
	for (unsigned i = 0; i < columns_n; i++)
		if (!strcasecmp(columns[i].key, name) || !strcasecmp(columns[i].head, name))
			return &columns[i];
	return NULL;
}

int column_unknown(const char *name, struct err *err)
{
	err_set(err, -EINVAL,
		"-s %s: no such column; give a head of the table such as P99, or a key of its rows in "
		"--json",
		name);
	err->exit_status = 2;
	return -EINVAL;
}

static double magnitude(const struct value *v)
{
	return v->type == VALUE_COUNT || v->type == VALUE_ID || v->type == VALUE_TIME
		       ? (double)v->count
		       : v->ratio;
}

int column_compare(const struct column *column, const struct block *a, const struct block *b)
{
	char sa[VALUE_SCRATCH], sb[VALUE_SCRATCH];
	struct value x = column->get(a, sa), y = column->get(b, sb);
	int order;

	if (x.type == VALUE_NONE || y.type == VALUE_NONE)
		order = (x.type == VALUE_NONE) - (y.type == VALUE_NONE);
	else if (x.type == VALUE_TEXT)
		order = strcmp(x.text, y.text);
	else
		order = (magnitude(&x) < magnitude(&y)) - (magnitude(&x) > magnitude(&y));
	if (!order)
		order = (a->kind > b->kind) - (a->kind < b->kind);
	return order ? order : (a->id > b->id) - (a->id < b->id);
}

/* ---- the values of cells ---- */

static void print_threads(double threads, struct text *out)
{
	text_printf(out, threads >= 0.095 ? "%.1f" : "%.2f", threads);
}

void value_print(const struct value *v, struct text *out)
{
	char number[TEXT_NUMBER];

	switch (v->type) {
	case VALUE_NONE:
		text_add(out, "n/a");
		break;
	case VALUE_TEXT:
		text_add(out, v->text);
		break;
	case VALUE_COUNT:
		text_add(out, text_count(number, v->count));
		break;
	case VALUE_ID:
		text_printf(out, "%llu", (unsigned long long)v->count);
		break;
	case VALUE_TIME:
		text_add(out, text_time(number, v->count));
		break;
	case VALUE_RATIO:
		/* a third digit, because two would show only zeros */
		text_printf(out, v->ratio >= 0.0005 && v->ratio < 0.01 ? "%.3f" : "%.2f", v->ratio);
		break;
	case VALUE_THREADS:
		print_threads(v->ratio, out);
		break;
	}
}

void value_print_csv(const struct value *v, struct text *out)
{
	switch (v->type) {
	case VALUE_NONE:
		break;
	case VALUE_TEXT:
		csv_print_text(v->text, out);
		break;
	case VALUE_COUNT:
	case VALUE_ID:
	case VALUE_TIME:
		text_printf(out, "%llu", (unsigned long long)v->count);
		break;
	case VALUE_RATIO:
	case VALUE_THREADS:
		text_printf(out, "%.9g", v->ratio);
		break;
	}
}

void value_set_json(struct json *obj, const char *key, const struct value *v)
{
	switch (v->type) {
	case VALUE_NONE:
		json_set_null(obj, key);
		break;
	case VALUE_TEXT:
		json_set_string(obj, key, v->text);
		break;
	case VALUE_COUNT:
	case VALUE_ID:
	case VALUE_TIME:
		json_set_u64(obj, key, v->count);
		break;
	case VALUE_RATIO:
	case VALUE_THREADS:
		json_set_f64(obj, key, v->ratio);
		break;
	}
}

/* ---- all columns, as CSV ---- */

/* Writes the head, with "probe_" in front if the key alone would be cryptic. */
static void print_head(const struct column *c, struct text *out)
{
	if (c->group && !strcmp(c->group, "probe"))
		text_add(out, "probe_");
	text_add(out, c->key);
}

void report_csv(const struct view *v, struct text *out)
{
	char scratch[VALUE_SCRATCH];

	for (unsigned c = 0; c < columns_n; c++) {
		text_add(out, c ? "," : "");
		print_head(&columns[c], out);
	}
	counters_csv_head(v->result->meta, out);
	text_add(out, "\n");
	for (size_t i = 0; i < v->n_rows && (!v->top || i < v->top); i++) {
		for (unsigned c = 0; c < columns_n; c++) {
			struct value value = columns[c].get(v->rows[i], scratch);

			text_add(out, c ? "," : "");
			value_print_csv(&value, out);
		}
		counters_csv(v->result->meta, v->rows[i], out);
		text_add(out, "\n");
	}
}
