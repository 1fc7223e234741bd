/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/outlier/outlier.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/outlier/outlier.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/block/view.h"
#include "report/screen/next.h"
#include "report/screen/row.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define BLOCKS_DEFAULT	   10
#define EXECUTIONS_DEFAULT 10
#define INDENT		   8
#define WIDE_SHARE	   0.1 /* as many divergent ones: its durations vary, none stands out */
#define STACK_FRAMES	   8
#define FELT_PART	   100 /* of an execution's time: what is less is not worth a word */
#define NUMBERS		   8   /* of outliers, named in a row: the rest is counted */

const char *outlier_kind_name(const struct outlier_block *b)
{
	return outlier_is_section(b)	 ? "critical section"
	       : b->kind == BLOCK_MARKER ? "marker"
					 : "function";
}

static void time_cell(struct table *t, double ns)
{
	char number[TEXT_NUMBER];

	table_right(t, text_time(number, ns > 0 ? (uint64_t)(ns + 0.5) : 0), 8);
}

static void count_cell(struct table *t, uint64_t count, unsigned width)
{
	char number[TEXT_NUMBER];

	table_right(t, text_count(number, count), width);
}

static double own_share(const struct outlier_block *b)
{
	return (double)b->own / (double)b->durations.count;
}

/* A paragraph with its first line at INDENT, the others two further. */
static void indented(const struct outlier_view *v, const char *s, struct text *out)
{
	struct text wrapped = { 0 };
	unsigned indent = INDENT;

	text_wrap(s, v->width - INDENT - 2, &wrapped);
	for (const char *l = wrapped.s; l && *l; l += strcspn(l, "\n") + 1) {
		text_printf(out, "%*s%.*s\n", indent, "", (int)strcspn(l, "\n"), l);
		indent = INDENT + 2;
	}
	text_release(&wrapped);
}

static void count_kinds(const struct outliers *o, size_t *sections, size_t *markers)
{
	*sections = *markers = 0;
	vec_for_each (&o->blocks, const struct outlier_block, b) {
		*sections += outlier_is_section(b);
		*markers += b->kind == BLOCK_MARKER;
	}
}

/* Says what recording costs; for a program that was attached to, its own part is not known. */
static void instrumentation(const struct outliers *o, struct text *out)
{
	const struct meta_end *end = &o->meta->end;
	char words[META_COST_WORDS];

	if (end->target_cpu_ns == META_UNKNOWN || !end->target_cpu_ns)
		text_printf(out, "  recording took %s", text_time(words, end->probes_cost_ns));
	else
		text_printf(out, "  %s",
			    meta_cost_words(words, (double)end->target_cpu_ns,
					    (double)end->probes_cost_ns,
					    (double)(end->end_ns - o->start_ns)));
}

static void header(const struct outlier_view *v, struct text *out)
{
	const struct outliers *o = v->outliers;
	const struct meta_end *end = &o->meta->end;
	char program[128], time[TEXT_NUMBER], held[TEXT_NUMBER], counted[TEXT_COUNTED];
	size_t sections, markers, functions;

	count_kinds(o, &sections, &markers);
	functions = o->blocks.n - sections - markers;
	text_printable(program, sizeof(program), *v->program ? v->program : v->file);
	text_printf(out, "%s  %s", program, text_time(time, o->duration_ns));
	if (functions || !sections)
		text_printf(out, "  %s", text_counted(counted, functions, "function"));
	if (markers)
		text_printf(out, "  %s", text_counted(counted, markers, "marker"));
	if (sections)
		text_printf(out, "  %s, held for %s",
			    text_counted(counted, sections, "critical section"),
			    text_time(held, o->section_ns));
	if (end->present && end->probes_cost_ns != META_UNKNOWN)
		instrumentation(o, out);
	text_add(out, "\n\n");
}

static uint64_t busy_ns(const struct outlier *x)
{
	return x->duration_ns > x->off.idle_ns ? x->duration_ns - x->off.idle_ns : 0;
}

static const struct outlier *longest(const struct outlier_block *b)
{
	const struct outlier *longest = NULL;

	vec_for_each (&b->kept, const struct outlier, x)
		if (!x->passed && (!longest || busy_ns(x) > busy_ns(longest)))
			longest = x;
	return longest;
}

static void headline(const struct outlier_view *v, const struct outlier_block *b, struct text *out)
{
	const struct outlier *x = longest(b);
	char took[TEXT_NUMBER], p50[TEXT_NUMBER], n[TEXT_COUNTED];
	struct text line = { 0 };

	text_printf(&line, "Of %s of the %s %s, %llu %s. Number %llu took %s",
		    text_counted(n, b->durations.count, "execution"), outlier_kind_name(b), b->name,
		    (unsigned long long)b->own, b->own == 1 ? "is an outlier" : "are outliers",
		    (unsigned long long)x->index, text_time(took, x->duration_ns));
	if (b->durations.count > 2)
		text_printf(&line, "; the median is %s",
			    text_time(p50, hist_quantile(&b->durations, 0.5)));
	text_printf(&line, ". Cause: %s.", x->evidence);
	text_wrap(line.s, v->width, out);
	text_release(&line);
	text_add(out, "\n");
}

/* "0, 25, 48": its own of those that are kept, by index. */
static void indices(const struct outlier_view *v, const struct outlier_block *b, struct text *out)
{
	struct text line = { 0 };
	size_t n = 0;

	text_add(&line, "executions");
	vec_for_each (&b->kept, const struct outlier, x) {
		if (n == NUMBERS && b->own > NUMBERS + 2)
			break;
		if (!x->passed)
			text_printf(&line, "%s %llu", n++ ? "," : "", (unsigned long long)x->index);
	}
	if (n < b->own)
		text_printf(&line, " … %llu more", (unsigned long long)(b->own - n));
	indented(v, line.s, out);
	text_release(&line);
}

/* The one that accounts for most is first; those without a share are last, as they stand. */
static bool comes_before(const struct outlier_hint *x, const struct outlier_hint *y)
{
	if (!isnan(x->share) && !isnan(y->share) && x->share != y->share)
		return x->share > y->share;
	if (isnan(x->share) != isnan(y->share))
		return isnan(y->share);
	return x < y;
}

static const struct outlier_hint *hint_at(const struct outlier_hints *hints, size_t place)
{
	vec_for_each (hints, const struct outlier_hint, h) {
		size_t before = 0;

		vec_for_each (hints, const struct outlier_hint, other)
			before += other != h && comes_before(other, h);
		if (before == place)
			return h;
	}
	return hints->data;
}

static void hints(const struct outlier_view *v, const struct outlier_block *b,
		  const struct outlier_hints *all, struct text *out)
{
	struct text line = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		const struct outlier_hint *h = hint_at(all, i);

		text_printf(&line, "%c %s", h->behaviour ? h->behaviour : '-', h->name);
		if (!isnan(h->share))
			text_printf(&line, " %.0f%%", 100 * h->share);
		text_printf(&line, ": %s", h->evidence);
		indented(v, line.s, out);
		text_release(&line);
		line = (struct text){ 0 };
	}
	if (own_share(b) > WIDE_SHARE && b->durations.count >= 100)
		indented(v,
			 "- wide range: so many are outliers that none stands out; the time may "
			 "depend on the arguments",
			 out);
}

static void row(const struct outlier_view *v, struct table *t, const struct outlier_block *b)
{
	char share[16];

	time_cell(t, (double)(b->own_ns - b->own_idle_ns));
	time_cell(t, (double)b->durations.max);
	count_cell(t, b->durations.count, 6);
	time_cell(t, b->mean_y);
	time_cell(t, b->stddev_ns);
	snprintf(share, sizeof(share), "%.2g%%", 100 * own_share(b));
	table_right(t, share, 8);
	text_add(t->out, "  ");
	t->used += 2;
	text_whole(t, b->name);
	if (b->own)
		indices(v, b, t->out);
	hints(v, b, b->own && b->own != b->divergent ? &b->own_hints : &b->hints, t->out);
}

/* Those that diverge by themselves, and those of which there is but one execution. */
static bool worth(const struct outlier_block *b)
{
	return b->own || b->begun + b->brief == 1;
}

#define CALLERS_NAMED 3

/* Those whose outliers are told of the functions that they call. */
static void passed_on(const struct outlier_view *v, struct text *out)
{
	struct text line = { 0 };
	size_t n = 0;

	vec_for_each (&v->outliers->blocks, const struct outlier_block, b) {
		if (b->own || !b->divergent)
			continue;
		if (n++ < CALLERS_NAMED)
			text_printf(&line, "%s%s (%llu)", n > 1 ? ", " : "", b->name,
				    (unsigned long long)b->divergent);
	}
	if (n > CALLERS_NAMED)
		text_printf(&line, ", %zu more", n - CALLERS_NAMED);
	if (n) {
		text_add(&line, ": their outliers are those of calls in them (--of NAME).");
		text_wrap(line.s, v->width, out);
	}
	text_release(&line);
}

#define NEXT_WORDS NEXT_COMMENT "its worst, and what they called"

/* The executions of the first block, one by one. */
static void next(const struct outlier_view *v, const struct outlier_block *b, struct text *out)
{
	struct text line = { 0 };
	char file[1024];

	text_add(&line, "Next:  ispot outliers --of ");
	text_shell_word(&line, b->name);
	if (v->file && strcmp(v->file, "ispot.data") != 0) {
		text_add(&line, " -i ");
		text_shell_word(&line, text_printable(file, sizeof(file), v->file));
	}
	if (table_columns(line.s) + sizeof(NEXT_WORDS) <= v->width)
		text_add(&line, NEXT_WORDS);
	text_printf(out, "%s\n", line.s);
	text_release(&line);
}

static void rows(const struct outlier_view *v, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	size_t top = v->top ? v->top : BLOCKS_DEFAULT, n = 0, rest = 0;
	struct text note = { 0 };

	text_add(out, " OUTLIERS     MAX   RUNS     MEAN   STDDEV    SHARE  BLOCK\n");
	vec_for_each (&v->outliers->blocks, const struct outlier_block, b) {
		if (!worth(b))
			continue;
		if (n++ < top)
			row(v, &t, b);
		else
			rest++;
	}
	if (rest)
		text_printf(out, "%zu more blocks with less time in outliers (--top)\n", rest);
	text_printf(&note,
		    "OUTLIERS: time of the executions that take longer than the trend of their "
		    "block by more than %s, without idle waiting. One that is long because a call "
		    "in it is an outlier counts there alone. SHARE: of all executions. Behaviors A "
		    "to H: see ispot-outliers(1).",
		    v->outliers->rule == OUTLIER_PAPER ? "one standard deviation"
						       : "five robust standard deviations");
	passed_on(v, out);
	text_wrap(note.s, v->width, out);
	next(v, &v->outliers->blocks.data[0], out);
	text_release(&note);
}

/* ---- one block ---- */

/* "1.2ms + 0.3ns for each execution before"; "1.2ms" where it is flat. */
static void line_words(const struct outlier_line *l, struct text *out)
{
	char at[TEXT_NUMBER], by[TEXT_NUMBER];
	double slope = fabs(l->slope);

	text_printf(out, "%s%s", l->intercept < 0 ? "-" : "",
		    text_time(at, (uint64_t)(fabs(l->intercept) + 0.5)));
	if (!slope)
		return;
	text_time(by, (uint64_t)(slope + 0.5));
	if (slope < 10)
		snprintf(by, sizeof(by), "%.2gns", slope);
	text_printf(out, " %c %s for each execution before", l->slope < 0 ? '-' : '+', by);
}

static void usual_line(const struct outlier_view *v, const struct outlier_block *b,
		       struct text *out)
{
	const struct outlier_line *l = &b->line;
	char min[TEXT_NUMBER], p50[TEXT_NUMBER], p99[TEXT_NUMBER], max[TEXT_NUMBER],
		mean[TEXT_NUMBER], sd[TEXT_NUMBER], bound[TEXT_NUMBER], threads[TEXT_COUNTED];
	struct text line = { 0 };

	text_printf(&line, "%llu executions", (unsigned long long)b->durations.count);
	if (b->threads) /* what --keep-slower left out does not tell */
		text_printf(&line, " in %s", text_counted(threads, b->threads, "thread"));
	text_printf(&line, ": min %s, median %s, mean %s, p99 %s, max %s, standard deviation %s. ",
		    text_time(min, b->durations.min),
		    text_time(p50, hist_quantile(&b->durations, 0.5)),
		    text_time(mean, (uint64_t)b->mean_y),
		    text_time(p99, hist_quantile(&b->durations, 0.99)),
		    text_time(max, b->durations.max), text_time(sd, (uint64_t)b->stddev_ns));
	text_add(&line, "Trend: ");
	line_words(l, &line);
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

/* A tree: below each callee what it called. */
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

void outlier_called_from(const struct outlier_view *v, const struct outlier *x, struct text *out)
{
	const struct meta *meta = v->outliers->meta;
	uint32_t id = x->stack ? x->stack : x->site;
	uint32_t first = x->stack ? 1 : 0; /* frame 0 of its own is the function itself */
	const struct meta_stack *s = id < meta->stacks.n ? &meta->stacks.data[id] : NULL;

	if (!s || s->n_frames <= first)
		return;
	text_add(out, "called from");
	for (uint32_t i = first; i < s->n_frames && i < first + STACK_FRAMES; i++) {
		const struct meta_frame *f =
			s->frames[i] < meta->frames.n ? &meta->frames.data[s->frames[i]] : NULL;

		if (!f || !f->symbol)
			continue;
		text_printf(out, "%s %s", i > first ? " <" : "",
			    *f->symbol ? f->symbol : text_base_name(f->object));
		if (*f->file && f->line)
			text_printf(out, " (%s:%u)", text_base_name(f->file), f->line);
	}
	if (!x->stack || s->n_frames > first + STACK_FRAMES)
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
	indented(v, clean, out);
	free(clean);
	text_release(&line);
}

/* A clause of a list, unless the evidence says as much. */
static void add_clause(const struct outlier *x, const char *subject, const char *what,
		       struct text *list)
{
	if (!strstr(x->evidence, what))
		text_printf(list, "%s%s%s", list->n ? ", " : "meanwhile ", subject, what);
}

static bool is_felt(const struct outlier *x, uint64_t ns)
{
	return ns && ns >= x->duration_ns / FELT_PART;
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
		{ x->off.blocked_ns + x->off.idle_ns, "asleep " },
		{ x->off.preempted_ns, "ready without a CPU " },
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

static void execution(const struct outlier_view *v, const struct outlier_block *b,
		      const struct outlier *x, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	struct text also = { 0 };
	char cell[64];

	snprintf(cell, sizeof(cell), "%llu", (unsigned long long)x->index);
	table_right(&t, cell, 9);
	snprintf(cell, sizeof(cell), "%.6f", (double)(x->entry_ns - v->start_ns) / 1e9);
	table_right(&t, cell, 11);
	time_cell(&t, (double)x->duration_ns);
	time_cell(&t, outlier_expected(b, x->index));
	snprintf(cell, sizeof(cell), "%u", x->tid);
	table_right(&t, cell, 8);
	text_add(out, "  ");
	t.used += 2;
	table_last(&t, x->cause);
	indented(v, x->evidence, out);
	outlier_meanwhile(x, &also);
	if (also.n)
		indented(v, also.s, out);
	text_release(&also);
	callees(v, b, x, OUTLIER_TOP, INDENT + 2, out);
	stack(v, x, out);
}

static void detail(const struct outlier_view *v, struct text *out)
{
	const struct outlier_block *b = v->of;
	size_t n = b->kept.n, top = v->top ? v->top : EXECUTIONS_DEFAULT;
	const struct outlier **worst = xcalloc(n + 1, sizeof(*worst));

	text_printf(out, "%s %s\n", outlier_kind_name(b), b->name);
	usual_line(v, b, out);
	text_add(out, "\n");
	hints(v, b, &b->hints, out);
	if (n && b->hints.n)
		text_add(out, "\n");
	if (n)
		text_add(out, "   NUMBER        AT s     TOOK    TREND   THREAD  CAUSE\n");
	for (size_t i = 0; i < n; i++)
		worst[i] = &b->kept.data[i];
	qsort(worst, n, sizeof(*worst), by_residual);
	for (size_t i = 0; i < n && i < top; i++)
		execution(v, b, worst[i], out);
	if (b->divergent > top)
		text_printf(out, "%llu more outlier%s, closer to the trend (--top)\n",
			    (unsigned long long)(b->divergent - top),
			    b->divergent == top + 1 ? "" : "s");
	free(worst);
}

void report_outliers_text(const struct outlier_view *v, struct text *out)
{
	const struct outliers *o = v->outliers;
	struct text line = { 0 };

	header(v, out);
	if (v->of) {
		detail(v, out);
	} else if (o->blocks.n && o->blocks.data[0].own) {
		headline(v, &o->blocks.data[0], out);
		rows(v, out);
	} else if (!o->blocks.n) {
		text_wrap("No execution to look at: the recording has no call with both its entry "
			  "and its exit.",
			  v->width, out);
	} else {
		text_wrap("No outliers: each execution took about as long as the trend of its "
			  "block says.",
			  v->width, out);
	}
	for (const char *const *n = v->notices; *n; n++) {
		text_printf(&line, "note: %s", *n);
		text_wrap(line.s, v->width, out);
		text_release(&line);
		line = (struct text){ 0 };
	}
}
