/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/fleet/json.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/fleet/crowd.h"
#include "analysis/fleet/fleet.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/fleet/beside.h"
#include "report/fleet/fleet.h"
#include "report/fleet/phases.h"

static struct json *crowd_of(const struct fleet_view *v, uint32_t kind)
{
	struct fleet_crowd_summary sum = fleet_crowd_sum(v->fleet->rows, kind);
	struct json *o = json_new_object(), *shares = json_new_array();

	json_set_f64(o, "mean", sum.ns ? sum.mean : NAN);
	json_set_u64(o, "median", sum.median);
	json_set_u64(o, "most", sum.most);
	vec_for_each (&v->fleet->rows->crowds, const struct fleet_crowd, c) {
		struct json *share;

		if (c->kind != kind)
			continue;
		share = json_new_object();
		json_set_u64(share, "number", c->number);
		json_set_f64(share, "share", (double)c->ns / (double)sum.ns);
		json_add_take(shares, share);
	}
	json_set_take(o, "shares", shares);
	return o;
}

static struct json *fleet_of(const struct fleet_view *v)
{
	struct json *o = json_new_object();

	json_set_string(o, "indicator", v->meta->indicator);
	json_set_string(o, "unit", v->meta->unit);
	json_set_bool(o, "higher_is_better", v->meta->higher_is_better);
	json_set_string(o, "by", v->meta->by);
	json_set_string(o, "type", v->type);
	json_set_u64(o, "other_types", v->other_types);
	json_set_u64(o, "machines", v->totals->machines);
	json_set_u64(o, "blocks", v->totals->blocks);
	json_set_u64(o, "samples", v->totals->samples);
	json_set_u64(o, "samples_alone", v->totals->alone);
	json_set_u64(o, "from_ns", v->totals->from_ns);
	json_set_u64(o, "to_ns", v->totals->to_ns);
	json_set_u64(o, "pairs_tested", v->fleet->tested);
	json_set_u64(o, "trios_tested", v->fleet->trios_tested);
	json_set_u64(o, "min_samples", v->fleet->options.min_samples);
	json_set_f64(o, "alpha", v->fleet->options.alpha);
	json_set_take(o, "busy_cpus", crowd_of(v, FLEET_BUSY_CPUS));
	json_set_take(o, "applications_at_once", crowd_of(v, FLEET_APPS));
	return o;
}

static struct json *base_of(const struct fleet_view *v, const struct fleet_base *base)
{
	static const char *const keys[] = { "p1", "p10", "p25", "p75", "p90", "p99" };
	static const double at[] = { 0.01, 0.1, 0.25, 0.75, 0.9, 0.99 };
	struct json *o = json_new_object();

	json_set_string(o, "name", strtab_get(&v->fleet->rows->apps, base->app));
	json_set_u64(o, "samples", base->tally->n);
	json_set_f64(o, "median", base->median);
	json_set_f64(o, "mean", base->mean);
	json_set_f64(o, "deviation", base->deviation);
	json_set_f64(o, "noise", base->noise);
	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++)
		json_set_f64(o, keys[i], tally_quantile(base->tally, at[i]));
	json_set_u64(o, "slowed_by", base->negative);
	json_set_u64(o, "speeded_by", base->positive);
	json_set_u64(o, "slows", base->slowed);
	return o;
}

static struct json *antagonists_of(const struct fleet_view *v)
{
	struct json *all = json_new_array();

	vec_for_each (&v->fleet->antagonists, const struct fleet_antagonist, a) {
		struct json *o = json_new_object();

		json_set_string(o, "name", strtab_get(&v->fleet->rows->apps, a->app));
		json_set_u64(o, "slows", a->slowed);
		json_add_take(all, o);
	}
	return all;
}

static void set_effect(struct json *o, const struct fleet_cell *cell)
{
	bool said = cell->effect != FLEET_TOO_FEW;

	json_set_string(o, "effect", fleet_effect_names[cell->effect]);
	json_set_u64(o, "samples", cell->tally->n);
	json_set_u64(o, "blocks", cell->blocks);
	json_set_f64(o, "share", cell->share);
	json_set_f64(o, "median", said ? cell->median : NAN);
	json_set_f64(o, "change", said ? cell->change : NAN);
	json_set_f64(o, "deviations", said ? cell->deviations : NAN);
	json_set_f64(o, "contrast", said ? cell->contrast : NAN);
	json_set_f64(o, "p", cell->p);
	json_set_f64(o, "q", cell->q);
	json_set_f64(o, "improvement", said ? cell->improvement : NAN);
}

/* Adds the effect on another indicator, or null if it is not known. */
static void set_beside(struct json *o, const struct fleet_cell *other)
{
	struct json *beside = other ? json_new_object() : NULL;

	if (other)
		set_effect(beside, other);
	if (other)
		json_set_take(o, "beside", beside);
	else
		json_set_null(o, "beside");
}

static struct json *pair_of(const struct fleet_view *v, const struct fleet_cell *cell)
{
	struct json *o = json_new_object();

	json_set_string(o, "base", strtab_get(&v->fleet->rows->apps, cell->base));
	json_set_string(o, "corunner", strtab_get(&v->fleet->rows->apps, cell->corunner));
	json_set_string(o, "class", corunner_class_names[cell->class]);
	set_effect(o, cell);
	if (v->beside)
		set_beside(o, fleet_beside_cell(v, cell));
	if (v->beside && v->beside->matches)
		report_fleet_match_json(v, cell, o);
	return o;
}

static struct json *one_of(const struct fleet_view *v, uint32_t app, const struct fleet_one *one)
{
	struct json *o = json_new_object();

	json_set_string(o, "corunner", strtab_get(&v->fleet->rows->apps, app));
	json_set_u64(o, "samples", one->samples);
	json_set_f64(o, "median", one->median);
	json_set_f64(o, "change", one->change);
	json_set_f64(o, "deviations", one->deviations);
	return o;
}

static struct json *trio_of(const struct fleet_view *v, const struct fleet_cell *cell)
{
	struct json *o = json_new_object(), *names = json_new_array(), *ones = json_new_array();

	json_set_string(o, "base", strtab_get(&v->fleet->rows->apps, cell->base));
	json_add_string(names, strtab_get(&v->fleet->rows->apps, cell->corunner));
	json_add_string(names, strtab_get(&v->fleet->rows->apps, cell->second));
	json_set_take(o, "corunners", names);
	set_effect(o, cell);
	json_add_take(ones, one_of(v, cell->corunner, &cell->of_one[0]));
	json_add_take(ones, one_of(v, cell->second, &cell->of_one[1]));
	json_set_take(o, "of_one", ones);
	return o;
}

/* Returns the rows of the trios, or those of the pairs. */
static struct json *cells_of(const struct fleet_view *v, bool trios)
{
	struct json *cells = json_new_array();

	vec_for_each (&v->fleet->cells, const struct fleet_cell, cell)
		if (fleet_view_shows(v, cell) && (cell->class == CORUNNER_TRIO) == trios)
			json_add_take(cells, trios ? trio_of(v, cell) : pair_of(v, cell));
	return cells;
}

static struct json *excluded_of(const struct fleet_view *v)
{
	struct json *o = json_new_object(), *names = json_new_array();

	for (unsigned i = 0; i < v->n_without; i++)
		json_add_string(names, strtab_get(&v->fleet->rows->apps, v->without[i]->corunner));
	json_set_take(o, "corunners", names);
	json_set_f64(o, "improvement",
		     fleet_improvement(v->fleet, v->base, v->without, v->n_without));
	return o;
}

static struct json *bases_of(const struct fleet_view *v)
{
	struct json *bases = json_new_array();

	vec_for_each (&v->fleet->bases, const struct fleet_base, base)
		if (!v->base || base == v->base)
			json_add_take(bases, base_of(v, base));
	return bases;
}

static struct json *phase_of(const struct fleet_view *whole, uint32_t i)
{
	const struct fleet_view v = fleet_view_of_phase(whole, i);
	bool known = v.base || !whole->base;
	struct json *o = json_new_object();
	char name[FLEET_PHASE_NAME];
	uint64_t samples = 0;

	vec_for_each (&v.fleet->bases, const struct fleet_base, base)
		samples += base->tally->n;
	json_set_string(o, "phase", fleet_phases_name(whole->phases->phases, i, name));
	json_set_u64(o, "from_ns", i * whole->phases->phases->length_ns);
	json_set_u64(o, "to_ns", (i + 1) * whole->phases->phases->length_ns);
	json_set_u64(o, "samples", samples);
	json_set_u64(o, "pairs_tested", v.fleet->tested);
	json_set_take(o, "applications", known ? bases_of(&v) : json_new_array());
	json_set_take(o, "pairs", known ? cells_of(&v, false) : json_new_array());
	json_set_take(o, "trios", known ? cells_of(&v, true) : json_new_array());
	return o;
}

static struct json *phases_of(const struct fleet_view *v)
{
	struct json *all = json_new_array();

	for (uint32_t i = 0; v->phases && i < v->phases->phases->n; i++)
		json_add_take(all, phase_of(v, i));
	return all;
}

void report_fleet_json(const struct fleet_view *v, struct text *out)
{
	struct json *root = json_new_object();

	json_set_u64(root, "version", FLEET_JSON_VERSION);
	json_set_take(root, "fleet", fleet_of(v));
	json_set_take(root, "applications", bases_of(v));
	json_set_take(root, "antagonists", antagonists_of(v));
	json_set_take(root, "pairs", cells_of(v, false));
	json_set_take(root, "trios", cells_of(v, true));
	if (v->n_without)
		json_set_take(root, "excluded", excluded_of(v));
	else
		json_set_null(root, "excluded");
	json_set_take(root, "phases", phases_of(v));
	if (v->beside)
		json_set_take(root, "beside", report_fleet_beside_json(v));
	else
		json_set_null(root, "beside");
	json_print(root, out, true);
	text_add(out, "\n");
	json_free(root);
}

static void add_name(struct text *out, const char *name)
{
	const struct value value = { .type = VALUE_TEXT, .text = name };

	value_print_csv(&value, out);
}

static void add_number(struct text *out, double number)
{
	text_add(out, ",");
	if (!isnan(number))
		text_printf(out, "%.17g", number);
}

static void add_trio(const struct fleet_view *v, const struct fleet_cell *cell, struct text *out)
{
	bool trio = cell->class == CORUNNER_TRIO;

	text_add(out, ",");
	if (trio)
		add_name(out, strtab_get(&v->fleet->rows->apps, cell->second));
	add_number(out, trio ? cell->of_one[0].change : NAN);
	add_number(out, trio ? cell->of_one[1].change : NAN);
}

/* phase is "" for the whole day. */
static void add_cells(const struct fleet_view *v, const char *phase, struct text *out)
{
	const struct strtab *apps = &v->fleet->rows->apps;

	vec_for_each (&v->fleet->cells, const struct fleet_cell, cell) {
		bool said = cell->effect != FLEET_TOO_FEW;

		if (!fleet_view_shows(v, cell))
			continue;
		add_name(out, strtab_get(apps, cell->base));
		text_add(out, ",");
		add_name(out, strtab_get(apps, cell->corunner));
		text_printf(out, ",%s,%s,%" PRIu64 ",%" PRIu64, corunner_class_names[cell->class],
			    fleet_effect_names[cell->effect], cell->tally->n, cell->blocks);
		add_number(out, cell->share);
		add_number(out, said ? cell->median : NAN);
		add_number(out, said ? cell->change : NAN);
		add_number(out, said ? cell->deviations : NAN);
		add_number(out, said ? cell->contrast : NAN);
		add_number(out, cell->p);
		add_number(out, cell->q);
		add_number(out, said ? cell->improvement : NAN);
		add_trio(v, cell, out);
		text_printf(out, ",%s\n", phase);
	}
}

void report_fleet_csv(const struct fleet_view *v, struct text *out)
{
	char name[FLEET_PHASE_NAME];

	text_add(out, "base,corunner,class,effect,samples,blocks,share,median,change,deviations,"
		      "contrast,p,q,improvement,second,change_one,change_two,phase\n");
	add_cells(v, "", out);
	for (uint32_t i = 0; v->phases && i < v->phases->phases->n; i++) {
		const struct fleet_view of = fleet_view_of_phase(v, i);

		if (of.base || !v->base)
			add_cells(&of, fleet_phases_name(v->phases->phases, i, name), out);
	}
}
