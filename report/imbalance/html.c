/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/imbalance/html.h"

#include <math.h>
#include <stdio.h>

#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/imbalance.h"
#include "base/text.h"
#include "report/html/html.h"
#include "report/html/page.h"
#include "report/imbalance/figures.h"
#include "report/imbalance/imbalance.h"
#include "report/imbalance/internal.h"

#define ROWS_MAX     200 /* rows of the table */
#define SECTIONS_MAX 60	 /* sections with figures, as far as they fit into HTML_DETAILS_BYTES */
#define OPEN	     3	 /* sections that are shown unfolded */
#define CAUSES_MAX   30	 /* causes of a section */

/* Adds a cell with a time in the view's unit. NAN: unknown. */
static void time_cell(const struct imbalance_view *v, const char *key, double value,
		      struct text *out)
{
	char number[TEXT_NUMBER];

	if (isnan(value))
		text_printf(out, "<td data-key=\"%s\" data-value=\"\">n/a</td>", key);
	else
		text_printf(
			out, "<td data-key=\"%s\" data-value=\"%.0f\">%s</td>", key,
			floor(value + 0.5),
			(v->exact_time ? text_time : text_count)(number, (uint64_t)(value + 0.5)));
}

static void count_cell(const char *key, uint64_t count, struct text *out)
{
	char number[TEXT_NUMBER];

	text_printf(out, "<td data-key=\"%s\" data-value=\"%llu\">%s</td>", key,
		    (unsigned long long)count, text_count(number, count));
}

static void share_cell(const char *key, double share, struct text *out)
{
	html_cell(out, key, share, 100, "%.0f%%");
}

/* ---- all sections ---- */

static void section_row(const struct imbalance_view *v, size_t i, bool has_figure, struct text *out)
{
	const struct parallel_section *s = &v->imbalance->sections.data[i];
	const struct section_thread *worst = section_worst(s);
	char title[IMBALANCE_THREAD];
	struct text name = { 0 };

	text_add(out, "<tr>");
	time_cell(v, "lost", s->lost, out);
	share_cell("imbalance", section_imbalance(s), out);
	count_cell("instances", s->instances, out);
	count_cell("threads", s->threads.n, out);
	share_cell("worst_share", imbalance_share_last(s, worst), out);
	text_add(out, "<td class=\"name\">");
	html_short(out, imbalance_thread(v, s, worst->thread, title));
	text_add(out, "</td><th scope=\"row\" class=\"name\">");
	if (has_figure)
		text_printf(out, "<a href=\"#section%zu\">", i);
	imbalance_section_name(s, &name);
	html_short(out, name.s);
	text_add(out, has_figure ? "</a></th></tr>\n" : "</th></tr>\n");
	text_release(&name);
}

static void section_table(const struct imbalance_view *v, size_t n_figures, struct text *out)
{
	static const char *const names[] = { "waited",	"imbalance", "iterations", "threads",
					     "slowest", "thread",    "region",	   NULL };
	size_t n = v->imbalance->sections.n;

	html_section(out, "sections", "Regions by waiting time");
	html_table(out, "sections", "id=\"uneven\"");
	html_heads(out, names, 5);
	for (size_t i = 0; i < n && i < ROWS_MAX; i++)
		section_row(v, i, i < n_figures, out);
	html_table_end(out);
	html_more(out, n, ROWS_MAX, "regions are left out.");
	text_printf(
		out,
		"<p class=\"quiet\">waited: thread time spent waiting at the region's end, in %s; "
		"imbalance: its share of all thread time there; slowest: the share of "
		"iterations in which the thread named next is the slowest.</p>\n</section>\n",
		imbalance_unit(v));
}

/* ---- a section ---- */

/* Begins a table of a section. The section's number i makes its id unique. */
static void part_table(struct text *out, const char *class, size_t i, const char *title)
{
	char id[32], attribute[32];

	snprintf(id, sizeof(id), "%s%zu", class, i);
	snprintf(attribute, sizeof(attribute), "class=\"%s\"", class);
	text_printf(out, "<h3 id=\"%s\">%s</h3>\n", id, title);
	html_table(out, id, attribute);
}

static void cause_row(const struct imbalance_view *v, const struct parallel_section *s,
		      const struct counted_cause *c, struct text *out)
{
	struct text line = { 0 };

	text_add(out, "<tr>");
	html_cell(out, "score", c->score, 1, "%.2f");
	text_add(out, "<td class=\"name\" data-key=\"place\" data-value=\"");
	imbalance_place(v, c->place, &line);
	html_short(out, line.s);
	text_add(out, "\">");
	html_short(out, line.s);
	text_add(out, " (");
	html_short(out, imbalance_function(v, c->place));
	text_printf(out, ")</td><td class=\"name\" data-key=\"kind\" data-value=\"%s\">%s", c->what,
		    imbalance_kind(c));
	text_release(&line);
	if (c->towards != MAP_NONE) {
		text_add(out, ", towards ");
		imbalance_place(v, c->towards, &line);
		html_short(out, line.s);
		text_release(&line);
	}
	imbalance_inlined(v, c, &line);
	if (line.s) {
		text_add(out, "; ");
		html_short(out, line.s);
		text_release(&line);
	}
	imbalance_caller(v, c, &line);
	if (line.s) {
		text_add(out, "; ");
		html_short(out, line.s);
		text_release(&line);
	}
	text_add(out, "</td><td class=\"name\" data-key=\"counts\" data-value=\"");
	for (size_t i = 0; i < s->threads.n && i < HTML_THREADS_MAX; i++)
		text_printf(out, "%s%llu", i ? " " : "", (unsigned long long)c->counts[i]);
	text_add(out, "\">");
	figure_counts(c->counts, s->threads.n, out);
	text_add(out, "</td><td class=\"name\"><code>");
	imbalance_source(v, c->place, &line);
	if (!line.s)
		imbalance_caller_source(v, c, &line);
	html_short(out, line.s ? line.s : "");
	text_add(out, "</code></td></tr>\n");
	text_release(&line);
}

static void causes(const struct imbalance_view *v, const struct parallel_section *s, size_t i,
		   struct text *out)
{
	static const char *const names[] = {
		"score", "place", "what", "by thread", "source", NULL
	};
	const struct counted_section *of = &v->counted->sections.data[s->number];

	if (!of->causes.n) {
		text_add(out, "<p>No line is to blame: ");
		imbalance_answer(v, s, out);
		text_add(out, ".</p>\n");
		return;
	}
	part_table(out, "causes", i, "Lines that make it uneven");
	html_heads(out, names, 1);
	for (size_t c = 0; c < of->causes.n && c < CAUSES_MAX; c++)
		cause_row(v, s, &of->causes.data[c], out);
	html_table_end(out);
	html_more(out, of->causes.n, CAUSES_MAX,
		  "with smaller scores; <code>--json</code> has them.");
}

static void thread_row(const struct imbalance_view *v, const struct parallel_section *s,
		       const struct section_thread *t, struct text *out)
{
	char title[IMBALANCE_THREAD];

	text_add(out, "<tr>");
	count_cell("instances", t->instances, out);
	count_cell("last", t->last, out);
	time_cell(v, "time", t->time, out);
	time_cell(v, "idle", t->idle, out);
	time_cell(v, "cpu_wait", t->cpu_wait, out);
	time_cell(v, "asleep", t->asleep, out);
	text_add(out, "<th scope=\"row\" class=\"name\">");
	html_short(out, imbalance_thread(v, s, t->thread, title));
	text_add(out, "</th></tr>\n");
}

static void threads(const struct imbalance_view *v, const struct parallel_section *s, size_t i,
		    struct text *out)
{
	static const char *const names[] = { "iterations", "slowest", "time",	"waited",
					     "run queue",  "asleep",  "thread", NULL };

	part_table(out, "threads", i, "Its threads");
	html_heads(out, names, 6);
	for (size_t t = 0; t < s->threads.n && t < HTML_THREADS_MAX; t++)
		thread_row(v, s, &s->threads.data[t], out);
	html_table_end(out);
	html_more(out, s->threads.n, HTML_THREADS_MAX, "threads are left out.");
}

static void section_detail(const void *view, size_t i, struct text *out)
{
	const struct imbalance_view *v = view;
	const struct parallel_section *s = &v->imbalance->sections.data[i];
	struct text name = { 0 };

	text_printf(out, "<details id=\"section%zu\"%s><summary>", i, i < OPEN ? " open" : "");
	imbalance_section_name(s, &name);
	html_short(out, name.s);
	text_release(&name);
	text_add(out, "</summary>\n<div class=\"figures\">\n");
	figure_threads(v, s, out);
	figure_largest(v, s, out);
	figure_instances(s, out);
	text_add(out, "</div>\n");
	if (v->counted)
		causes(v, s, i, out);
	threads(v, s, i, out);
	text_add(out, "</details>\n");
}

/* Adds the sections in detail. Returns how many fit. */
static size_t details(const struct imbalance_view *v, struct text *out)
{
	const struct html_parts parts = {
		.n = v->imbalance->sections.n,
		.most = SECTIONS_MAX,
		.one = section_detail,
		.left_out = "regions are not drawn.",
	};

	return html_each(out, "Each region", &parts, v);
}

/* ---- the page ---- */

static void head(const struct imbalance_view *v, struct text *out)
{
	struct text title = { 0 };

	imbalance_title(v, &title);
	html_page(out, "ispot", title.s, *v->program ? v->program : v->file);
	html_facts(out, title.s);
	if (*v->command) {
		text_add(out, " · ");
		html_short(out, v->command);
	}
	html_main(out);
	text_release(&title);
}

static void answer(const struct imbalance_view *v, struct text *out)
{
	struct text line = { 0 };

	if (v->imbalance->sections.n)
		imbalance_headline(v, &line);
	else
		imbalance_no_section(v, &line);
	html_answer(out, line.s);
	text_release(&line);
}

static void notes(const struct imbalance_view *v, struct text *out)
{
	struct text left_out = { 0 };

	html_section(out, "notes", "Notes");
	text_add(out, "<ul>\n");
	imbalance_left_out(v, &left_out);
	if (left_out.s)
		html_item(out, left_out.s);
	text_release(&left_out);
	if (v->counted)
		text_add(out, "<li>Score: how well the line explains who is slow; near 1 nearly "
			      "all of it.</li>\n");
	for (size_t i = 0; v->notices[i] && i < HTML_NOTES_MAX; i++)
		html_item(out, v->notices[i]);
	text_add(out,
		 "<li>Threads have the same order in figures and tables: that in which they first "
		 "took part.</li>\n</ul>\n");
	html_section_end(out);
}

void report_imbalance_html(const struct imbalance_view *v, struct text *out)
{
	struct text drawn = { 0 };
	size_t n = details(v, &drawn);

	head(v, out);
	answer(v, out);
	if (v->imbalance->sections.n)
		section_table(v, n, out);
	text_addn(out, drawn.s, drawn.n);
	notes(v, out);
	html_page_end(out);
	text_release(&drawn);
}
