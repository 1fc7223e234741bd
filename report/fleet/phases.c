/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/fleet/phases.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "report/fleet/fleet.h"
#include "report/table/table.h"

#define WIDE_MOST                                                                       \
	6 /* phases whose changes stand beside each other; of more there is a mark each \
	   */
#define CELL_WIDE 8
#define CELL_MARK 3

/* A pair by names, because the numbers of applications differ between parts of the day. */
struct pair {
	const char *base, *corunner;
	enum corunner_class class;
};

struct pairs {
	VEC(struct pair)
	struct strtab seen;
};

struct fleet_view fleet_view_of_phase(const struct fleet_view *v, uint32_t phase)
{
	struct fleet_view of = *v;

	of.fleet = &v->phases->of[phase];
	of.phases = NULL;
	of.beside = NULL;
	of.n_without = 0;
	of.base = v->base ? fleet_find(of.fleet, strtab_get(&v->fleet->rows->apps, v->base->app))
			  : NULL;
	return of;
}

static void add_pair(struct pairs *all, const struct fleet_view *v, const struct fleet_cell *cell)
{
	const struct pair p = { strtab_get(&v->fleet->rows->apps, cell->base),
				strtab_get(&v->fleet->rows->apps, cell->corunner), cell->class };
	struct text key = { 0 };

	text_printf(&key, "%s\t%s\t%d", p.base, p.corunner, (int)p.class);
	if (strtab_find(&all->seen, key.s) == MAP_NONE) {
		strtab_add(&all->seen, key.s);
		*vec_add(all) = p;
	}
	text_release(&key);
}

static void add_pairs(struct pairs *all, const struct fleet_view *v)
{
	struct fleet_found found = { 0 };

	fleet_view_negative(v, false, &found);
	vec_for_each (&found, const struct fleet_cell *, cell)
		add_pair(all, v, *cell);
	vec_release(&found);
}

static const struct fleet_cell *cell_in(const struct fleet *f, const struct pair *p)
{
	const struct fleet_base *base = fleet_find(f, p->base);

	return base ? fleet_cell_of(f, base, p->corunner, p->class) : NULL;
}

static void print_cell(struct table *t, const struct fleet *f, const struct pair *p, bool wide)
{
	const struct fleet_cell *cell = cell_in(f, p);
	char s[32] = "";

	if (cell && cell->effect != FLEET_TOO_FEW && wide)
		snprintf(s, sizeof(s), "%+.1f%%%c", 100 * cell->change,
			 fleet_view_marks[cell->effect]);
	else if (cell && cell->effect != FLEET_TOO_FEW)
		snprintf(s, sizeof(s), "%c", fleet_view_marks[cell->effect]);
	table_right(t, s, wide ? CELL_WIDE : CELL_MARK - 1);
}

static void print_row(const struct fleet_view *v, const struct pair *p, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	bool wide = v->phases->phases->n <= WIDE_MOST;
	struct text names = { 0 };

	print_cell(&t, v->fleet, p, true);
	for (uint32_t i = 0; i < v->phases->phases->n; i++)
		print_cell(&t, &v->phases->of[i], p, wide);
	text_printf(&names, "%s alongside %s, %s", p->base, p->corunner,
		    corunner_class_names[p->class]);
	if (!wide || table_columns(names.s) + 1 > table_room(&t))
		text_add(out, "\n         ");
	text_printf(out, " %s\n", names.s);
	text_release(&names);
}

static void print_head(const struct fleet_view *v, struct text *out)
{
	const struct fleet_phases *p = v->phases->phases;

	text_printf(out, "%*s", CELL_WIDE, "ALL DAY");
	for (uint32_t i = 0; i < p->n; i++) {
		char name[FLEET_PHASE_NAME];

		fleet_phases_name(p, i, name);
		text_printf(out, "%*.*s", p->n <= WIDE_MOST ? CELL_WIDE : CELL_MARK,
			    p->n <= WIDE_MOST ? 5 : 2, name);
	}
	text_add(out, p->n <= WIDE_MOST ? "  APPLICATION\n" : "\n");
}

void report_fleet_phases(const struct fleet_view *v, struct text *out)
{
	struct pairs all = { 0 };
	char length[TEXT_NUMBER];
	size_t shown = 0;

	add_pairs(&all, v);
	for (uint32_t i = 0; i < v->phases->phases->n; i++) {
		const struct fleet_view of = fleet_view_of_phase(v, i);

		if (of.base || !v->base)
			add_pairs(&all, &of);
	}
	text_printf(out, "\nBy time of day (UTC), change of performance in each %s from:\n",
		    text_time(length, v->phases->phases->length_ns));
	if (!all.n)
		text_add(out, "no application slows another beyond the noise in any of them\n");
	else
		print_head(v, out);
	vec_for_each (&all, const struct pair, p)
		if (shown++ < v->top)
			print_row(v, p, out);
	if (all.n > v->top)
		text_printf(out, "%zu more (--top)\n", all.n - v->top);
	if (all.n)
		text_add(out, "- slower beyond the noise of that time, + faster, . within it, "
			      "? not certain,\nblank: too few samples\n");
	strtab_release(&all.seen);
	vec_release(&all);
}
