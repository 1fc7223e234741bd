/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ispot imbalance` as one HTML file: sections by what they lose, of each its threads' times (the
 * LIME paper's figure 2) and the lines to blame (figures 6 to 8). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/counted.h"
#include "analysis/imbalance.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/html.h"
#include "report/imbalance.h"
#include "report/imbalance_figures.h"
#include "report/imbalance_private.h"

#define ROWS_MAX     200 /* of the table */
#define SECTIONS_MAX 60	 /* with figures, as far as these fit: HTML_DETAILS_BYTES */
#define OPEN	     3	 /* of them unfolded */
#define CAUSES_MAX   30	 /* of a section */

/* .make/embed put report/report.css there. */
extern const char ispot_report_css_start[], ispot_report_css_end[];

/* A cell's attributes and what it shows, of a time in the view's unit. NAN: not known. */
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
	text_add(out, "<td>");
	html_exact(out, key, share, 100, "%.0f %%");
	text_add(out, "</td>");
}

static void heads(const char *const *names, size_t n_right, struct text *out)
{
	text_add(out, "<thead><tr>");
	for (size_t i = 0; names[i]; i++)
		text_printf(out, "<th scope=\"col\"%s>%s</th>",
			    i < n_right ? "" : " class=\"name\"", names[i]);
	text_add(out, "</tr></thead>\n<tbody>\n");
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
	static const char *const names[] = { "lost",	   "idle",  "times",	       "threads",
					     "last comes", "which", "section ends at", NULL };
	size_t n = v->imbalance->sections.n;

	text_add(out,
		 "<section aria-labelledby=\"sections\">\n<h2 id=\"sections\">Sections by lost "
		 "time</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
		 "aria-labelledby=\"sections\"><table id=\"uneven\">");
	heads(names, 5, out);
	for (size_t i = 0; i < n && i < ROWS_MAX; i++)
		section_row(v, i, i < n_figures, out);
	text_add(out, "</tbody></table></div>\n");
	if (n > ROWS_MAX)
		text_printf(out, "<p class=\"quiet\">%zu more sections are left out.</p>\n",
			    n - ROWS_MAX);
	text_printf(out,
		    "<p class=\"quiet\">lost: thread time idle at the section's end, in %s; idle: "
		    "that of all its thread time; last comes: the share of its instances in which "
		    "the thread that is named next is the last.</p>\n</section>\n",
		    imbalance_unit(v));
}

/* ---- a section ---- */

static void cause_row(const struct imbalance_view *v, const struct parallel_section *s,
		      const struct counted_cause *c, struct text *out)
{
	struct text line = { 0 };

	text_add(out, "<tr><td>");
	html_exact(out, "score", c->score, 1, "%.2f");
	text_add(out, "</td><td class=\"name\" data-key=\"place\" data-value=\"");
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
	text_add(out, "</td><td class=\"name\" data-key=\"counts\" data-value=\"");
	for (size_t i = 0; i < s->threads.n && i < HTML_THREADS_MAX; i++)
		text_printf(out, "%s%llu", i ? " " : "", (unsigned long long)c->counts[i]);
	text_add(out, "\">");
	figure_counts(c->counts, s->threads.n, out);
	text_add(out, "</td><td class=\"name\"><code>");
	imbalance_source(v, c->place, &line);
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
		text_printf(out, "<p>No line is to blame: %s.</p>\n", lime_answer_text(of->answer));
		return;
	}
	text_printf(out,
		    "<h3 id=\"causes%zu\">Lines that make it uneven</h3>\n<div class=\"scroll\" "
		    "tabindex=\"0\" role=\"group\" aria-labelledby=\"causes%zu\"><table "
		    "class=\"causes\">",
		    i, i);
	heads(names, 1, out);
	for (size_t c = 0; c < of->causes.n && c < CAUSES_MAX; c++)
		cause_row(v, s, &of->causes.data[c], out);
	text_add(out, "</tbody></table></div>\n");
	if (of->causes.n > CAUSES_MAX)
		text_printf(out,
			    "<p class=\"quiet\">%zu more with smaller scores; <code>--json</code> "
			    "has them.</p>\n",
			    of->causes.n - CAUSES_MAX);
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
	static const char *const names[] = { "instances",     "last",	"until it waits", "waits",
					     "without a CPU", "asleep", "thread",	  NULL };

	text_printf(out,
		    "<h3 id=\"threads%zu\">Its threads</h3>\n<div class=\"scroll\" tabindex=\"0\" "
		    "role=\"group\" aria-labelledby=\"threads%zu\"><table class=\"threads\">",
		    i, i);
	heads(names, 6, out);
	for (size_t t = 0; t < s->threads.n && t < HTML_THREADS_MAX; t++)
		thread_row(v, s, &s->threads.data[t], out);
	text_add(out, "</tbody></table></div>\n");
	if (s->threads.n > HTML_THREADS_MAX)
		text_printf(out, "<p class=\"quiet\">%zu more threads are left out.</p>\n",
			    s->threads.n - HTML_THREADS_MAX);
}

static void section_detail(const struct imbalance_view *v, size_t i, struct text *out)
{
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

/* Returns how many sections there is room for. */
static size_t details(const struct imbalance_view *v, struct text *out)
{
	size_t n = v->imbalance->sections.n, i = 0;

	if (n)
		text_add(out, "<section aria-labelledby=\"details\">\n<h2 id=\"details\">Each "
			      "section</h2>\n");
	for (; i < n && i < SECTIONS_MAX; i++) {
		size_t before = out->n;

		section_detail(v, i, out);
		if (out->n < HTML_DETAILS_BYTES)
			continue;
		out->n = before;
		out->s[before] = '\0';
		break;
	}
	if (n > i)
		text_printf(out, "<p class=\"quiet\">%zu more sections are not drawn.</p>\n",
			    n - i);
	text_add(out, n ? "</section>\n" : "");
	return i;
}

/* ---- the page ---- */

static void head(const struct imbalance_view *v, struct text *out)
{
	struct text title = { 0 };
	const char *facts;

	imbalance_title(v, &title);
	facts = strstr(title.s, "  ");
	text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<title>ispot: ");
	html_text(out, title.s);
	text_add(out, "</title>\n<style>\n");
	text_addn(out, ispot_report_css_start,
		  (size_t)(ispot_report_css_end - ispot_report_css_start));
	text_add(out, "</style>\n</head>\n<body>\n<header>\n<h1>");
	html_text(out, *v->program ? v->program : v->file);
	text_add(out, "</h1>\n<p class=\"quiet\">");
	for (; facts; facts = strstr(facts + 2, "  ")) {
		const char *end = strstr(facts + 2, "  ");
		char *fact = xstrndup(facts + 2, end ? (size_t)(end - facts) - 2 : strlen(facts));

		html_text(out, fact);
		text_add(out, end ? " · " : "");
		free(fact);
	}
	if (*v->command) {
		text_add(out, " · ");
		html_short(out, v->command);
	}
	text_add(out, "</p>\n</header>\n<main>\n");
	text_release(&title);
}

static void answer(const struct imbalance_view *v, struct text *out)
{
	struct text line = { 0 };

	if (v->imbalance->sections.n)
		imbalance_headline(v, &line);
	else
		text_add(&line, IMBALANCE_NO_SECTION);
	text_add(out, "<p class=\"answer\">");
	html_text(out, line.s);
	text_add(out, "</p>\n");
	text_release(&line);
}

static void notes(const struct imbalance_view *v, struct text *out)
{
	text_add(out, "<section aria-labelledby=\"notes\">\n<h2 id=\"notes\">Notes</h2>\n<ul>\n");
	if (v->counted)
		text_add(out, "<li>Score: how far the line explains who is late; near 1 nearly "
			      "all of it.</li>\n");
	for (size_t i = 0; v->notices[i] && i < HTML_NOTES_MAX; i++) {
		text_add(out, "<li>");
		html_text(out, v->notices[i]);
		text_add(out, "</li>\n");
	}
	text_add(out,
		 "<li>Threads have the same order in figures and tables: that in which they first "
		 "took part.</li>\n</ul>\n</section>\n");
}

void report_imbalance_html(const struct imbalance_view *v, struct text *out)
{
	struct text drawn = { 0 };
	size_t n = details(v, &drawn);

	head(v, out);
	answer(v, out);
	if (v->imbalance->sections.n)
		section_table(v, n, out);
	text_addn(out, drawn.s ? drawn.s : "", drawn.n);
	notes(v, out);
	text_add(out, "</main>\n</body>\n</html>\n");
	text_release(&drawn);
}
