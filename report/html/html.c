/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result/result.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/view.h"
#include "report/html/html.h"
#include "report/block/left_out.h"
#include "report/block/rank.h"
#include "report/html/page.h"
#include "report/html/sections.h"
#include "report/html/transitions.h"
#include "report/screen/next.h"
#include "report/screen/row.h"
#include "report/screen/screen.h"
#include "report/screen/text.h"
#include "report/screen/told.h"
#include "report/screen/untold.h"
#include "trace/meta/meta.h"

static const char *const table_columns_of[] = { "sci",	  "lost_threads", "calls", "min_ns",
						"p50_ns", "p99_ns",	  "floor", "verdict" };
#define TABLE_N (sizeof(table_columns_of) / sizeof(table_columns_of[0]))

void html_name(struct text *out, const struct block *b)
{
	struct text title = { 0 };

	if (block_is_wait(b)) {
		text_printf(&title, "[%s]", b->name);
	} else if (b->key) {
		text_title(b, HTML_NAME_MAX, &title);
	} else {
		text_add(&title, b->name);
	}
	html_short(out, title.s ? title.s : "?");
	text_release(&title);
}

/* Adds the value, shown in these words, or, if they are NULL, as it is. */
static void value_shown(struct text *out, const struct column *c, const struct block *b,
			const char *words)
{
	char scratch[VALUE_SCRATCH];
	struct value value = c->get(b, scratch);
	struct text exact = { 0 }, shown = { 0 };

	if (value.type != VALUE_TEXT)
		value_print_csv(&value, &exact);
	else
		text_add(&exact, value.text);
	if (words)
		text_add(&shown, words);
	else
		value_print(&value, &shown);
	text_printf(out, " data-key=\"%s\" data-value=\"", c->key);
	html_short(out, exact.s ? exact.s : "");
	text_add(out, "\">");
	html_short(out, shown.s ? shown.s : "");
	text_release(&exact);
	text_release(&shown);
}

void html_value(struct text *out, const struct column *c, const struct block *b)
{
	value_shown(out, c, b, NULL);
}

static void head(const struct view *v, struct text *out)
{
	struct text name = { 0 }, recorded = { 0 }, title = { 0 };

	text_program(v, &name);
	text_recorded(v, &recorded);
	text_printf(&title, "%s  %s", name.s, recorded.s);
	html_page(out, "ispot", title.s, name.s);
	html_text(out, recorded.s);
	html_main(out);
	text_release(&title);
	text_release(&recorded);
	text_release(&name);
}

static void bar_part(struct text *out, const char *class, double part)
{
	if (part > 0)
		text_printf(out, "<span class=\"%s\" style=\"width:%.2f%%\"></span>", class,
			    100 * part);
}

static void key(struct text *out, const char *class, const char *what, double ns,
		const struct result *res)
{
	text_printf(out, "<span class=\"key %s\"></span>%s ", class, what);
	html_exact(out, class, ns / (double)res->threads_ns, 100, "%.0f%%");
}

static void time_bar(const struct result *res, struct text *out)
{
	double all = (double)res->threads_ns;
	uint64_t running_ns = res->working_ns;

	if (res->working_ns == BLOCK_NONE || !(all > 0))
		return;
	if (res->runnable_ns != BLOCK_NONE)
		running_ns -= res->runnable_ns;
	text_printf(out,
		    "<div class=\"bar\" role=\"img\" aria-label=\"Thread time: %.0f%% lost, "
		    "%.0f%% unexplained, %.0f%% running, %.0f%% run queue, %.0f%% idle\">",
		    100 * (double)res->lost_ns / all, 100 * (double)res->unexplained_ns / all,
		    100 * (double)running_ns / all,
		    100 * (double)(res->working_ns - running_ns) / all,
		    100 * (double)res->idle_ns / all);
	bar_part(out, "lost", (double)res->lost_ns / all);
	bar_part(out, "unexplained", (double)res->unexplained_ns / all);
	bar_part(out, "work", (double)running_ns / all);
	bar_part(out, "queue", (double)(res->working_ns - running_ns) / all);
	bar_part(out, "wait", (double)res->idle_ns / all);
	text_add(out, "</div>\n<p>Thread time:");
	key(out, "lost", "lost", (double)res->lost_ns, res);
	if (res->unexplained_ns)
		key(out, "unexplained", "unexplained", (double)res->unexplained_ns, res);
	key(out, "work", "running", (double)running_ns, res);
	key(out, "queue", "run queue", (double)(res->working_ns - running_ns), res);
	key(out, "wait", "idle", (double)res->idle_ns, res);
	text_add(out, "</p>\n");
}

static void first_cause(const struct block *b, struct text *out)
{
	const struct cause *first = report_owns(b) ? report_main_cause(b) : NULL;
	struct text why = { 0 };

	if (!first && b->causes.n)
		first = b->causes.data;
	text_cause(b, &why);
	text_add(out, "<p id=\"cause\">First cause of <strong>");
	html_name(out, b);
	text_add(out, "</strong>: ");
	html_text(out, why.s ? why.s : "unknown");
	if (first && first->evidence.n) {
		text_add(out, " <span class=\"quiet\">");
		html_text(out, first->evidence.data[0]);
		text_add(out, "</span>");
	}
	text_add(out, "</p>\n");
	text_release(&why);
}

#define FIRST_NOTICES 3

/* Shows the first notices if no block explains the lost time, because they may say why. All notices
 * are at the end of the page. */
static void first_notices(const struct result *res, struct text *out)
{
	for (size_t i = 0; i < res->notices.n && i < FIRST_NOTICES; i++) {
		text_add(out, "<p>");
		html_text(out, res->notices.data[i].text);
		text_add(out, "</p>\n");
	}
}

static void answer(const struct view *v, struct text *out)
{
	const struct block *b = report_told_row(v);
	struct text conclusion = { 0 }, commands = { 0 };
	struct text line = { 0 };
	const char *next;

	html_section(out, "answer", "Where the time goes");
	time_bar(v->result, out);
	text_conclusion(v, &conclusion);
	html_answer(out, conclusion.s);
	text_release(&conclusion);
	if (b)
		first_cause(b, out);
	else
		first_notices(v->result, out);
	text_next(v, &commands);
	if (commands.n) {
		text_add(out, "<p>Next:</p>\n<pre id=\"next\">");
		for (next = commands.s; *next; next += strcspn(next, "\n"), next += *next == '\n') {
			size_t label = strspn(next, "Next: ");

			text_addn(&line, next + label, strcspn(next + label, "\n"));
			text_add(&line, "\n");
		}
		html_lines(out, line.s);
		text_add(out, "</pre>\n");
		text_release(&line);
	}
	text_release(&commands);
	html_section_end(out);
}

/* Lost time is a share of thread time, as in the sum above and on the screen. */
static const char *lost_words(const struct view *v, const struct block *b, char buf[TEXT_NUMBER])
{
	double ns = report_counted_ns(v, b);

	if (isnan(b->lost_threads) || !v->result->threads_ns)
		return "n/a";
	if (!(ns > 0))
		return "–";
	return text_lost_share(buf, ns / (double)v->result->threads_ns);
}

static void cell(const struct view *v, struct text *out, const struct column *c,
		 const struct block *b)
{
	char lost[TEXT_NUMBER];

	text_add(out, "<td");
	value_shown(out, c, b,
		    !strcmp(c->key, "lost_threads") ? lost_words(v, b, lost)
		    : !strcmp(c->key, "verdict")    ? verdict_words(b->verdict)
						    : NULL);
	text_add(out, "</td>");
}

static void table_row(const struct view *v, size_t i, bool detailed, struct text *out)
{
	const struct block *b = v->rows[i];
	struct text why = { 0 };

	text_printf(out, "<tr class=\"%s\">",
		    !report_worth(b)	      ? "rest"
		    : report_loses_much(v, b) ? "high"
					      : "low");
	for (unsigned c = 0; c < TABLE_N; c++)
		cell(v, out, column_find(table_columns_of[c]), b);
	text_cause(b, &why);
	text_add(out, "<td class=\"why\">");
	html_text(out, why.s ? why.s : "-");
	text_add(out, "</td><th scope=\"row\" class=\"name\">");
	if (detailed)
		text_printf(out, "<a href=\"#block%zu\">", i);
	html_name(out, b);
	text_add(out, detailed ? "</a></th></tr>\n" : "</th></tr>\n");
	text_release(&why);
}

static void blocks(const struct view *v, size_t detailed, struct text *out)
{
	size_t n = v->n_rows < HTML_BLOCKS_MAX ? v->n_rows : HTML_BLOCKS_MAX;

	html_section(out, "blocks", "Functions by lost time");
	html_table(out, "blocks", "id=\"ranked\"");
	text_add(out, "<thead><tr>");
	for (unsigned c = 0; c < TABLE_N; c++) {
		const struct column *column = column_find(table_columns_of[c]);

		text_printf(out, "<th scope=\"col\" title=\"%s\">%s</th>",
			    strcmp(column->key, "lost_threads") ? column->help
								: "lost time, of thread time",
			    column->head);
	}
	text_add(out, "<th scope=\"col\" class=\"name\">why</th><th scope=\"col\" "
		      "class=\"name\">function</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < n; i++)
		table_row(v, i, i < detailed, out);
	html_table_end(out);
	html_more(out, v->n_rows, n,
		  "functions are left out here; <code>ispot report --csv</code> has all.");
	text_add(
		out,
		"<p class=\"quiet\">SCI: slowdown score, the share of thread time by which the calls "
		"of a function take longer than its fastest. lost: the share of thread time that "
		"interference takes in the function itself, not in its callees. floor: what the probes alone would score. Names in brackets are where "
		"threads wait outside every traced function.</p>\n"
		"</section>\n");
}

static void left_out(const struct result *res, struct text *out)
{
	struct left_out all = { 0 };

	report_left_out(res, &all);
	for (size_t i = 0; i < all.n && i < HTML_NOTES_MAX; i++) {
		struct text line = { 0 };

		text_printf(&line, "%s: ", report_left_out_label(&all.data[i]));
		report_left_out_line(res, &all.data[i], &line);
		html_item(out, line.s);
		text_release(&line);
	}
	if (all.n > HTML_NOTES_MAX)
		text_printf(out, "<li>%zu more functions were not traced.</li>\n",
			    all.n - HTML_NOTES_MAX);
	vec_release(&all);
}

static void notes(const struct view *v, struct text *out)
{
	const struct result *res = v->result;

	html_section(out, "notes", "Notes");
	text_add(out, "<ul>\n");
	if (res->damage)
		html_item(out, res->damage);
	for (size_t i = 0; i < res->notices.n && i < HTML_NOTES_MAX; i++)
		html_item(out, res->notices.data[i].text);
	if (!isnan(res->coverage)) {
		text_add(out, "<li>Traced calls cover ");
		html_exact(out, "coverage", res->coverage, 100, "%.0f%%");
		text_add(out, " of thread time.</li>\n");
	}
	if (!isnan(res->overhead) && res->hardly_runs) {
		text_add(out, "<li>The probes took ");
		html_exact(out, "overhead_cpus", res->overhead_cpus, 100, "%.1f%%");
		text_add(out, " of a CPU (estimated).</li>\n");
	} else if (!isnan(res->overhead)) {
		text_printf(out, "<li>The probes slowed the program by %s",
			    res->overhead_is_least ? "over " : "");
		html_exact(out, "overhead", res->overhead, 100, "%.1f%%");
		text_add(out, " (estimated).</li>\n");
	}
	left_out(res, out);
	text_add(out, "<li>Curves and histograms are drawn from histograms whose buckets are 3% "
		      "wide, with at most 160 points; counts, sums, fastest and slowest calls are "
		      "exact.</li>\n</ul>\n</section>\n");
}

void report_html(const struct view *v, const struct timeline *tl, struct text *out)
{
	struct text details = { 0 };
	size_t detailed = html_details(v, &details);

	head(v, out);
	answer(v, out);
	html_transitions(v, out);
	blocks(v, detailed, out);
	html_timeline(v, tl, out);
	html_waits(v, out);
	html_threads(v, out);
	text_addn(out, details.s, details.n);
	notes(v, out);
	html_page_end(out);
	text_release(&details);
}
