/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/fleet/html.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/fleet/fleet.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/text.h"
#include "report/fleet/figures.h"
#include "report/fleet/fleet.h"
#include "report/fleet/phases.h"
#include "report/html/html.h"
#include "report/html/page.h"

#define PAIRS_MAX  100 /* rows of the table of pairs */
#define APPS_MAX   100
#define MATRIX_MAX 24 /* applications in the matrix */
#define DRAWN_MAX  8  /* applications with figures, as in the paper */
#define LEFT_OUT   " are left out here; <code>ispot fleet report --json</code> has all."

static const char *name_of(const struct fleet_view *v, uint32_t app)
{
	return strtab_get(&v->fleet->rows->apps, app);
}

static void head(const struct fleet_view *v, struct text *out)
{
	char n[TEXT_COUNTED];
	struct text heading = { 0 };

	text_printf(&heading, "Who slows whom: %s", v->meta->indicator);
	html_page(out, "ispot fleet", v->meta->indicator, heading.s);
	text_release(&heading);
	text_printf(out, "%s · ", text_counted(n, v->totals->samples, "sample"));
	text_printf(out, "%s · ", text_counted(n, v->totals->machines, "machine"));
	text_printf(out, "%s · machines of type ",
		    text_counted(n, v->fleet->bases.n, "application"));
	html_text(out, v->type);
	if (v->other_types)
		text_printf(out, " (%u other type%s)", v->other_types,
			    v->other_types == 1 ? "" : "s");
	html_main(out);
}

/* ---- pairs and trios ---- */

static void pair_row(const struct fleet_view *v, const struct fleet_cell *c, struct text *out)
{
	char median[TEXT_NUMBER], n[TEXT_NUMBER];

	text_add(out, "<tr>");
	html_cell(out, "change", c->change, 100, "%+.1f%%");
	html_cell(out, "deviations", c->deviations, 1, "%.1f");
	text_printf(out, "<td>%s</td><td>%s</td>", fleet_view_value(v, c->median, median),
		    text_count(n, c->tally->n));
	html_cell(out, "improvement", c->improvement, 100, "%+.2f%%");
	text_printf(out, "<td>%s</td><th scope=\"row\" class=\"name\">",
		    corunner_class_names[c->class]);
	html_short(out, name_of(v, c->base));
	text_add(out, " alongside ");
	html_short(out, name_of(v, c->corunner));
	if (c->class == CORUNNER_TRIO) {
		text_add(out, " and ");
		html_short(out, name_of(v, c->second));
	}
	text_add(out, "</th></tr>\n");
}

static void pair_table(const struct fleet_view *v, const struct fleet_found *found, const char *id,
		       struct text *out)
{
	static const char *const titles[] = { "change", "effect", "median", "samples",
					      "gain",	"class",  "who",    NULL };

	html_table(out, id, "");
	html_heads(out, titles, 6);
	for (size_t i = 0; i < found->n && i < PAIRS_MAX; i++)
		pair_row(v, found->data[i], out);
	html_table_end(out);
	html_more(out, found->n, PAIRS_MAX, "pairs" LEFT_OUT);
	text_add(
		out,
		"<p class=\"quiet\">change: of the application's performance, by its median; "
		"effect: the same in standard deviations of all its samples; gain: its performance "
		"if separated.</p>\n");
}

static void pairs(const struct fleet_view *v, struct text *out)
{
	struct fleet_found found = { 0 };
	struct text conclusion = { 0 };

	fleet_view_negative(v, false, &found);
	fleet_view_conclusion(v, &found, &conclusion);
	html_section(out, "pairs", "Who slows whom");
	html_answer(out, conclusion.s);
	if (found.n)
		pair_table(v, &found, "pairs", out);
	html_section_end(out);
	text_release(&conclusion);
	vec_release(&found);
}

static void trios(const struct fleet_view *v, struct text *out)
{
	struct fleet_found found = { 0 };

	fleet_view_negative(v, true, &found);
	if (found.n) {
		html_section(out, "trios", "Two that slow a third together");
		pair_table(v, &found, "trios", out);
		html_section_end(out);
	}
	vec_release(&found);
}

/* ---- the matrix ---- */

static const struct mark {
	const char *class, *sign, *words;
} marks[] = {
	[FLEET_TOO_FEW] = { NULL, "", "too few samples" },
	[FLEET_WITHIN] = { NULL, "·", "within the noise" },
	[FLEET_NOT_CERTAIN] = { NULL, "?", "not certain" },
	[FLEET_NEGATIVE] = { "neg", "−", "slower beyond the noise" },
	[FLEET_POSITIVE] = { "pos", "+", "faster beyond the noise" },
};

static void matrix_row(const struct fleet_view *v, const struct fleet_base *base,
		       enum corunner_class class, const struct fleet_columns *columns,
		       struct text *out)
{
	vec_for_each (columns, const uint32_t, app) {
		const struct fleet_cell *c = fleet_cell_of(v->fleet, base, name_of(v, *app), class);
		const struct mark *mark = &marks[c ? c->effect : FLEET_TOO_FEW];

		text_add(out, "<td");
		if (mark->class)
			text_printf(out, " class=\"%s\" title=\"%+.1f%%\"", mark->class,
				    100 * c->change);
		text_printf(out, ">%s</td>", mark->sign);
	}
}

static bool any(const struct fleet_view *v, enum corunner_class class)
{
	vec_for_each (&v->fleet->cells, const struct fleet_cell, c)
		if (c->class == class && c->effect != FLEET_TOO_FEW && fleet_view_shows(v, c))
			return true;
	return false;
}

static void matrix(const struct fleet_view *v, enum corunner_class class, bool open,
		   const struct fleet_columns *columns, struct text *out)
{
	text_printf(out, "<details%s><summary id=\"matrix-%s\">Class %s</summary>\n",
		    open ? " open" : "", corunner_class_names[class], corunner_class_names[class]);
	html_table(out, "matrix", "class=\"matrix\"");
	text_add(out, "<thead><tr><th scope=\"col\" class=\"name\">slowed</th>");
	for (size_t i = 0; i < columns->n; i++) {
		text_add(out, "<th scope=\"col\" title=\"");
		html_short(out, name_of(v, columns->data[i]));
		text_printf(out, "\">%zu</th>", i + 1);
	}
	text_add(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < columns->n; i++) {
		text_printf(out, "<tr><th scope=\"row\" class=\"name\">%zu ", i + 1);
		html_short(out, name_of(v, columns->data[i]));
		text_add(out, "</th>");
		if (i < columns->n_rows)
			matrix_row(v, &v->fleet->bases.data[i], class, columns, out);
		else
			text_printf(out, "<td colspan=\"%zu\">not measured</td>", columns->n);
		text_add(out, "</tr>\n");
	}
	html_table_end(out);
	text_add(out, "</details>\n");
}

static void matrix_section(const struct fleet_view *v, enum corunner_class closest,
			   const struct fleet_columns *columns, struct text *out)
{
	html_section(out, "matrix", "The matrix");
	text_add(out,
		 "<p>Rows alongside columns, the same applications in the same order, those with "
		 "the most samples first:");
	for (size_t i = FLEET_WITHIN; i < sizeof(marks) / sizeof(*marks); i++)
		text_printf(out, " <strong>%s</strong> %s,", marks[i].sign, marks[i].words);
	text_add(out, " empty: too few samples (the paper's figure 8).</p>\n");
	for (enum corunner_class class = closest; class < CORUNNER_TRIO; class ++)
		if ((v->class == CORUNNER_ALL || v->class == class) && any(v, class))
			matrix(v, class, class == closest, columns, out);
	html_more(out, v->fleet->bases.n, MATRIX_MAX, "applications" LEFT_OUT);
	html_section_end(out);
}

static void matrices(const struct fleet_view *v, enum corunner_class closest, struct text *out)
{
	struct fleet_columns columns = { 0 };

	fleet_view_columns(v, MATRIX_MAX, &columns);
	if (closest < CORUNNER_TRIO && columns.n > 1)
		matrix_section(v, closest, &columns, out);
	vec_release(&columns);
}

/* ---- applications ---- */

static void application_row(const struct fleet_view *v, const struct fleet_base *b,
			    struct text *out)
{
	char median[TEXT_NUMBER], n[TEXT_NUMBER];

	text_printf(out, "<tr><td>%s</td><td>%s</td>", text_count(n, b->tally->n),
		    fleet_view_value(v, b->median, median));
	html_cell(out, "noise", b->noise, 100, "%.1f%%");
	text_printf(out, "<td>%u</td><td>%u</td><td>%u</td><th scope=\"row\" class=\"name\">",
		    b->negative, b->positive, b->slowed);
	html_short(out, name_of(v, b->app));
	text_add(out, "</th></tr>\n");
}

static void applications(const struct fleet_view *v, struct text *out)
{
	static const char *const titles[] = { "samples",    "median", "noise",	     "slowed by",
					      "speeded by", "slows",  "application", NULL };
	size_t n = v->fleet->bases.n < APPS_MAX ? v->fleet->bases.n : APPS_MAX;

	html_section(out, "applications", "Applications");
	html_table(out, "applications", "");
	html_heads(out, titles, 6);
	for (size_t i = 0; i < n; i++)
		application_row(v, &v->fleet->bases.data[i], out);
	html_table_end(out);
	html_more(out, v->fleet->bases.n, n, "applications" LEFT_OUT);
	html_section_end(out);
}

static void figures_of(const struct fleet_view *v, const struct fleet_base *base,
		       enum corunner_class class, bool open, struct text *out)
{
	text_printf(out, "<details%s><summary>", open ? " open" : "");
	html_short(out, name_of(v, base->app));
	text_add(out, "</summary>\n<div class=\"figures\">\n");
	fleet_html_curves(v, base, class, out);
	fleet_html_bars(v, base, class, out);
	text_add(out, "</div></details>\n");
}

static void distributions(const struct fleet_view *v, enum corunner_class class, struct text *out)
{
	if (class == CORUNNER_CLASSES || class == CORUNNER_TRIO)
		return;
	html_section(out, "each", "Beside the most common co-runners");
	if (v->base)
		figures_of(v, v->base, class, true, out);
	for (size_t i = 0; !v->base && i < v->fleet->bases.n && i < DRAWN_MAX; i++)
		figures_of(v, &v->fleet->bases.data[i], class, i < 2, out);
	html_section_end(out);
}

static void phases(const struct fleet_view *v, struct text *out)
{
	struct text table = { 0 };

	if (!v->phases)
		return;
	html_section(out, "phases", "By time of day");
	report_fleet_phases(v, &table);
	text_add(out, "<pre>");
	html_text(out, table.s);
	text_add(out, "</pre>\n");
	html_section_end(out);
	text_release(&table);
}

static void notes(const struct fleet_view *v, struct text *out)
{
	html_section(out, "notes", "Notes");
	text_printf(out,
		    "<ul>\n<li>%u pairs and %u trios have at least %" PRIu64 " samples and were "
		    "tested; of those said to interfere a share of %g may be wrong.</li>\n",
		    v->fleet->tested, v->fleet->trios_tested, v->fleet->options.min_samples,
		    v->fleet->options.alpha);
	if (v->totals->samples)
		text_printf(out, "<li>%.1f%% of the samples had no co-runner.</li>\n",
			    100.0 * (double)v->totals->alone / (double)v->totals->samples);
	text_add(out, "<li>Curves are drawn from histograms of 64 buckets an octave.</li>\n"
		      "</ul>\n");
	html_section_end(out);
}

void report_fleet_html(const struct fleet_view *v, struct text *out)
{
	enum corunner_class class = fleet_view_matrix_class(v);

	head(v, out);
	pairs(v, out);
	trios(v, out);
	matrices(v, class, out);
	html_section(out, "crowds", "How full machines are");
	fleet_html_crowds(v, out);
	html_section_end(out);
	phases(v, out);
	distributions(v, class, out);
	applications(v, out);
	notes(v, out);
	html_page_end(out);
}
