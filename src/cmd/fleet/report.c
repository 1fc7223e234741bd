/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "analysis/fleet/clickhouse/engine.h"
#include "analysis/fleet/clickhouse/load.h"
#include "analysis/fleet/fleet.h"
#include "analysis/fleet/rows.h"
#include "analysis/fleet/sqlite/rows.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/pager.h"
#include "cli/screen.h"
#include "cmd/common/write_out.h"
#include "cmd/fleet/internal.h"
#include "report/fleet/fleet.h"
#include "report/fleet/html.h"
#include "report/fleet/json.h"

#define EXCLUDED_MAX 64
#define RENAMED_MAX  10 /* notices */

static int class_of(const char *name, enum corunner_class *class, struct err *err)
{
	*class = name ? corunner_class_find(name) : CORUNNER_ALL;
	return name && (*class == CORUNNER_ALL || *class == CORUNNER_CLASSES)
		       ? args_refuse(err, "--class takes cpu, core, cache, socket, other, or trio")
		       : 0;
}

static int find_base(const struct fleet_args *a, struct fleet_view *v, struct err *err)
{
	v->base = a->base ? fleet_find(v->fleet, a->base) : NULL;
	if (a->base && !v->base)
		return err_set(err, -ENODATA,
			       "no application %s; ispot fleet report --json lists them", a->base);
	return 0;
}

static bool is_twice(const struct fleet_args *a, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (!strcmp(a->exclude.data[before], a->exclude.data[i]))
			return true;
	return false;
}

/* Two may be near one sample, which would go with each of them; how often is not in the rows. */
static bool may_overlap(enum corunner_class class)
{
	return class != CORUNNER_CORE && class != CORUNNER_CPU;
}

/* A pair of which too little is known to say anything is no ground to part it either. */
static int check_excluded(const struct fleet_view *v, const char *name, enum corunner_class class,
			  const struct fleet_cell *cell, struct err *err)
{
	const char *base = strtab_get(&v->fleet->rows->apps, v->base->app);

	if (!cell || class == CORUNNER_TRIO)
		return err_set(err, -ENODATA,
			       "%s never ran alongside %s in class %s; try another --class", base,
			       name, corunner_class_names[class]);
	if (cell->effect == FLEET_TOO_FEW)
		return err_set(err, -ENODATA,
			       "%s has %" PRIu64
			       " samples alongside %s in class %s, too few to say "
			       "what it would gain; see --min-samples",
			       base, cell->tally->n, name, corunner_class_names[class]);
	if (v->n_without && may_overlap(class))
		return args_refuse(err, "--exclude of several is for --class core and cpu: in "
					"others two may be near at once; give one");
	return 0;
}

/* On the same core where no class is asked for, as in the paper. */
static int find_excluded(const struct fleet_args *a, struct fleet_view *v,
			 const struct fleet_cell **cells, struct err *err)
{
	enum corunner_class class = v->class == CORUNNER_ALL ? CORUNNER_CORE : v->class;
	int rc = 0;

	for (size_t i = 0; !rc && i < a->exclude.n; i++) {
		const struct fleet_cell *cell =
			fleet_cell_of(v->fleet, v->base, a->exclude.data[i], class);

		if (is_twice(a, i))
			continue;
		rc = check_excluded(v, a->exclude.data[i], class, cell, err);
		if (!rc)
			cells[v->n_without++] = cell;
	}
	v->without = cells;
	return rc;
}

static int print(const struct fleet_args *a, struct fleet_view *v, struct err *err)
{
	const struct fleet_cell *excluded[EXCLUDED_MAX];
	struct text out = { 0 };
	int rc = find_base(a, v, err);

	if (!rc)
		rc = find_excluded(a, v, excluded, err);
	if (rc)
		return rc;
	(a->json   ? report_fleet_json
	 : a->csv  ? report_fleet_csv
	 : a->html ? report_fleet_html
		   : report_fleet_text)(v, &out);
	rc = write_out(&out, a->html, err);
	text_release(&out);
	return rc;
}

/* Executables are NAME@BUILD-ID. */
static void say_renamed(const struct fleet_view *v)
{
	const struct fleet *f = v->fleet;
	unsigned said = 0;

	for (size_t i = 0; i < f->bases.n && !strcmp(v->meta->by, "executable"); i++) {
		const char *name = strtab_get(&f->rows->apps, f->bases.data[i].app);
		const char *build = strrchr(name, '@');

		for (size_t k = 0; build && build[1] && k < i && said < RENAMED_MAX; k++) {
			const char *other = strtab_get(&f->rows->apps, f->bases.data[k].app);
			const char *same = strrchr(other, '@');

			if (same && !strcmp(same, build) && ++said)
				log_notice("%s and %s are one program, renamed or under two names; "
					   "they count as two",
					   other, name);
		}
	}
}

struct source {
	struct fleet_store_totals totals;
	struct fleet_store_meta meta;
	struct fleet_rows rows;
	unsigned other_types;
};

static int load_file(const struct fleet_args *a, struct source *s, struct err *err)
{
	struct fleet_store *store;
	int rc = fleet_store_open(&store, a->db ? a->db : FLEET_DB, false, err);

	rc = rc ? rc : fleet_store_meta(store, &s->meta, &s->totals, err);
	rc = rc ? rc : fleet_store_load(store, a->type, &s->rows, &s->other_types, err);
	fleet_store_close(store);
	return rc;
}

static int load_engine(const struct fleet_args *a, struct source *s, struct err *err)
{
	const struct fleet_engine_options o = { a->engine, a->credentials, a->ca_file,
						a->retry_ns };
	struct fleet_engine *engine;
	int rc = fleet_engine_open(&engine, &o, err);

	rc = rc ? rc : fleet_engine_meta(engine, &s->meta, &s->totals, err);
	rc = rc ? rc : fleet_engine_load(engine, a->type, &s->rows, &s->other_types, err);
	fleet_engine_close(engine);
	return rc;
}

static int analyse(const struct fleet_args *a, struct fleet_view *v, struct err *err)
{
	struct source s = { 0 };
	struct fleet fleet = { 0 };
	int rc = a->engine ? load_engine(a, &s, err) : load_file(a, &s, err);

	if (!rc) {
		struct fleet_options o = { a->min_samples, a->alpha, s.meta.higher_is_better };

		fleet_init(&fleet, &s.rows, &o);
		v->fleet = &fleet;
		v->meta = &s.meta;
		v->totals = &s.totals;
		v->other_types = s.other_types;
		v->type = strtab_get(&s.rows.types, 0);
		say_renamed(v);
		rc = print(a, v, err);
	}
	fleet_release(&fleet);
	fleet_rows_release(&s.rows);
	return rc;
}

int fleet_report(const struct fleet_args *a, char **words, struct err *err)
{
	struct fleet_view v = { .top = a->top };
	int rc = class_of(a->class, &v.class, err);

	if (rc)
		return rc;
	if (*words || a->json + a->csv + !!a->html > 1)
		return args_refuse(err, "report takes options only, and one of --json, --csv "
					"and --html");
	if (a->engine && a->db)
		return args_refuse(err, "--db is a file and --engine names servers; give one");
	if (!(a->alpha > 0 && a->alpha < 1))
		return args_refuse(err, "--alpha is a share; give more than 0, less than 1");
	if (a->exclude.n && !a->base)
		return args_refuse(err,
				   "--exclude needs the application that is to gain: --base APP");
	if (a->exclude.n > EXCLUDED_MAX)
		return args_refuse(err, "--exclude takes up to 64 applications");
	if (!a->html)
		pager_start(); /* record, the same command, leaves its program's output alone */
	v.colours = screen_colours();
	v.width = screen_width();
	return analyse(a, &v, err);
}
