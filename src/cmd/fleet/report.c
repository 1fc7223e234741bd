/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/fleet/clickhouse/engine.h"
#include "analysis/fleet/clickhouse/load.h"
#include "analysis/fleet/fleet.h"
#include "analysis/fleet/phases.h"
#include "analysis/fleet/rows.h"
#include "analysis/fleet/sqlite/rows.h"
#include "analysis/fleet/sqlite/store.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/screen.h"
#include "cmd/common/write_out.h"
#include "cmd/fleet/internal.h"
#include "report/fleet/beside.h"
#include "report/fleet/fleet.h"
#include "report/fleet/html.h"
#include "report/fleet/json.h"
#include "report/fleet/phases.h"

#define EXCLUDED_MAX 64
#define RENAMED_MAX  10 /* notices */

static int class_of(const char *name, enum corunner_class *class, struct err *err)
{
	*class = name ? corunner_class_find(name) : CORUNNER_ALL;
	return name && (*class == CORUNNER_ALL || *class == CORUNNER_CLASSES)
		       ? args_refuse(
				 err,
				 "--class: no such class; give cpu, core, cache, socket, other, or trio")
		       : 0;
}

static void add_option(struct text *out, const char *option, const char *value)
{
	if (!value)
		return;
	text_printf(out, " %s ", option);
	text_shell_word(out, value);
}

/* Adds the options that a further command needs to read the same data. */
static void same_data(const struct fleet_args *a, struct text *out)
{
	add_option(out, "--db", a->db);
	add_option(out, "--engine", a->engine);
	add_option(out, "--credentials", a->credentials);
	add_option(out, "--ca-file", a->ca_file);
	add_option(out, "--indicator", a->indicators.n ? a->indicators.data[0] : NULL);
	add_option(out, "--type", a->type);
}

static int no_application(const struct fleet_args *a, const char *name, struct err *err)
{
	struct text options = { 0 };
	int rc;

	same_data(a, &options);
	rc = err_set(err, -ENODATA, "no application %s; `ispot fleet report%s --json` lists them",
		     name, options.n ? options.s : "");
	text_release(&options);
	return rc;
}

static int find_base(const struct fleet_args *a, struct fleet_view *v, struct err *err)
{
	v->base = a->base ? fleet_find(v->fleet, a->base) : NULL;
	if (a->base && !v->base)
		return no_application(a, a->base, err);
	return 0;
}

static bool is_twice(const struct fleet_args *a, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (!strcmp(a->exclude.data[before], a->exclude.data[i]))
			return true;
	return false;
}

/* Returns whether two co-runners may be near the same sample. How often they are is not in the
 * rows, so their gains cannot be added. */
static bool may_overlap(enum corunner_class class)
{
	return class != CORUNNER_CORE && class != CORUNNER_CPU;
}

/* Refuses to exclude a co-runner of which too little is known. */
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

/* Finds the excluded co-runners. Without --class, they are those on the same core, as in the paper.
 */
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

/* Reports applications that have several names: executables are named NAME@BUILD-ID. */
static void report_renamed(const struct fleet_view *v)
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
				log_notice("%s and %s are one program, renamed or under two names, "
					   "and count as two",
					   other, name);
		}
	}
}

static const char *database_of(const struct fleet_args *a)
{
	return a->db ? a->db : FLEET_DB;
}

static const char *indicator_of(const struct fleet_args *a)
{
	return a->indicators.n ? a->indicators.data[0] : NULL;
}

struct source {
	struct fleet_store_totals totals;
	struct fleet_store_meta meta;
	struct fleet_phases phases;
	struct fleet_rows rows;
	unsigned other_types;
	uint32_t indicator; /* its number in the database */
};

/* Loads the database. indicator: the name of the wanted one; NULL: the first one. */
static int load_file(const struct fleet_args *a, const char *path, const char *indicator,
		     struct source *s, struct err *err)
{
	struct fleet_store *store;
	int rc = fleet_store_open(&store, path, false, err);

	rc = rc ? rc
		: fleet_store_choose(store, indicator, &s->indicator, &s->meta, &s->totals, err);
	rc = rc ? rc : fleet_phases_init(&s->phases, s->meta.bucket_ns, a->bucket_ns, err);
	rc = rc ? rc
		: fleet_store_load(store, a->type, s->indicator, &s->phases, &s->rows,
				   &s->other_types, err);
	fleet_store_close(store);
	return rc;
}

static int load_engine(const struct fleet_args *a, struct source *s, struct err *err)
{
	const struct fleet_engine_options o = { a->engine, a->credentials, a->ca_file, a->retry_ns,
						NULL };
	struct fleet_engine *engine;
	int rc = fleet_engine_open(&engine, &o, err);

	rc = rc ? rc : fleet_engine_meta(engine, &s->meta, &s->totals, err);
	rc = rc ? rc : fleet_phases_init(&s->phases, s->meta.bucket_ns, a->bucket_ns, err);
	rc = rc ? rc
		: fleet_engine_load(engine, a->type, &s->phases, &s->rows, &s->other_types, err);
	fleet_engine_close(engine);
	return rc;
}

/* Finds the applications of --by-phase. It is an error if the database does not have one of them.
 */
static int find_split(const struct fleet_args *a, const struct fleet_rows *rows,
		      struct strtab *split, struct err *err)
{
	vec_for_each (&a->by_phase, const char *const, name) {
		if (strcmp(*name, "*") && strtab_find(&rows->apps, *name) == MAP_NONE)
			return no_application(a, *name, err);
		strtab_add(split, *name);
	}
	return 0;
}

/* The pairs by the other indicator, of the whole day, on machines of the same type. */
struct other {
	struct source source;
	struct fleet fleet;
	struct fleet_rows matches;
	struct fleet_beside beside;
};

/* Returns whether --beside names an indicator of this database. Otherwise it names another
 * database. */
static bool is_indicator(const struct fleet_args *a)
{
	struct fleet_store_totals totals;
	struct fleet_store_meta meta;
	struct fleet_store *store;
	struct err err = { 0 };
	uint32_t number;
	bool is = false;

	if (a->engine || fleet_store_open(&store, database_of(a), false, &err))
		return false;
	is = !fleet_store_choose(store, a->beside, &number, &meta, &totals, &err);
	fleet_store_close(store);
	return is;
}

/* Loads the samples for which both indicators are known. */
static int load_matches(const struct fleet_args *a, const char *type, uint32_t indicator,
			struct other *o, struct err *err)
{
	struct fleet_store *store;
	int rc = fleet_store_open(&store, database_of(a), false, err);

	rc = rc ? rc
		: fleet_store_load_matches(store, type, indicator, o->source.indicator, &o->matches,
					   err);
	fleet_store_close(store);
	o->beside.matches = &o->matches;
	return rc;
}

/* Loads the other indicator. indicator: that of the report. */
static int load_other(const struct fleet_args *a, const char *type, uint32_t indicator,
		      struct other *o, struct err *err)
{
	bool same_file = is_indicator(a);
	struct fleet_args whole = *a;
	int rc;

	whole.type = type;
	whole.bucket_ns = 0;
	if (!same_file && !a->engine && access(a->beside, F_OK))
		return err_set(err, -ENOENT,
			       "--beside %s: neither an indicator of %s nor a database; name "
			       "either",
			       a->beside, database_of(a));
	rc = load_file(&whole, same_file ? database_of(a) : a->beside, same_file ? a->beside : NULL,
		       &o->source, err);
	if (rc)
		return rc;
	if (same_file && o->source.indicator == indicator)
		return err_set(err, -EINVAL,
			       "--beside %s is what the report is of; name another indicator",
			       a->beside);
	fleet_init(&o->fleet, &o->source.rows,
		   &(struct fleet_options){ a->min_samples, a->alpha,
					    o->source.meta.higher_is_better });
	o->beside = (struct fleet_beside){ .fleet = &o->fleet, .meta = &o->source.meta };
	return same_file ? load_matches(a, type, indicator, o, err) : 0;
}

static int show(const struct fleet_args *a, const struct source *s, const struct fleet_rows *rows,
		const struct fleet_view_phases *phases, struct err *err)
{
	const struct fleet_options o = { a->min_samples, a->alpha, s->meta.higher_is_better };
	struct fleet fleet = { 0 };
	struct fleet_view v = { .fleet = &fleet,
				.meta = &s->meta,
				.totals = &s->totals,
				.other_types = s->other_types,
				.type = strtab_get(&rows->types, 0),
				.phases = phases,
				.top = a->top,
				.colours = screen_colours(),
				.width = screen_width() };
	struct other other = { 0 };
	struct text options = { 0 };
	int rc = class_of(a->class, &v.class, err);

	same_data(a, &options);
	v.options = options.n ? options.s : "";
	fleet_init(&fleet, rows, &o);
	if (!rc && !a->by_phase.n)
		report_renamed(&v);
	if (!rc && a->beside) {
		rc = load_other(a, v.type, s->indicator, &other, err);
		v.beside = &other.beside;
	}
	rc = rc ? rc : print(a, &v, err);
	fleet_release(&other.fleet);
	fleet_rows_release(&other.source.rows);
	fleet_rows_release(&other.matches);
	fleet_release(&fleet);
	text_release(&options);
	return rc;
}

/* Shows the whole day, and each part of it alone. */
static int show_phases(const struct fleet_args *a, const struct source *s,
		       const struct fleet_rows *rows, struct err *err)
{
	const struct fleet_options o = { a->min_samples, a->alpha, s->meta.higher_is_better };
	struct fleet_rows *each = xcalloc(s->phases.n, sizeof(*each));
	struct fleet_view_phases phases = { &s->phases,
					    xcalloc(s->phases.n, sizeof(struct fleet)) };
	int rc;

	for (uint32_t i = 0; i < s->phases.n; i++) {
		fleet_phases_pick(&s->rows, i, &each[i]);
		fleet_init(&phases.of[i], &each[i], &o);
	}
	rc = show(a, s, rows, &phases, err);
	for (uint32_t i = 0; i < s->phases.n; i++) {
		fleet_release(&phases.of[i]);
		fleet_rows_release(&each[i]);
	}
	free(phases.of);
	free(each);
	return rc;
}

static int analyse(const struct fleet_args *a, struct err *err)
{
	struct source s = { 0 };
	struct fleet_rows joined = { 0 };
	struct strtab split = { 0 };
	int rc = a->engine ? load_engine(a, &s, err)
			   : load_file(a, database_of(a), indicator_of(a), &s, err);

	rc = rc ? rc : find_split(a, &s.rows, &split, err);
	if (!rc && s.phases.n)
		fleet_phases_join(&s.rows, &s.phases, split.n ? &split : NULL, &joined);
	if (!rc && s.phases.n && !split.n)
		rc = show_phases(a, &s, &joined, err);
	else if (!rc)
		rc = show(a, &s, s.phases.n ? &joined : &s.rows, NULL, err);
	strtab_release(&split);
	fleet_rows_release(&joined);
	fleet_rows_release(&s.rows);
	return rc;
}

int fleet_report(const struct fleet_args *a, char **words, struct err *err)
{
	enum corunner_class class;
	int rc = class_of(a->class, &class, err);

	if (rc)
		return rc;
	if (a->by_phase.n && !a->bucket_ns)
		return args_refuse(err,
				   "--by-phase: no length of a phase; give it with --bucket 6h");
	if (*words || a->json + a->csv + !!a->html > 1)
		return args_refuse(
			err,
			"too many words or views; give options only, and one of --json, --csv and --html");
	if (a->indicators.n > 1 || (a->indicators.n && a->engine))
		return args_refuse(err, "--indicator: a report is of one, and servers have only "
					"one; give it once, and with --db");
	if (a->engine && a->db)
		return args_refuse(err, "--db is a file and --engine names servers; give one");
	if (a->beside && (a->by_phase.n || a->csv || a->html))
		return args_refuse(err, "--beside is of the screen and --json, and of whole "
					"applications; leave out --by-phase, --csv and --html");
	if (!(a->alpha > 0 && a->alpha < 1))
		return args_refuse(err, "--alpha is a share; give more than 0, less than 1");
	if (a->exclude.n && !a->base)
		return args_refuse(
			err, "--exclude: no application that is to gain; name it with --base APP");
	if (a->exclude.n > EXCLUDED_MAX)
		return args_refuse(err, "--exclude: too many applications; give up to 64");
	if (!a->html && screen_begin(&a->screen, err))
		return err->code;
	return analyse(a, err);
}
