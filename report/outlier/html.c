/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/outlier/html.h"

#include <math.h>
#include <string.h>

#include "analysis/cause/kind.h"
#include "analysis/outlier/outlier.h"
#include "base/text.h"
#include "report/html/figure.h"
#include "report/html/html.h"
#include "report/html/page.h"
#include "report/outlier/hints.h"
#include "report/outlier/outlier.h"
#include "trace/meta/meta.h"

#define ROWS_MAX   200 /* rows of the table */
#define BLOCKS_MAX 40  /* blocks with a figure, as far as they fit into HTML_DETAILS_BYTES */
#define LISTED_MAX 25  /* calls of a block */
#define CALLS_MAX  10  /* calls that are shown with their callees */
#define TICKS	   4

/*
 * The color of each cause's group; the last row is for all other groups. report.css has the colors.
 */
static const struct colour {
	enum cause_group group;
	const char *class, *words;
} colours[] = {
	{ CAUSE_PATH, "c-path", "slow path or callee" },
	{ CAUSE_LOCK, "c-lock", "lock contention" },
	{ CAUSE_IO, "c-io", "input/output" },
	{ CAUSE_FAULT, "c-fault", "page faults" },
	{ CAUSE_CPU, "c-cpu", "run queue" },
	{ CAUSE_PAUSE, "c-pause", "all threads stopped" },
	{ CAUSE_FIRST, "c-first", "first call" },
	{ CAUSE_UNKNOWN, "c-own", "unknown" },
	{ CAUSE_WAIT, "c-wait", "other waiting" },
};
#define COLOURS (sizeof(colours) / sizeof(colours[0]))

static const struct colour *colour_of(const struct outlier *x)
{
	const struct cause_kind *kind = cause_kind_find(x->cause);
	const struct colour *c = colours;

	while (c < colours + COLOURS - 1 && !(kind && kind->group == c->group))
		c++;
	return c;
}

/* ---- the figure ---- */

static const struct html_plot plot = {
	.width = 760, .height = 260, .left = 62, .right = 750, .top = 10, .bottom = 230
};

struct axes {
	double last; /* index of the last call */
	struct html_scale ns;
};

static double x_of(const struct axes *a, double index)
{
	return html_plot_x(&plot, index / a->last);
}

static double y_of(const struct axes *a, double ns)
{
	return html_plot_y(&plot, html_scale_part(&a->ns, ns));
}

static void draw_axes(const struct axes *a, struct text *out)
{
	char number[TEXT_NUMBER];

	html_decades(out, &plot, &a->ns);
	html_axis_names(out, &plot, "call", "duration");
	for (int i = 0; i <= TICKS; i++)
		html_label(out, x_of(a, a->last * i / TICKS), plot.height - 10,
			   !i		? "start"
			   : i == TICKS ? "end"
					: "middle",
			   text_count(number, (uint64_t)(a->last * i / TICKS)));
}

#define LINE_STEPS 32 /* a straight line is a curve on a logarithmic scale */

static void draw_line(const struct axes *a, const struct outlier_block *b, double above,
		      const char *class, struct text *out)
{
	html_curve(out, class);
	for (int i = 0; i <= LINE_STEPS; i++) {
		double index = a->last * i / LINE_STEPS;

		html_point(out, x_of(a, index),
			   y_of(a, b->line.intercept + b->line.slope * index + above));
	}
	html_curve_end(out, NULL);
}

static void draw_points(const struct axes *a, const struct outlier_block *b, struct text *out)
{
	char time[TEXT_NUMBER];

	vec_for_each (&b->sample, const struct outlier_point, p)
		text_printf(out, "<circle class=\"m\" cx=\"%.1f\" cy=\"%.1f\" r=\"1.3\"/>",
			    x_of(a, (double)p->index), y_of(a, (double)p->ns));
	vec_for_each (&b->kept, const struct outlier, x) {
		text_printf(out,
			    "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\"><title>%llu: "
			    "%s, ",
			    colour_of(x)->class, x_of(a, (double)x->index),
			    y_of(a, (double)x->duration_ns), (unsigned long long)x->index,
			    text_time(time, x->duration_ns));
		html_text(out, x->evidence);
		text_add(out, "</title></circle>");
	}
}

static void legend(const struct outlier_block *b, struct text *out)
{
	for (size_t i = 0; i < COLOURS; i++) {
		size_t n = 0;

		vec_for_each (&b->kept, const struct outlier, x)
			n += colour_of(x) == &colours[i];
		if (n)
			text_printf(out,
				    "<span class=\"key %s\"></span>%s <span class=\"num\">%zu"
				    "</span>",
				    colours[i].class, colours[i].words, n);
	}
}

static void figure(const struct outlier_block *b, struct text *out)
{
	struct axes a = { b->begun > 1 ? (double)(b->begun - 1) : 1,
			  html_scale_of(b->durations.min, b->durations.max) };

	html_figure(out, &plot, "Durations of calls in the order in which they began", "");
	draw_axes(&a, out);
	draw_points(&a, b, out);
	draw_line(&a, b, 0, "curve", out);
	draw_line(&a, b, b->line.bound_ns, "least bound", out);
	html_caption(out,
		     "Durations (logarithmic) of calls in the order in which they began, their "
		     "trend, and, dashed, the bound above which a call is an outlier. ");
	if ((double)b->sample.n < b->n)
		text_printf(out, "Grey: %zu of %llu. ", b->sample.n,
			    (unsigned long long)b->durations.count);
	legend(b, out);
	html_figure_end(out);
}

/* ---- tables ---- */

static void time_cell(struct text *out, uint64_t ns)
{
	text_printf(out, "<td data-value=\"%llu\">", (unsigned long long)ns);
	html_time(out, ns);
	text_add(out, "</td>");
}

/* i is the number of the block's figure, if it is drawn. */
static void block_row(const struct outlier_block *b, size_t i, bool drawn, struct text *out)
{
	text_printf(out, "<tr%s>", b->own ? "" : " class=\"rest\"");
	time_cell(out, b->own_ns - b->own_idle_ns);
	time_cell(out, b->durations.max);
	text_printf(out, "<td>%llu</td>", (unsigned long long)b->durations.count);
	time_cell(out, (uint64_t)b->mean_y);
	time_cell(out, (uint64_t)b->stddev_ns);
	text_printf(out, "<td>%llu</td><td>%.2g%%</td><td class=\"name\">",
		    (unsigned long long)b->own, 100 * (double)b->own / (double)b->durations.count);
	vec_for_each (&b->hints, const struct outlier_hint, h)
		text_printf(out, "%s%s", h == b->hints.data ? "" : ", ", outlier_hint_title(h));
	text_add(out, "</td><th scope=\"row\" class=\"name\">");
	if (drawn)
		text_printf(out, "<a href=\"#block%zu\">", i);
	html_short(out, b->name);
	text_add(out, drawn ? "</a></th></tr>\n" : "</th></tr>\n");
}

static void block_table(const struct outlier_view *v, size_t drawn, struct text *out)
{
	static const char *const names[] = { "time",	 "max",	     "calls", "mean",
					     "std dev",	 "outliers", "share", "behaviors",
					     "function", NULL };
	size_t n = v->outliers->blocks.n;

	html_section(out, "blocks", "Functions by the time of their outliers");
	html_table(out, "blocks", "id=\"outliers\"");
	html_heads(out, names, 7);
	for (size_t i = 0; i < n && i < ROWS_MAX; i++)
		block_row(&v->outliers->blocks.data[i], i, i < drawn, out);
	html_table_end(out);
	html_more(out, n, ROWS_MAX, "functions are left out.");
	html_section_end(out);
}

static void hint_list(const struct outlier_block *b, struct text *out)
{
	text_add(out, "<ul>\n");
	vec_for_each (&b->hints, const struct outlier_hint, h) {
		text_add(out, "<li>");
		text_printf(out, "<strong>%s</strong>", outlier_hint_title(h));
		if (!isnan(h->share))
			text_printf(out, " %.0f%%", 100 * h->share);
		text_add(out, ": ");
		html_text(out, h->evidence);
		text_add(out, "</li>\n");
	}
	text_add(out, "</ul>\n");
}

static void usual(const struct outlier_block *b, const struct outlier_usual *u, struct text *out)
{
	if (!u) {
		text_add(out, "; <strong>typically not called</strong>");
		return;
	}
	text_printf(out, "; typically %.2g times, ", (double)u->calls / (double)b->typical.n);
	html_time(out, u->ns / b->typical.n);
}

static void callees(const struct outlier_view *v, const struct outlier_block *b,
		    const struct outlier *x, uint32_t parent, struct text *out)
{
	char times[TEXT_COUNTED];
	bool any = false;

	for (uint32_t i = 0; i < x->n_callees; i++) {
		const struct outlier_callee *c = &x->callees[i];

		if (c->parent != parent)
			continue;
		text_add(out, any ? "<li>" : "<ul>\n<li>");
		any = true;
		html_short(out, v->outliers->meta->functions.data[c->id].name);
		text_printf(out, " <span class=\"quiet\">%s, ",
			    text_counted(times, c->calls, "time"));
		html_time(out, c->ns);
		usual(b, outlier_usual_of(b, x, i), out);
		text_add(out, "</span>");
		callees(v, b, x, i, out);
		text_add(out, "</li>\n");
	}
	if (any && x->rest && parent == OUTLIER_TOP)
		text_add(out, "<li class=\"quiet\">and others</li>\n");
	if (any)
		text_add(out, "</ul>\n");
}

/*
 * Adds the callees of a call, as nested lists that a click unfolds (open: unfolded from the
 * start), and its call site. Adds nothing if neither was recorded.
 */
static void callee_lists(const struct outlier_view *v, const struct outlier_block *b,
			 const struct outlier *x, bool open, struct text *out)
{
	struct text from = { 0 };

	outlier_called_from(v, x, &from);
	if (x->n_callees || from.n) {
		text_printf(out, "<details%s><summary>Callees of %s %llu</summary>\n",
			    open ? " open" : "", outlier_unit(b), (unsigned long long)x->index);
		callees(v, b, x, OUTLIER_TOP, out);
		if (from.n) {
			text_add(out, "<p class=\"quiet\">");
			html_text(out, from.s);
			text_add(out, "</p>\n");
		}
		text_add(out, "</details>");
	}
	text_release(&from);
}

/* i is the number of the call in the list. */
static void call_row(const struct outlier_view *v, const struct outlier_block *b,
		     const struct outlier *x, size_t i, struct text *out)
{
	struct text also = { 0 };

	text_printf(out, "<tr><td>%llu</td><td>%.6f</td>", (unsigned long long)x->index,
		    (double)(x->entry_ns - v->start_ns) / 1e9);
	time_cell(out, x->duration_ns);
	time_cell(out, (uint64_t)outlier_expected(b, x->index));
	text_printf(out,
		    "<td>%u</td><td class=\"name\"><span class=\"key %s\"></span>%s</td><td "
		    "class=\"name\">",
		    x->tid, colour_of(x)->class, outlier_cause_name(x));
	html_text(out, x->evidence);
	outlier_meanwhile(x, &also);
	if (also.n) {
		text_add(out, "<br><span class=\"quiet\">");
		html_text(out, also.s);
		text_add(out, "</span>");
	}
	text_release(&also);
	if (i < CALLS_MAX)
		callee_lists(v, b, x, !i, out);
	text_add(out, "</td></tr>\n");
}

static int by_residual(const void *a, const void *b)
{
	const struct outlier *const *x = a, *const *y = b;

	if ((*x)->residual_ns != (*y)->residual_ns)
		return (*x)->residual_ns > (*y)->residual_ns ? -1 : 1;
	return ((*x)->index > (*y)->index) - ((*x)->index < (*y)->index);
}

/* Adds the outliers, those farthest above the trend first. */
static void call_rows(const struct outlier_view *v, const struct outlier_block *b, struct text *out)
{
	struct {
		VEC(const struct outlier *)
	} worst = { 0 };

	vec_for_each (&b->kept, const struct outlier, x)
		*vec_add(&worst) = x;
	vec_sort(&worst, by_residual);
	for (size_t i = 0; i < worst.n && i < LISTED_MAX; i++)
		call_row(v, b, worst.data[i], i, out);
	vec_release(&worst);
}

static void calls(const struct outlier_view *v, const struct outlier_block *b, struct text *out)
{
	static const char *const names[] = { "call",   "at s",	"took",	    "trend",
					     "thread", "cause", "evidence", NULL };

	if (!b->kept.n)
		return;
	text_add(out, "<table>");
	html_heads(out, names, 5);
	call_rows(v, b, out);
	text_add(out, "</tbody></table>\n");
	if (b->divergent > LISTED_MAX)
		text_printf(out,
			    "<p class=\"quiet\">The worst %d of %llu; <code>ispot outliers --csv"
			    "</code> has the %zu longest.</p>\n",
			    LISTED_MAX, (unsigned long long)b->divergent, b->kept.n);
}

static void block_detail(const void *view, size_t i, struct text *out)
{
	const struct outlier_view *v = view;
	const struct outlier_block *b = &v->outliers->blocks.data[i];

	text_printf(out, "<details id=\"block%zu\"%s><summary>", i, i < 3 ? " open" : "");
	html_short(out, b->name);
	text_printf(out, " <span class=\"quiet\">%s</span></summary>\n", outlier_kind_name(b));
	figure(b, out);
	hint_list(b, out);
	calls(v, b, out);
	text_add(out, "</details>\n");
}

/* Adds the blocks in detail. Returns how many fit. */
static size_t details(const struct outlier_view *v, struct text *out)
{
	const struct html_parts parts = {
		.n = v->outliers->blocks.n,
		.most = BLOCKS_MAX,
		.one = block_detail,
		.left_out = "functions are not drawn.",
	};

	return html_each(out, "Each function", &parts, v);
}

static void head(const struct outlier_view *v, struct text *out)
{
	html_page(out, "ispot", v->program, *v->program ? v->program : v->file);
	html_time(out, v->outliers->duration_ns);
	text_add(out, " · ");
	html_text(out, v->command);
	html_main(out);
}

static void notes(const struct outlier_view *v, struct text *out)
{
	html_section(out, "notes", "Notes");
	text_printf(out, "<ul>\n<li>Rule: %s.</li>\n",
		    v->outliers->rule == OUTLIER_PAPER
			    ? "above the trend (least squares) by one standard deviation"
			    : "above the trend (medians) by five robust standard deviations");
	for (const char *const *n = v->notices; *n; n++)
		html_item(out, *n);
	text_add(out, "</ul>\n");
	html_section_end(out);
}

void report_outliers_html(const struct outlier_view *v, struct text *out)
{
	struct text drawn = { 0 };
	size_t n = details(v, &drawn);

	head(v, out);
	block_table(v, n, out);
	text_addn(out, drawn.s, drawn.n);
	notes(v, out);
	html_page_end(out);
	text_release(&drawn);
}
