/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/fleet/beside.h"

#include <math.h>
#include <stdio.h>

#include "analysis/fleet/fleet.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/json.h"
#include "base/text.h"
#include "report/fleet/fleet.h"
#include "report/table/table.h"

/* The least numbers of pairs and of blocks for a correlation. A reader takes the correlation of one
 * pair's blocks for evidence, so it needs more: three blocks without anything in common correlate
 * beyond 0.9 in more than every fourth pair. */
#define PAIRS_LEAST  3
#define BLOCKS_LEAST 10

static const char *name_of(const struct fleet_view *v, uint32_t app)
{
	return strtab_get(&v->fleet->rows->apps, app);
}

const struct fleet_cell *fleet_beside_cell(const struct fleet_view *v,
					   const struct fleet_cell *cell)
{
	const struct fleet *other = v->beside->fleet;
	const struct fleet_base *base = fleet_find(other, name_of(v, cell->base));

	if (!base || cell->class == CORUNNER_TRIO)
		return NULL;
	return fleet_cell_of(other, base, name_of(v, cell->corunner), cell->class);
}

/* Returns the pair in the other fleet if both have enough samples of it, or NULL. */
static const struct fleet_cell *matched(const struct fleet_view *v, const struct fleet_cell *cell)
{
	const struct fleet_cell *other =
		fleet_view_shows(v, cell) ? fleet_beside_cell(v, cell) : NULL;

	return other && cell->effect != FLEET_TOO_FEW && other->effect != FLEET_TOO_FEW ? other
											: NULL;
}

/* ---- single occurrences ---- */

static const struct fleet_match *find_match(const struct fleet_view *v,
					    const struct fleet_cell *cell)
{
	const struct fleet_rows *rows = v->beside->matches;

	return fleet_rows_find_match(rows, strtab_find(&rows->apps, name_of(v, cell->base)),
				     strtab_find(&rows->apps, name_of(v, cell->corunner)),
				     cell->class);
}

/* Returns the change, computed as that of struct fleet_cell. */
static double change_of(const struct fleet_match *m, fleet_i128 sum, bool higher_is_better)
{
	double octaves = (double)sum / (double)m->w / FLEET_CONTRAST_UNIT / TALLY_PAGE;

	return exp2(higher_is_better ? octaves : -octaves) - 1;
}

/* Rounding may leave a correlation slightly beyond 1 or -1. */
static double clamped(double correlation)
{
	return fmax(-1, fmin(1, correlation));
}

/* Correlates performance: the sign is turned if a higher value is better for one indicator only. */
static double correlation_of(const struct fleet_match *m, bool turned)
{
	double w = (double)m->w, x = (double)m->wx / w, y = (double)m->wy / w;
	double xx = (double)m->wxx / w - x * x, yy = (double)m->wyy / w - y * y;
	double xy = (double)m->wxy / w - x * y;

	if (m->blocks < BLOCKS_LEAST || !(xx > 0) || !(yy > 0))
		return NAN;
	return clamped((turned ? -xy : xy) / sqrt(xx * yy));
}

struct fleet_beside_match fleet_beside_match(const struct fleet_view *v,
					     const struct fleet_cell *cell)
{
	const struct fleet_match *m = find_match(v, cell);
	bool own = v->meta->higher_is_better, other = v->beside->meta->higher_is_better;

	if (!m || !m->w)
		return (struct fleet_beside_match){ 0, NAN, NAN, NAN };
	return (struct fleet_beside_match){ m->blocks, change_of(m, m->wx, own),
					    change_of(m, m->wy, other),
					    correlation_of(m, own != other) };
}

void report_fleet_match_json(const struct fleet_view *v, const struct fleet_cell *cell,
			     struct json *pair)
{
	const struct fleet_beside_match m = fleet_beside_match(v, cell);
	struct json *o = json_new_object();

	json_set_u64(o, "blocks", m.blocks);
	json_set_f64(o, "contrast", m.contrast);
	json_set_f64(o, "beside", m.beside);
	json_set_f64(o, "correlation", m.correlation);
	json_set_take(pair, "matched", o);
}

/* ---- pairs ---- */

struct sums {
	double n, x, y, xx, xy, yy;
};

static double correlation(const struct sums *s)
{
	double xx = s->xx - s->x * s->x / s->n, yy = s->yy - s->y * s->y / s->n;

	if (s->n < PAIRS_LEAST || !(xx > 0) || !(yy > 0))
		return NAN;
	return clamped((s->xy - s->x * s->y / s->n) / sqrt(xx * yy));
}

struct fleet_beside_summary fleet_beside_sum(const struct fleet_view *v)
{
	struct fleet_beside_summary sum = { 0 };
	struct sums s = { 0 };

	vec_for_each (&v->fleet->cells, const struct fleet_cell, cell) {
		const struct fleet_cell *other = matched(v, cell);
		int slowed =
			other ? (cell->effect == FLEET_NEGATIVE) + (other->effect == FLEET_NEGATIVE)
			      : 0;

		if (!other)
			continue;
		sum.pairs++;
		sum.both += slowed == 2;
		sum.one += slowed == 1;
		s.n++;
		s.x += cell->change;
		s.y += other->change;
		s.xx += cell->change * cell->change;
		s.xy += cell->change * other->change;
		s.yy += other->change * other->change;
	}
	sum.correlation = correlation(&s);
	return sum;
}

static void print_change(struct table *t, const struct fleet_cell *cell)
{
	char s[32];

	snprintf(s, sizeof(s), "%+.1f%%%c", 100 * cell->change, fleet_view_marks[cell->effect]);
	table_right(t, s, 9);
}

/* Prints the line below the pair's, which compares both indicators in the same blocks. */
static void print_match(const struct fleet_view *v, const struct fleet_cell *cell, struct text *out)
{
	const struct fleet_beside_match m = fleet_beside_match(v, cell);
	char blocks[TEXT_COUNTED];

	if (!m.blocks) {
		text_add(out, "                    never compared within one block\n");
		return;
	}
	text_printf(out, "%+8.1f%% %+8.1f%%   in %s with both", 100 * m.contrast, 100 * m.beside,
		    text_counted(blocks, m.blocks, "block"));
	if (!isnan(m.correlation))
		text_printf(out, "; correlation there %.2f", m.correlation);
	text_add(out, "\n");
}

static void print_pair(const struct fleet_view *v, const struct fleet_cell *cell,
		       const struct fleet_cell *other, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };

	print_change(&t, cell);
	print_change(&t, other);
	text_printf(out, "  %s alongside %s, %s\n", name_of(v, cell->base),
		    name_of(v, cell->corunner), corunner_class_names[cell->class]);
	if (v->beside->matches)
		print_match(v, cell, out);
}

void report_fleet_beside(const struct fleet_view *v, struct text *out)
{
	struct fleet_beside_summary sum = fleet_beside_sum(v);
	size_t shown = 0;

	text_printf(out, "\nBy %s (first) and by %s: ", v->meta->indicator,
		    v->beside->meta->indicator);
	if (!sum.pairs) {
		text_add(out, "no pair has enough samples in both\n");
		return;
	}
	text_printf(out, "%u pairs have enough samples in both,\n%u are slowed by both, %u by one",
		    sum.pairs, sum.both, sum.one);
	if (!isnan(sum.correlation))
		text_printf(out, "; correlation of the changes %.2f", sum.correlation);
	text_add(out, "\n");
	vec_for_each (&v->fleet->cells, const struct fleet_cell, cell) {
		const struct fleet_cell *other = matched(v, cell);

		if (other && shown < v->top &&
		    (cell->effect == FLEET_NEGATIVE || other->effect == FLEET_NEGATIVE)) {
			print_pair(v, cell, other, out);
			shown++;
		}
	}
}

struct json *report_fleet_beside_json(const struct fleet_view *v)
{
	struct fleet_beside_summary sum = fleet_beside_sum(v);
	struct json *o = json_new_object();

	json_set_string(o, "indicator", v->beside->meta->indicator);
	json_set_string(o, "unit", v->beside->meta->unit);
	json_set_bool(o, "higher_is_better", v->beside->meta->higher_is_better);
	json_set_u64(o, "pairs", sum.pairs);
	json_set_u64(o, "slowed_by_both", sum.both);
	json_set_u64(o, "slowed_by_one", sum.one);
	json_set_f64(o, "correlation", sum.correlation);
	return o;
}
