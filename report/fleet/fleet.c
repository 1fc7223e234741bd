/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/fleet/fleet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/fleet/crowd.h"
#include "analysis/fleet/fleet.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/text.h"
#include "report/fleet/beside.h"
#include "report/fleet/phases.h"
#include "report/table/table.h"
#include "report/table/wrap.h"

#define MATRIX_APPS 8 /* as in the paper's figure 8 */

bool fleet_view_shows(const struct fleet_view *v, const struct fleet_cell *cell)
{
	return (!v->base || v->base->app == cell->base) &&
	       (v->class == CORUNNER_ALL || v->class == cell->class);
}

char *fleet_view_value(const struct fleet_view *v, double value, char *buf)
{
	if (!strcmp(v->meta->unit, "ns"))
		return text_time(buf, (uint64_t)value);
	snprintf(buf, TEXT_NUMBER, "%.3f", value / 1e6);
	return buf;
}

static const char *name_of(const struct fleet_view *v, uint32_t app)
{
	return strtab_get(&v->fleet->rows->apps, app);
}

static const struct fleet_base *base_of(const struct fleet_view *v, const struct fleet_cell *cell)
{
	return fleet_find(v->fleet, name_of(v, cell->base));
}

/* ---- head ---- */

static void print_crowd(const struct fleet_view *v, struct text *out)
{
	struct fleet_crowd_summary cpus = fleet_crowd_sum(v->fleet->rows, FLEET_BUSY_CPUS);
	struct fleet_crowd_summary apps = fleet_crowd_sum(v->fleet->rows, FLEET_APPS);

	text_printf(out,
		    "on a machine %.1f CPUs are busy (half of the time %u or more, at most %u)\n"
		    "with %.1f applications at once (half of the time %u or more, at most %u)\n",
		    cpus.mean, cpus.median, cpus.most, apps.mean, apps.median, apps.most);
}

static void print_head(const struct fleet_view *v, struct text *out)
{
	char samples[TEXT_COUNTED], machines[TEXT_COUNTED], apps[TEXT_COUNTED];
	const struct fleet_store_totals *t = v->totals;

	text_printf(out, "%s: %s of %s, %s\n", v->meta->indicator,
		    text_counted(samples, t->samples, "sample"),
		    text_counted(machines, t->machines, "machine"),
		    text_counted(apps, v->fleet->bases.n, "application"));
	if (v->other_types)
		text_printf(out, "shown: machines of type %s; %u other type%s, see --type\n",
			    v->type, v->other_types, v->other_types == 1 ? "" : "s");
	print_crowd(v, out);
	if (t->samples)
		text_printf(out, "%.1f%% of the samples had no co-runner\n",
			    100.0 * (double)t->alone / (double)t->samples);
	text_add(out, "\n");
}

/* ---- pairs ---- */

/* Returns the gain of the whole fleet if the pair were separated. */
static double worth(const struct fleet_view *v, const struct fleet_cell *cell)
{
	return isnan(cell->improvement) ? 0
					: cell->improvement * (double)base_of(v, cell)->tally->n;
}

static void insert(const struct fleet_view *v, struct fleet_found *found,
		   const struct fleet_cell *cell)
{
	size_t i;

	vec_add(found);
	for (i = found->n - 1; i && worth(v, found->data[i - 1]) < worth(v, cell); i--)
		found->data[i] = found->data[i - 1];
	found->data[i] = cell;
}

const char fleet_view_marks[] = {
	[FLEET_TOO_FEW] = ' ',	[FLEET_WITHIN] = '.',	[FLEET_NOT_CERTAIN] = '?',
	[FLEET_NEGATIVE] = '-', [FLEET_POSITIVE] = '+',
};

/*
 * Prints the names after the numbers, or on a line of their own if they do not fit, because they
 * are never cut.
 */
static void print_who(const struct fleet_view *v, const struct fleet_cell *cell, struct table *t)
{
	struct text names = { 0 };

	if (!v->base)
		text_printf(&names, "%s alongside ", name_of(v, cell->base));
	text_add(&names, name_of(v, cell->corunner));
	if (table_columns(names.s) > table_room(t))
		text_add(t->out, "\n          ");
	text_printf(t->out, "%s\n", names.s);
	text_release(&names);
}

static void print_pair(const struct fleet_view *v, const struct fleet_cell *cell, struct text *out)
{
	struct table table = { .out = out, .width = v->width, .colours = v->colours };
	char s[64], median[TEXT_NUMBER];

	snprintf(s, sizeof(s), "%+.1f%%", 100 * cell->change);
	table_right(&table, s, 8);
	snprintf(s, sizeof(s), "%.1f", cell->deviations);
	table_right(&table, s, 7);
	table_right(&table, fleet_view_value(v, cell->median, median), 8);
	table_right(&table, text_count(s, cell->tally->n), 8);
	if (isnan(cell->improvement))
		snprintf(s, sizeof(s), "n/a");
	else
		snprintf(s, sizeof(s), "%+.2f%%", 100 * cell->improvement);
	table_right(&table, s, 9);
	snprintf(s, sizeof(s), " %c ", v->base ? fleet_view_marks[cell->effect] : ' ');
	table_left(&table, s, 3);
	table_left(&table, corunner_class_names[cell->class], 7);
	print_who(v, cell, &table);
}

static void print_pairs_head(const struct fleet_view *v, struct text *out)
{
	text_printf(out, "  CHANGE  EFFECT   MEDIAN  SAMPLES      GAIN     CLASS  %s\n",
		    v->base ? "CO-RUNNER" : "APPLICATION");
}

static void print_legend(const struct fleet_view *v, struct text *out)
{
	text_printf(
		out,
		"CHANGE: of the application's performance, by median %s; EFFECT: the same in\n"
		"standard deviations of all its samples; GAIN: of its performance if separated\n\n",
		v->meta->indicator);
}

/*
 * Suggests a command on a line of its own, because a name may hold anything and users paste the
 * whole line.
 */
static void suggest_base(const struct fleet_view *v, const char *name, struct text *out)
{
	text_printf(out, "`ispot fleet report%s --base ", v->options);
	text_shell_word(out, name);
	text_add(out, "` has its other co-runners.\n");
}

/* Fewer instructions per cycle and longer calls are slower; more cache misses need not be. */
static bool is_speed(const struct fleet_view *v)
{
	return !strcmp(v->meta->indicator, "ipc") || !strcmp(v->meta->unit, "ns");
}

static char *faster(char buf[TEXT_NUMBER], double gain)
{
	if (gain + 1 >= TEXT_TIMES_LEAST)
		snprintf(buf, TEXT_NUMBER, "%.0f times as fast", gain + 1);
	else
		snprintf(buf, TEXT_NUMBER, "%.1f%% faster", 100 * gain);
	return buf;
}

static void print_worst(const struct fleet_view *v, const struct fleet_cell *cell, struct text *out)
{
	const struct fleet_base *base = base_of(v, cell);
	char with[TEXT_NUMBER], usual[TEXT_NUMBER];
	struct text words = { 0 };

	if (is_speed(v))
		text_printf(&words, "%s slows %s by %.0f%%", name_of(v, cell->corunner),
			    name_of(v, cell->base), -100 * cell->change);
	else
		text_printf(&words, "Beside %s, %s has a worse %s", name_of(v, cell->corunner),
			    name_of(v, cell->base), v->meta->indicator);
	text_printf(&words, " (class %s): the median %s is %s there, %s overall.",
		    corunner_class_names[cell->class], v->meta->indicator,
		    fleet_view_value(v, cell->median, with),
		    fleet_view_value(v, base->median, usual));
	if (is_speed(v) && !isnan(cell->improvement))
		text_printf(&words, " If separated, %s would be %s.", name_of(v, cell->base),
			    faster(with, cell->improvement));
	text_wrap(words.s, v->width, out);
	if (!v->base)
		suggest_base(v, name_of(v, cell->base), out);
	text_add(out, "\n");
	text_release(&words);
}

void fleet_view_negative(const struct fleet_view *v, bool trios, struct fleet_found *found)
{
	vec_for_each (&v->fleet->cells, const struct fleet_cell, cell)
		if (cell->effect == FLEET_NEGATIVE && fleet_view_shows(v, cell) &&
		    (cell->class == CORUNNER_TRIO) == trios)
			insert(v, found, cell);
}

void fleet_view_conclusion(const struct fleet_view *v, const struct fleet_found *found,
			   struct text *out)
{
	if (found->n)
		print_worst(v, found->data[0], out);
	else if (!v->fleet->tested)
		text_printf(
			out,
			"Cannot tell which applications slow others: none has %" PRIu64
			" samples alongside\nanother, from three blocks or more (--min-samples).\n\n",
			v->fleet->options.min_samples);
	else
		text_printf(
			out,
			"No application slows another beyond the noise: none of %u pairs with enough\n"
			"samples differs by more than one standard deviation with certainty.\n\n",
			v->fleet->tested);
}

static void print_interferers(const struct fleet_view *v, struct text *out)
{
	struct fleet_found found = { 0 };

	fleet_view_negative(v, false, &found);
	fleet_view_conclusion(v, &found, out);
	if (found.n)
		print_pairs_head(v, out);
	for (size_t i = 0; i < found.n && i < v->top; i++)
		print_pair(v, found.data[i], out);
	if (found.n > v->top)
		text_printf(out, "%zu more (--top)\n", found.n - v->top);
	if (found.n)
		print_legend(v, out);
	vec_release(&found);
}

/* ---- trios ---- */

static void print_trios_head(struct text *out)
{
	text_add(out,
		 "  CHANGE  OF-ONE  SAMPLES      GAIN   APPLICATION alongside two co-runners\n");
}

static void right_percent(struct table *t, double share, int width)
{
	char s[32];

	snprintf(s, sizeof(s), isnan(share) ? "n/a" : "%+.1f%%", 100 * share);
	table_right(t, s, width);
}

/*
 * Prints two lines: the change alongside both co-runners, and next to it the change alongside each
 * of them without the other.
 */
static void print_trio(const struct fleet_view *v, const struct fleet_cell *cell, struct text *out)
{
	struct table table = { .out = out, .width = v->width, .colours = v->colours };
	char s[64];

	right_percent(&table, cell->change, 8);
	right_percent(&table, cell->of_one[0].change, 8);
	table_right(&table, text_count(s, cell->tally->n), 8);
	right_percent(&table, cell->improvement, 10);
	text_printf(out, " %c %s alongside %s and %s\n",
		    v->base ? fleet_view_marks[cell->effect] : ' ', name_of(v, cell->base),
		    name_of(v, cell->corunner), name_of(v, cell->second));
	table = (struct table){ .out = out, .width = v->width, .colours = v->colours };
	table_right(&table, "", 8);
	right_percent(&table, cell->of_one[1].change, 8);
	text_add(out, "\n");
}

static void print_trios(const struct fleet_view *v, struct text *out)
{
	struct fleet_found found = { 0 };

	if (!v->fleet->trios_tested || (v->class != CORUNNER_ALL && v->class != CORUNNER_TRIO))
		return;
	fleet_view_negative(v, true, &found);
	if (!found.n)
		text_printf(out,
			    "No two applications together slow a third beyond what each does: %u "
			    "trios have\nenough samples.\n\n",
			    v->fleet->trios_tested);
	if (found.n)
		print_trios_head(out);
	for (size_t i = 0; i < found.n && i < v->top; i++)
		print_trio(v, found.data[i], out);
	if (found.n > v->top)
		text_printf(out, "%zu more (--top)\n", found.n - v->top);
	if (found.n)
		text_add(out,
			 "OF-ONE: the change alongside the first co-runner without the second, and "
			 "below it\nalongside the second without the first\n\n");
	vec_release(&found);
}

/* ---- applications ---- */

#define TITLE_COLUMNS 14

struct names {
	const char *title;
	size_t n;
	struct text words;
};

static void add_name(struct names *names, const char *name, uint32_t pairs)
{
	if (names->n++ < MATRIX_APPS)
		text_printf(&names->words, "%s%s (%u)", names->n == 1 ? "" : ", ", name, pairs);
}

static void print_names(const struct fleet_view *v, struct names *names, struct text *out)
{
	struct text wrapped = { 0 };
	const char *title = names->title;

	if (names->n > MATRIX_APPS)
		text_printf(&names->words, " and %zu more", names->n - MATRIX_APPS);
	if (names->n)
		text_wrap(names->words.s, v->width - TITLE_COLUMNS, &wrapped);
	for (const char *line = wrapped.s; line && *line;) {
		size_t n = strcspn(line, "\n");

		text_printf(out, "%-*s%.*s\n", TITLE_COLUMNS, title, (int)n, line);
		line += n + (line[n] == '\n');
		title = "";
	}
	text_release(&wrapped);
	text_release(&names->words);
}

static void print_applications(const struct fleet_view *v, struct text *out)
{
	struct names sensitive = { .title = "sensitive" };
	struct names antagonistic = { .title = "antagonistic" };
	const bool any = v->fleet->antagonists.n;

	vec_for_each (&v->fleet->bases, const struct fleet_base, base)
		if (base->negative)
			add_name(&sensitive, name_of(v, base->app), base->negative);
	vec_for_each (&v->fleet->antagonists, const struct fleet_antagonist, a)
		add_name(&antagonistic, name_of(v, a->app), a->slowed);
	print_names(v, &sensitive, out);
	print_names(v, &antagonistic, out);
	if (any)
		text_wrap("sensitive (N): slowed by N others; antagonistic (N): slows N others",
			  v->width, out);
}

/* ---- matrix ---- */

enum corunner_class fleet_view_matrix_class(const struct fleet_view *v)
{
	enum corunner_class closest = CORUNNER_CLASSES;

	if (v->class != CORUNNER_ALL)
		return v->class;
	vec_for_each (&v->fleet->cells, const struct fleet_cell, cell)
		if (cell->effect != FLEET_TOO_FEW && cell->class < closest)
			closest = cell->class;
	return closest;
}

void fleet_view_columns(const struct fleet_view *v, size_t most, struct fleet_columns *columns)
{
	vec_for_each (&v->fleet->bases, const struct fleet_base, base)
		if (columns->n < most)
			*vec_add(columns) = base->app;
	columns->n_rows = columns->n;
	vec_for_each (&v->fleet->antagonists, const struct fleet_antagonist, a)
		if (columns->n < columns->n_rows + most &&
		    !fleet_find(v->fleet, name_of(v, a->app)))
			*vec_add(columns) = a->app;
}

static void print_matrix_row(const struct fleet_view *v, const struct fleet_base *base,
			     enum corunner_class class, const struct fleet_columns *columns,
			     struct text *out)
{
	vec_for_each (columns, const uint32_t, app) {
		const struct fleet_cell *cell =
			fleet_cell_of(v->fleet, base, name_of(v, *app), class);

		text_printf(out, " %c ", cell ? fleet_view_marks[cell->effect] : ' ');
	}
}

static void print_matrix_rows(const struct fleet_view *v, enum corunner_class class,
			      const struct fleet_columns *columns, struct text *out)
{
	text_printf(out, "class %s, rows alongside columns:", corunner_class_names[class]);
	for (size_t i = 0; i < columns->n; i++)
		text_printf(out, i ? " %2zu" : "\n%27zu", i + 1);
	text_add(out, "\n");
	for (size_t i = 0; i < columns->n; i++) {
		char name[128];

		text_printf(out, "%3zu %-20s ", i + 1,
			    text_shortened(name, sizeof(name), name_of(v, columns->data[i]), 20));
		if (i < columns->n_rows)
			print_matrix_row(v, &v->fleet->bases.data[i], class, columns, out);
		else
			text_add(out, " not measured");
		text_add(out, "\n");
	}
	text_add(out, "- slower beyond the noise, + faster, . within it, ? not certain,\n"
		      "blank: too few samples\n");
}

static void print_matrix(const struct fleet_view *v, struct text *out)
{
	enum corunner_class class = fleet_view_matrix_class(v);
	struct fleet_columns columns = { 0 };

	fleet_view_columns(v, MATRIX_APPS, &columns);
	if (class != CORUNNER_CLASSES && columns.n > 1)
		print_matrix_rows(v, class, &columns, out);
	vec_release(&columns);
}

/* ---- one base ---- */

/* Returns the value whose performance is `times` that of the median. */
static double with_performance(const struct fleet_view *v, const struct fleet_base *base,
			       double times)
{
	times = fmax(times, 0.001);
	return v->meta->higher_is_better ? base->median * times : base->median / times;
}

static void print_without(const struct fleet_view *v, const struct fleet_base *base,
			  struct text *out)
{
	double gain = fleet_improvement(v->fleet, base, v->without, v->n_without);
	char words[TEXT_NUMBER];

	if (!v->n_without)
		return;
	text_printf(out, "without %s%s ", name_of(v, v->without[0]->corunner),
		    v->n_without > 1 ? " and the others" : "");
	if (isnan(gain))
		text_add(out, "there are none of its samples to say what it would gain\n");
	else
		text_printf(out, "it would be %s\n", faster(words, gain));
}

static void print_base(const struct fleet_view *v, struct text *out)
{
	const struct fleet_base *base = v->base;
	char median[TEXT_NUMBER], low[TEXT_NUMBER], high[TEXT_NUMBER], samples[TEXT_COUNTED];
	const struct fleet_cell *cell = v->fleet->cells.data + base->first;

	text_printf(out, "%s: median %s %s in %s; noise %.1f%%, from %s to %s\n",
		    name_of(v, base->app), v->meta->indicator,
		    fleet_view_value(v, base->median, median),
		    text_counted(samples, base->tally->n, "sample"), 100 * base->noise,
		    fleet_view_value(v, with_performance(v, base, 1 - base->noise), low),
		    fleet_view_value(v, with_performance(v, base, 1 + base->noise), high));
	print_without(v, base, out);
	text_add(out, "\n");
	print_pairs_head(v, out);
	for (uint32_t i = 0, shown = 0; i < base->n && shown < v->top; i++, cell++) {
		if (!fleet_view_shows(v, cell) || cell->effect == FLEET_TOO_FEW ||
		    cell->class == CORUNNER_TRIO)
			continue;
		print_pair(v, cell, out);
		shown++;
	}
	print_legend(v, out);
	print_trios(v, out);
}

void report_fleet_text(const struct fleet_view *v, struct text *out)
{
	if (v->base) {
		print_base(v, out);
		if (v->phases)
			report_fleet_phases(v, out);
		if (v->beside)
			report_fleet_beside(v, out);
		return;
	}
	print_head(v, out);
	if (v->class != CORUNNER_TRIO)
		print_interferers(v, out);
	print_trios(v, out);
	print_applications(v, out);
	print_matrix(v, out);
	if (v->phases)
		report_fleet_phases(v, out);
	if (v->beside)
		report_fleet_beside(v, out);
}
