/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/outlier/json.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/outlier/outlier.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/json.h"
#include "report/block/view.h"
#include "report/outlier/outlier.h"
#include "trace/meta/meta.h"

/* Returns the callees of a callee, or of the execution itself (OUTLIER_TOP). */
static struct json *callees_json(const struct outlier_view *v, const struct outlier_block *b,
				 const struct outlier *x, uint32_t parent)
{
	struct json *all = json_new_array();

	for (uint32_t i = 0; i < x->n_callees; i++) {
		const struct outlier_callee *c = &x->callees[i];
		const struct outlier_usual *u = outlier_usual_of(b, x, i);
		struct json *j;

		if (c->parent != parent)
			continue;
		j = json_new_object();
		report_set_name(j, "name", v->outliers->meta->functions.data[c->id].name);
		json_set_u64(j, "calls", c->calls);
		json_set_u64(j, "ns", c->ns);
		json_set_f64(j, "typical_calls",
			     b->typical.n ? (u ? (double)u->calls : 0) / (double)b->typical.n
					  : NAN);
		json_set_f64(j, "typical_ns",
			     b->typical.n ? (u ? (double)u->ns : 0) / (double)b->typical.n : NAN);
		json_set_take(j, "callees", callees_json(v, b, x, i));
		json_add_take(all, j);
	}
	return all;
}

static struct json *stack_json(const struct outlier_view *v, const struct outlier *x)
{
	const struct meta *meta = v->outliers->meta;
	const struct meta_stack *s = meta_stack(meta, x->stack ? x->stack : x->site);
	struct json *all = json_new_array();

	for (uint32_t i = 0; s && i < s->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(meta, s, i);
		struct text name = { 0 };
		char *clean;

		if (!f || !f->symbol)
			continue;
		text_add(&name, *f->symbol ? f->symbol : text_base_name(f->object));
		if (*f->file && f->line)
			text_printf(&name, " (%s:%u)", f->file, f->line);
		clean = text_printable_new(name.s);
		json_add_string(all, clean);
		free(clean);
		text_release(&name);
	}
	return all;
}

static void set_count(struct json *j, const char *key, const struct outlier *x, unsigned i)
{
	if (x->counted & 1u << i)
		json_set_u64(j, key, x->counts[i]);
	else
		json_set_null(j, key);
}

static struct json *execution_json(const struct outlier_view *v, const struct outlier_block *b,
				   const struct outlier *x)
{
	struct json *j = json_new_object();
	const struct meta *meta = v->outliers->meta;
	bool switches = v->outliers->switches;

	json_set_u64(j, "index", x->index);
	json_set_u64(j, "at_ns", x->entry_ns - v->start_ns);
	json_set_u64(j, "tid", x->tid);
	json_set_u64(j, "duration_ns", x->duration_ns);
	json_set_f64(j, "expected_ns", outlier_expected(b, x->index));
	json_set_f64(j, "residual_ns", x->residual_ns);
	json_set_bool(j, "own", !x->passed);
	json_set_string(j, "cause", x->cause);
	json_set_string(j, "evidence", x->evidence);
	json_set_f64(j, "preempted_ns", switches ? (double)x->off.preempted_ns : NAN);
	json_set_f64(j, "asleep_ns", switches ? (double)(x->off.blocked_ns + x->off.idle_ns) : NAN);
	if (b->kind == BLOCK_LOCK || v->outliers->monitors)
		json_set_bool(j, "contended", x->contended);
	else
		json_set_null(j, "contended");
	json_set_f64(j, "paused_ns", v->outliers->monitors ? (double)x->paused_ns : NAN);
	json_set_f64(j, "safepoint_ns", v->outliers->monitors ? (double)x->safepoint_ns : NAN);
	json_set_f64(j, "monitors_ns", v->outliers->monitors ? (double)x->monitors_ns : NAN);
	set_count(j, "page_faults", x, OUTLIER_FAULTS);
	set_count(j, "major_faults", x, OUTLIER_MAJOR_FAULTS);
	set_count(j, "cache_misses", x, OUTLIER_MISSES);
	json_set_take(j, "callees", callees_json(v, b, x, OUTLIER_TOP));
	report_set_name(j, "caller",
			x->caller == MAP_NONE ? NULL : meta->functions.data[x->caller].name);
	json_set_take(j, "stack", stack_json(v, x));
	json_set_string(j, "stack_of", x->stack ? "execution" : x->site ? "place" : NULL);
	return j;
}

static struct json *line_json(const struct outlier_block *b)
{
	struct json *j = json_new_object();

	json_set_f64(j, "intercept_ns", b->line.intercept);
	json_set_f64(j, "slope_ns", b->line.slope);
	json_set_f64(j, "bound_ns", b->line.bound_ns);
	return j;
}

static struct json *hints_json(const struct outlier_block *b)
{
	struct json *all = json_new_array();

	vec_for_each (&b->hints, const struct outlier_hint, h) {
		struct json *j = json_new_object();
		char letter[2] = { h->behaviour, '\0' };

		json_set_string(j, "behaviour", h->behaviour ? letter : NULL);
		json_set_string(j, "name", h->name);
		json_set_f64(j, "share", h->share);
		json_set_string(j, "evidence", h->evidence);
		json_add_take(all, j);
	}
	return all;
}

static void set_metrics(struct json *j, const struct outlier_view *v, const struct outlier_block *b)
{
	const struct hist *h = &b->durations;

	json_set_u64(j, "executions", b->begun + b->brief);
	json_set_u64(j, "timed", h->count);
	json_set_u64(j, "threads", b->threads);
	json_set_u64(j, "total_ns", h->sum);
	json_set_u64(j, "min_ns", h->min);
	json_set_f64(j, "mean_ns", b->mean_y);
	json_set_u64(j, "p50_ns", hist_quantile(h, 0.5));
	json_set_u64(j, "p99_ns", hist_quantile(h, 0.99));
	json_set_u64(j, "max_ns", h->max);
	json_set_f64(j, "stddev_ns", b->stddev_ns);
	json_set_u64(j, "divergent", b->divergent);
	json_set_f64(j, "divergent_share", (double)b->divergent / (double)h->count);
	json_set_u64(j, "divergent_ns", b->divergent_ns);
	json_set_u64(j, "own", b->own);
	json_set_u64(j, "own_ns", b->own_ns);
	json_set_f64(j, "divergent_idle_ns", v->outliers->switches ? (double)b->idle_ns : NAN);
	json_set_f64(j, "residual_ns", b->residual_ns);
}

static struct json *block_json(const struct outlier_view *v, const struct outlier_block *b)
{
	struct json *j = json_new_object(), *kept = json_new_array();

	json_set_string(j, "name", b->name);
	json_set_string(j, "kind", outlier_kind_name(b));
	report_set_name(j, "object", meta_object(v->outliers->meta, b->function->object)->path);
	set_metrics(j, v, b);
	json_set_take(j, "line", line_json(b));
	json_set_take(j, "hints", hints_json(b));
	vec_for_each (&b->kept, const struct outlier, x)
		json_add_take(kept, execution_json(v, b, x));
	json_set_take(j, "divergent_executions", kept);
	return j;
}

static struct json *trace_json(const struct outlier_view *v)
{
	const struct outliers *o = v->outliers;
	const struct meta_end *end = &o->meta->end;
	struct json *j = json_new_object();

	report_set_name(j, "file", v->file);
	report_set_name(j, "command", v->command);
	json_set_u64(j, "duration_ns", o->duration_ns);
	json_set_f64(j, "section_ns", o->locks || o->monitors ? (double)o->section_ns : NAN);
	json_set_f64(j, "instrumentation_ns",
		     end->present && end->probes_cost_ns != META_UNKNOWN
			     ? (double)end->probes_cost_ns
			     : NAN);
	return j;
}

void report_outliers_json(const struct outlier_view *v, struct text *out)
{
	struct json *j = json_new_object(), *blocks = json_new_array(), *notices = json_new_array();

	json_set_u64(j, "version", OUTLIERS_JSON_VERSION);
	json_set_take(j, "trace", trace_json(v));
	json_set_string(j, "rule", v->outliers->rule == OUTLIER_PAPER ? "paper" : "robust");
	for (const char *const *n = v->notices; *n; n++)
		json_add_string(notices, *n);
	json_set_take(j, "notices", notices);
	vec_for_each (&v->outliers->blocks, const struct outlier_block, b)
		if (!v->of || v->of == b)
			json_add_take(blocks, block_json(v, b));
	json_set_take(j, "blocks", blocks);
	json_print(j, out, true);
	text_add(out, "\n");
	json_free(j);
}

/* ---- CSV ---- */

static void csv_text(const char *s, struct text *out)
{
	const struct value value = { .type = VALUE_TEXT, .text = s };

	text_add(out, ",");
	value_print_csv(&value, out);
}

static void csv_row(const struct outlier_view *v, const struct outlier_block *b,
		    const struct outlier *x, struct text *out)
{
	const struct value name = { .type = VALUE_TEXT, .text = b->name };

	value_print_csv(&name, out);
	csv_text(outlier_kind_name(b), out);
	text_printf(out, ",%llu,%llu,%u,%llu,%.0f,%.0f", (unsigned long long)x->index,
		    (unsigned long long)(x->entry_ns - v->start_ns), x->tid,
		    (unsigned long long)x->duration_ns, outlier_expected(b, x->index),
		    x->residual_ns);
	csv_text(x->cause, out);
	csv_text(x->evidence, out);
	text_add(out, "\n");
}

void report_outliers_csv(const struct outlier_view *v, struct text *out)
{
	text_add(out, "name,kind,index,at_ns,tid,duration_ns,expected_ns,residual_ns,cause,"
		      "evidence\n");
	vec_for_each (&v->outliers->blocks, const struct outlier_block, b) {
		if (v->of && v->of != b)
			continue;
		vec_for_each (&b->kept, const struct outlier, x)
			csv_row(v, b, x, out);
	}
}
