/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>

#include "analysis/fleet/fleet.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/fleet/fleet.h"

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

void report_fleet_csv(const struct fleet_view *v, struct text *out)
{
	const struct strtab *apps = &v->fleet->rows->apps;

	text_add(out, "base,corunner,class,effect,samples,blocks,share,median,change,deviations,"
		      "contrast,p,q,improvement,second,change_one,change_two\n");
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
		text_add(out, "\n");
	}
}
