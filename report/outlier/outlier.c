/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/block/slowed.h"
#include "report/outlier/outlier.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cause/kind.h"
#include "analysis/outlier/outlier.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/block/view.h"
#include "report/outlier/hints.h"
#include "report/outlier/list.h"
#include "report/screen/next.h"
#include "report/screen/row.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"

#define CALLS_DEFAULT 10
#define STACK_FRAMES  8
#define NAME_COLUMNS  30 /* of the program in the first line */

const char *outlier_kind_name(const struct outlier_block *b)
{
	return outlier_is_section(b)	 ? "critical section"
	       : b->kind == BLOCK_MARKER ? "marker"
					 : "function";
}

const char *outlier_unit(const struct outlier_block *b)
{
	return outlier_is_section(b) ? "run" : "call";
}

const char *outlier_cause_name(const struct outlier *x)
{
	const struct cause_kind *kind = cause_kind_find(x->cause);

	return kind && kind->name ? kind->name : x->cause;
}

static void count_kinds(const struct outliers *o, size_t *sections, size_t *markers)
{
	*sections = *markers = 0;
	vec_for_each (&o->blocks, const struct outlier_block, b) {
		*sections += outlier_is_section(b);
		*markers += b->kind == BLOCK_MARKER;
	}
}

static const char *between(const struct outlier_view *v)
{
	return v->utf8 ? " · " : ", ";
}

/*
 * Reports the cost of recording. For an attached program the share is unknown, so only the time is
 * reported.
 */
static void instrumentation(const struct outlier_view *v, struct text *out)
{
	const struct outliers *o = v->outliers;
	const struct meta_end *end = &o->meta->end;
	char words[META_COST_WORDS];

	text_add(out, between(v));
	if (end->target_cpu_ns == META_UNKNOWN || !end->target_cpu_ns)
		text_printf(out, "recording took %s", text_time(words, end->probes_cost_ns));
	else
		text_add(out, meta_cost_words(words, (double)end->target_cpu_ns,
					      (double)end->probes_cost_ns,
					      (double)(end->end_ns - o->start_ns)));
}

/* How much the first line leaves out to fit the screen. */
enum brevity {
	BRIEF_NOT,
	BRIEF_HELD,   /* how long critical sections were held */
	BRIEF_COUNTS, /* that, and the numbers of functions, markers and critical sections */
};

static void add_counts(const struct outlier_view *v, enum brevity brief, struct text *out)
{
	const struct outliers *o = v->outliers;
	char held[TEXT_NUMBER], counted[TEXT_COUNTED];
	size_t sections, markers, functions;

	count_kinds(o, &sections, &markers);
	functions = o->blocks.n - sections - markers;
	if (functions || !sections)
		text_printf(out, "%s%s", between(v), text_counted(counted, functions, "function"));
	if (markers)
		text_printf(out, "%s%s", between(v), text_counted(counted, markers, "marker"));
	if (sections)
		text_printf(out, "%s%s", between(v),
			    text_counted(counted, sections, "critical section"));
	if (sections && brief < BRIEF_HELD)
		text_printf(out, " held for %s", text_time(held, o->section_ns));
}

static void add_first_line(const struct outlier_view *v, enum brevity brief, struct text *out)
{
	const struct meta_end *end = &v->outliers->meta->end;
	char program[4 * NAME_COLUMNS + 1], time[TEXT_NUMBER];

	text_shortened(program, sizeof(program), *v->program ? v->program : v->file, NAME_COLUMNS);
	text_printf(out, "%s%s%s", program, between(v), text_time(time, v->outliers->duration_ns));
	if (brief < BRIEF_COUNTS)
		add_counts(v, brief, out);
	if (end->present && end->probes_cost_ns != META_UNKNOWN)
		instrumentation(v, out);
}

/* Adds the caution about a recording that slowed the program a lot. */
static void caution(const struct outlier_view *v, struct text *out)
{
	const struct meta *meta = v->outliers->meta;
	struct text line = { 0 };

	text_slowed_by_estimate(meta, (double)(meta->end.end_ns - v->outliers->start_ns), &line);
	if (line.n)
		text_wrap(line.s, v->width, out);
	text_release(&line);
}

static void header(const struct outlier_view *v, struct text *out)
{
	struct text line = { 0 };

	for (unsigned brief = BRIEF_NOT; brief <= BRIEF_COUNTS; brief++) {
		text_release(&line);
		add_first_line(v, brief, &line);
		if (table_columns(line.s) <= v->width)
			break;
	}
	text_wrap(line.s, v->width, out);
	caution(v, out);
	text_add(out, "\n");
	text_release(&line);
}

/* ---- one block ---- */

/* Adds "1.2ms + 0.3ns for each call before", or "1.2ms" if the line is flat. */
static void line_words(const struct outlier_block *b, struct text *out)
{
	const struct outlier_line *l = &b->line;
	char at[TEXT_NUMBER], by[TEXT_NUMBER];
	double slope = fabs(l->slope);

	text_printf(out, "%s%s", l->intercept < 0 ? "-" : "",
		    text_time(at, (uint64_t)(fabs(l->intercept) + 0.5)));
	if (!slope)
		return;
	text_time(by, (uint64_t)(slope + 0.5));
	if (slope < 10)
		snprintf(by, sizeof(by), "%.2gns", slope);
	text_printf(out, " %c %s for each %s before", l->slope < 0 ? '-' : '+', by,
		    outlier_unit(b));
}

static void usual_line(const struct outlier_view *v, const struct outlier_block *b,
		       struct text *out)
{
	const struct outlier_line *l = &b->line;
	char min[TEXT_NUMBER], p50[TEXT_NUMBER], p99[TEXT_NUMBER], max[TEXT_NUMBER],
		mean[TEXT_NUMBER], sd[TEXT_NUMBER], bound[TEXT_NUMBER], threads[TEXT_COUNTED],
		n[TEXT_COUNTED];
	struct text line = { 0 };

	text_add(&line, text_counted(n, b->durations.count, outlier_unit(b)));
	if (b->threads) /* unknown if --keep-slower left calls out */
		text_printf(&line, " in %s", text_counted(threads, b->threads, "thread"));
	text_printf(&line, ": min %s, median %s, mean %s, p99 %s, max %s, standard deviation %s. ",
		    text_time(min, b->durations.min),
		    text_time(p50, hist_quantile(&b->durations, 0.5)),
		    text_time(mean, (uint64_t)b->mean_y),
		    text_time(p99, hist_quantile(&b->durations, 0.99)),
		    text_time(max, b->durations.max), text_time(sd, (uint64_t)b->stddev_ns));
	text_add(&line, "Trend: ");
	line_words(b, &line);
	text_printf(&line, "; %llu outlier%s, more than %s above it.",
		    (unsigned long long)b->divergent, b->divergent == 1 ? "" : "s",
		    text_time(bound, (uint64_t)l->bound_ns));
	text_wrap(line.s, v->width, out);
	text_release(&line);
}

static void callee(const struct outlier_view *v, const struct outlier_block *b,
		   const struct outlier *x, uint32_t i, unsigned indent, struct text *out)
{
	const struct outlier_usual *u = outlier_usual_of(b, x, i);
	const struct outlier_callee *c = &x->callees[i];
	char name[256], time[TEXT_NUMBER], usual[TEXT_NUMBER], times[TEXT_COUNTED];

	text_printf(
		out, "%*s%s %s, %s", indent, "",
		text_printable(name, sizeof(name), v->outliers->meta->functions.data[c->id].name),
		text_counted(times, c->calls, "time"), text_time(time, c->ns));
	if (u)
		text_printf(out, "; typically %.2g times, %s\n",
			    (double)u->calls / (double)b->typical.n,
			    text_time(usual, u->ns / b->typical.n));
	else
		text_add(out, "; typically not called\n");
}

/* Prints a tree: below each callee the functions that it called. */
static void callees(const struct outlier_view *v, const struct outlier_block *b,
		    const struct outlier *x, uint32_t parent, unsigned indent, struct text *out)
{
	for (uint32_t i = 0; i < x->n_callees; i++)
		if (x->callees[i].parent == parent) {
			callee(v, b, x, i, indent, out);
			callees(v, b, x, i, indent + 2, out);
		}
	if (x->rest && parent == OUTLIER_TOP)
		text_printf(out, "%*sand others\n", indent, "");
}

/* Whether a frame is more than a wrapper, such as the C++ library's std::mutex::lock(). */
static bool any_tells(const struct meta *meta, const struct meta_stack *s, uint32_t first)
{
	for (uint32_t i = first; i < s->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(meta, s, i);

		if (f && f->symbol && *f->symbol && !meta_frame_is_wrapper(f))
			return true;
	}
	return false;
}

void outlier_called_from(const struct outlier_view *v, const struct outlier *x, struct text *out)
{
	const struct meta *meta = v->outliers->meta;
	const struct meta_stack *s = meta_stack(meta, x->stack ? x->stack : x->site);
	/* the call's own stack begins with the function itself */
	uint32_t first = x->stack ? meta_stack_own(meta, s) : 0, i, n = 0;
	bool skips;

	if (!s || s->n_frames <= first)
		return;
	skips = any_tells(meta, s, first);
	text_add(out, "called from");
	for (i = first; i < s->n_frames && n < STACK_FRAMES; i++) {
		const struct meta_frame *f = meta_frame_at(meta, s, i);

		if (!f || !f->symbol || (skips && meta_frame_is_wrapper(f)))
			continue;
		text_printf(out, "%s %s", n++ ? " <" : "",
			    *f->symbol ? f->symbol : text_base_name(f->object));
		if (*f->file && f->line)
			text_printf(out, " (%s:%u)", text_base_name(f->file), f->line);
	}
	if (!x->stack || i < s->n_frames)
		text_add(out, " < …");
}

static void stack(const struct outlier_view *v, const struct outlier *x, struct text *out)
{
	struct text line = { 0 };
	char *clean;

	outlier_called_from(v, x, &line);
	if (!line.n)
		return;
	clean = text_printable_new(line.s);
	outlier_paragraph(v, clean, out);
	free(clean);
	text_release(&line);
}

/* Adds a clause to a list, unless the evidence already says it. */
static void add_clause(const struct outlier *x, const char *subject, const char *what,
		       struct text *list)
{
	if (!strstr(x->evidence, what))
		text_printf(list, "%s%s%s", list->n ? ", " : "meanwhile ", subject, what);
}

static bool is_felt(const struct outlier *x, uint64_t ns)
{
	return ns && ns >= x->duration_ns / OUTLIER_FELT_PART;
}

void outlier_meanwhile(const struct outlier *x, struct text *out)
{
	static const struct {
		const char *one, *more;
	} counted[OUTLIER_COUNTS] = {
		[OUTLIER_FAULTS] = { "page fault", "page faults" },
		[OUTLIER_MAJOR_FAULTS] = { "major page fault", "major page faults" },
		[OUTLIER_MISSES] = { "cache miss", "cache misses" },
	};
	const struct {
		uint64_t ns;
		const char *words;
	} times[] = {
		{ x->off.blocked_ns, "blocked " },
		{ x->off.idle_ns, "idle " },
		{ x->off.preempted_ns, "waiting for a CPU " },
		{ x->monitors_ns, "its calls waiting for monitors " },
		{ x->paused_ns, "all threads stopped " },
	};
	char number[TEXT_NUMBER], what[64];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		snprintf(what, sizeof(what), "for %s", text_time(number, times[i].ns));
		if (is_felt(x, times[i].ns))
			add_clause(x, times[i].words, what, out);
	}
	for (unsigned i = 0; i < OUTLIER_COUNTS; i++) {
		snprintf(what, sizeof(what), "%s %s", text_count(number, x->counts[i]),
			 x->counts[i] == 1 ? counted[i].one : counted[i].more);
		if (x->counted & 1u << i && x->counts[i])
			add_clause(x, "", what, out);
	}
	if (x->contended)
		text_printf(out, "%sanother thread held the lock when it was asked for",
			    out->n ? "; " : "");
}

static int by_residual(const void *a, const void *b)
{
	const struct outlier *x = *(const struct outlier *const *)a,
			     *y = *(const struct outlier *const *)b;

	return (x->residual_ns < y->residual_ns) - (x->residual_ns > y->residual_ns);
}

static void one_call(const struct outlier_view *v, const struct outlier_block *b,
		     const struct outlier *x, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	struct text also = { 0 };
	char cell[64];

	snprintf(cell, sizeof(cell), "%llu", (unsigned long long)x->index);
	table_right(&t, cell, 9);
	snprintf(cell, sizeof(cell), "%.6f", (double)(x->entry_ns - v->start_ns) / 1e9);
	table_right(&t, cell, 11);
	outlier_time_cell(&t, (double)x->duration_ns);
	outlier_time_cell(&t, outlier_expected(b, x->index));
	snprintf(cell, sizeof(cell), "%u", x->tid);
	table_right(&t, cell, 8);
	text_add(out, "  ");
	t.used += 2;
	table_last(&t, outlier_cause_name(x));
	outlier_paragraph(v, x->evidence, out);
	outlier_meanwhile(x, &also);
	if (also.n)
		outlier_paragraph(v, also.s, out);
	text_release(&also);
	callees(v, b, x, OUTLIER_TOP, OUTLIER_INDENT + 2, out);
	stack(v, x, out);
}

static void detail(const struct outlier_view *v, struct text *out)
{
	const struct outlier_block *b = v->of;
	size_t n = b->kept.n, top = v->top ? v->top : CALLS_DEFAULT;
	const struct outlier **worst = xcalloc(n + 1, sizeof(*worst));

	text_printf(out, "%s %s\n", outlier_kind_name(b), b->name);
	usual_line(v, b, out);
	text_add(out, "\n");
	outlier_hints_text(v, b, &b->hints, out);
	if (n && b->hints.n)
		text_add(out, "\n");
	if (n)
		text_add(out, "   NUMBER        AT s     TOOK    TREND   THREAD  CAUSE\n");
	for (size_t i = 0; i < n; i++)
		worst[i] = &b->kept.data[i];
	qsort(worst, n, sizeof(*worst), by_residual);
	for (size_t i = 0; i < n && i < top; i++)
		one_call(v, b, worst[i], out);
	if (b->divergent > top)
		text_printf(out, "%llu more outlier%s, closer to the trend (--top)\n",
			    (unsigned long long)(b->divergent - top),
			    b->divergent == top + 1 ? "" : "s");
	free(worst);
}

static void add_notices(const struct outlier_view *v, struct text *out)
{
	for (const char *const *n = v->notices; *n; n++) {
		struct text line = { 0 };

		text_printf(&line, "note: %s", *n);
		text_wrap(line.s, v->width, out);
		text_release(&line);
	}
}

void report_outliers_text(const struct outlier_view *v, struct text *out)
{
	const struct outliers *o = v->outliers;

	header(v, out);
	if (v->of) {
		detail(v, out);
	} else if (o->blocks.n && o->blocks.data[0].own) {
		struct text notices = { 0 };

		add_notices(v, &notices);
		outlier_list(v, &notices, out);
		text_release(&notices);
		return;
	} else if (!o->blocks.n) {
		text_wrap(
			"No call to look at: the recording has no call with both its entry and its "
			"exit.",
			v->width, out);
	} else {
		text_wrap("No outliers: each call took about as long as the trend of its function "
			  "says.",
			  v->width, out);
	}
	add_notices(v, out);
}
