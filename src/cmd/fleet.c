/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which applications slow which, over many machines. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "args.h"
#include "base/err.h"
#include "command.h"
#include "fleet_verbs.h"

#define OPTION(name, value, kind, member, help)                                       \
	{                                                                             \
		0, name, value, kind, offsetof(struct fleet_args, member), help, NULL \
	}

static const struct option_row options[] = {
	{ 'o', "output", "OUT", ARG_STRING, offsetof(struct fleet_args, output),
	  "record: the file (ispot.fleet); simulate: the directory", NULL },
	{ 'F', "function", "PATTERN", ARG_LIST, offsetof(struct fleet_args, functions),
	  "record: the function or marker whose duration is the indicator", NULL },
	{ 'p', "pid", "PID", ARG_STRING, offsetof(struct fleet_args, pid),
	  "record: a running process", NULL },
	{ 'd', "duration", "TIME", ARG_TIME, offsetof(struct fleet_args, duration_ns),
	  "record: for so long", NULL },
	OPTION("duty", "ON/PERIOD", ARG_STRING, duty,
	       "record: only for ON in each PERIOD (1s/10s), to cost less"),
	OPTION("by", "WHAT", ARG_STRING, by,
	       "record: an application is an executable, cgroup, or user (executable)"),
	OPTION("db", "FILE", ARG_STRING, db, "the database (fleet.db)"),
	OPTION("machines", "N", ARG_ABOVE_0, machines, "simulate: so many machines (20)"),
	OPTION("samples", "N", ARG_ABOVE_0, samples, "simulate: about so many samples (2000000)"),
	OPTION("seed", "N", ARG_U64, seed, "simulate: everything follows from it (1)"),
	OPTION("applications", "N", ARG_ABOVE_0, applications,
	       "simulate: so many applications (40)"),
	OPTION("cpus", "N", ARG_ABOVE_0, cpus, "simulate: hardware threads of a machine (24)"),
	OPTION("interferers", "N", ARG_U64, interferers,
	       "simulate: pairs of which one slows the other on a shared core (8)"),
	OPTION("bucket", "TIME", ARG_TIME, bucket_ns,
	       "reduce: keep rows of times so far apart separate (1h)"),
	OPTION("type", "NAME", ARG_STRING, type, "report: of this machine type"),
	OPTION("base", "APP", ARG_STRING, base, "report: everybody who ran beside APP"),
	OPTION("class", "CLASS", ARG_STRING, class,
	       "report: only cpu, core, cache, socket, or other"),
	OPTION("exclude", "APP", ARG_LIST, exclude,
	       "report: with --base, what it would gain without APP; may be given often"),
	OPTION("min-samples", "N", ARG_ABOVE_0, min_samples,
	       "report: say nothing from fewer samples (1000)"),
	OPTION("alpha", "P", ARG_F64, alpha, "report: share of the found that may be wrong (0.05)"),
	OPTION("top", "N", ARG_ABOVE_0, top, "report: show N rows (20)"),
	OPTION("json", NULL, ARG_FLAG, json, "report: write JSON to standard output"),
	OPTION("csv", NULL, ARG_FLAG, csv, "report: write every pair as CSV"),
	{ 0 },
};

static const char *const examples[] = {
	"sudo ispot fleet record -F marker:request -p 1234 -d 60",
	"samples of this machine into ispot.fleet",
	"ispot fleet reduce samples/*.fleet",
	"samples of many machines become rows of fleet.db",
	"ispot fleet report",
	"which applications slow which, and what it would give to part them",
	"ispot fleet report --base streetview --exclude bigtable",
	"what streetview would gain without bigtable on its core",
	"ispot fleet simulate -o made-up --machines 100",
	"samples of a made-up fleet, for tests and capacity planning",
	NULL,
};

static const struct {
	const char *name;
	fleet_verb *run;
} verbs[] = {
	{ "record", fleet_record },
	{ "reduce", fleet_reduce },
	{ "report", fleet_report },
	{ "simulate", fleet_simulate },
};

static fleet_verb *verb_of(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return verbs[i].run;
	return NULL;
}

static int run_fleet(int argc, char **argv, struct err *err)
{
	struct fleet_args a = { .db = "fleet.db",
				.by = "executable",
				.machines = 20,
				.samples = 2000000,
				.seed = 1,
				.applications = 40,
				.cpus = 24,
				.interferers = 8,
				.bucket_ns = 3600000000000,
				.min_samples = 1000,
				.alpha = 0.05,
				.top = 20 };
	int first, rc = args_parse(options, &a, ARGS_STOP_AT_WORD, argc, argv, &first, err);
	fleet_verb *verb = rc || first == argc ? NULL : verb_of(argv[first]);
	int words = 0;

	if (!rc && !verb) {
		rc = err_set(err, -EINVAL, "fleet takes record, reduce, report or simulate");
		if (err)
			err->exit_status = 2;
	}
	if (!rc) /* options stand behind the verb, too */
		rc = args_parse(options, &a, verb == fleet_record ? ARGS_STOP_AT_WORD : 0,
				argc - first, argv + first, &words, err);
	if (!rc)
		rc = verb(&a, argv + first + words, err);
	vec_release(&a.exclude);
	vec_release(&a.functions);
	return rc;
}

const struct command cmd_fleet = {
	.name = "fleet",
	.summary = "find applications that slow others, over many machines",
	.usage =
		"ispot fleet record [-o OUT] -F PATTERN [--by WHAT] [-d TIME] [--duty ON/PERIOD] (-p PID | -- CMD...)\n"
		"ispot fleet reduce [--db FILE] [--bucket TIME] FILE...\n"
		"ispot fleet report [--db FILE] [--type NAME] [--base APP] [--exclude APP]... "
		"[--class CLASS] [--min-samples N] [--alpha P] [--top N] [--json | --csv]\n"
		"ispot fleet simulate -o OUT [--machines N] [--samples N] [--seed N] "
		"[--applications N] [--cpus N] [--interferers N]",
	.examples = examples,
	.options = options,
	.run = run_fleet,
};
