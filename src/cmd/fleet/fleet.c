/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds which applications slow down others, over many machines. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cmd/fleet/internal.h"

#define BUCKET_NOT_GIVEN  UINT64_MAX
#define BUCKET_DEFAULT_NS 3600000000000ull /* of reduce and push */

#define OPTION(letter, name, value, kind, member, help)                                    \
	{                                                                                  \
		letter, name, value, kind, offsetof(struct fleet_args, member), help, NULL \
	}

static const struct option_row options[] = {
	OPTION('o', "output", "OUT", ARG_STRING, output,
	       "record, export: the file (ispot.fleet); simulate: the directory"),
	OPTION('F', "function", "PATTERN", ARG_LIST, functions,
	       "record: the function or marker whose duration is the indicator"),
	OPTION('p', "pid", "PID,...", ARG_STRING, pid, "record: running processes"),
	OPTION('d', "duration", "TIME", ARG_TIME, duration_ns, "record: for so long"),
	OPTION(0, "indicator", "NAME,...", ARG_LIST, indicators,
	       "record, simulate: measure these at the same times (repeatable); push: this "
	       "one of a file; report: this one of a database"),
	OPTION(0, "duty", "ON/PERIOD", ARG_STRING, duty,
	       "record: only for ON in each PERIOD (1s/10s), to cost less"),
	OPTION(0, "cost", "PERCENT", ARG_F64, cost,
	       "record: rest as long as it takes to cost no more of the CPUs' time"),
	OPTION(0, "period", "N", ARG_ABOVE_0, period,
	       "record: without -F, a sample each N instructions (2500000)"),
	OPTION(0, "dir", "DIR", ARG_STRING, dir,
	       "record: without end, into files of DIR of which the oldest go"),
	OPTION(0, "files", "N", ARG_ABOVE_0, files, "record: so many files in DIR (16)"),
	OPTION(0, "file-size", "SIZE", ARG_SIZE, file_bytes, "record: each so large (16M)"),
	OPTION(0, "to", "URL|DIR", ARG_STRING, to,
	       "record: send to a server, as push does, or into the spool that collect takes from"),
	OPTION(0, "every", "TIME", ARG_TIME, every_ns,
	       "collect: look again every TIME until Ctrl-C (default: once)"),
	OPTION(0, "by", "WHAT", ARG_STRING, by,
	       "record: an application is an executable, cgroup, container or user (executable)"),
	OPTION(0, "db", "FILE", ARG_STRING, db, "reduce, collect, report: the database (fleet.db)"),
	OPTION(0, "engine", "URL", ARG_STRING, engine,
	       "push, collect, report: clickhouse://HOST:PORT[,HOST:PORT]/DATABASE, or clickhouse+https://"),
	OPTION(0, "credentials", "FILE", ARG_STRING, credentials,
	       "push, record, collect, report: lines user=NAME and password=WORD"),
	OPTION(0, "ca-file", "FILE", ARG_STRING, ca_file,
	       "push, record, collect, report: trust servers whose certificates this one signs"),
	OPTION(0, "retry", "TIME", ARG_TIME, retry_ns,
	       "push, record, collect, report: ask a server that does not answer for so long (1m)"),
	OPTION(0, "machines", "N", ARG_ABOVE_0, machines, "simulate: so many machines (20)"),
	OPTION(0, "samples", "N", ARG_ABOVE_0, samples,
	       "simulate: about so many samples (2000000)"),
	OPTION(0, "seed", "N", ARG_U64, seed, "simulate: everything follows from it (1)"),
	OPTION(0, "applications", "N", ARG_ABOVE_0, applications,
	       "simulate: so many applications (16)"),
	OPTION(0, "cpus", "N", ARG_ABOVE_0, cpus, "simulate: hardware threads of a machine (24)"),
	OPTION(0, "interferers", "N", ARG_U64, interferers,
	       "simulate: pairs of which one slows the other on a shared core (8)"),
	OPTION(0, "trio-interferers", "N", ARG_U64, trio_interferers,
	       "simulate: trios of which two together slow the third (0)"),
	OPTION(0, "bucket", "TIME", ARG_TIME, bucket_ns,
	       "reduce, push, collect: keep rows of times so far apart separate (1h); report: compare "
	       "parts of the day so long"),
	OPTION(0, "by-phase", "APP", ARG_LIST, by_phase,
	       "report: with --bucket, each part of the day of APP is an application of its own"),
	OPTION(0, "trios", "APP", ARG_LIST, trios,
	       "reduce, push, collect: keep what two at once do to APP, too (repeatable)"),
	OPTION(0, "beside", "NAME|FILE", ARG_STRING, beside,
	       "report: what another indicator of the database, or another database, says of the "
	       "same pairs"),
	OPTION(0, "type", "NAME", ARG_STRING, type, "report: of this machine type"),
	OPTION(0, "base", "APP", ARG_STRING, base, "report: show all co-runners of APP"),
	OPTION(0, "class", "CLASS", ARG_STRING, class,
	       "report: only cpu, core, cache, socket, other, or trio"),
	OPTION(0, "exclude", "APP", ARG_LIST, exclude,
	       "report: with --base, what it would gain without APP (repeatable)"),
	OPTION(0, "min-samples", "N", ARG_ABOVE_0, min_samples,
	       "report: say nothing from fewer samples (1000)"),
	OPTION(0, "alpha", "P", ARG_F64, alpha,
	       "report: share of the found that may be wrong (0.05)"),
	OPTION(0, "top", "N", ARG_ABOVE_0, top, "report: show N rows (20)"),
	OPTION(0, "json", NULL, ARG_FLAG, json, "report: write JSON to standard output"),
	OPTION(0, "csv", NULL, ARG_FLAG, csv, "report: write every pair as CSV"),
	OPTION(0, "html", "FILE", ARG_STRING, html,
	       "report: write one HTML file, with the matrix and figures; '-' writes to stdout"),
	SCREEN_ROWS(struct fleet_args, screen),
	{ 0 },
};

static const char *const examples[] = {
	"sudo ispot fleet record -F marker:request -p 1234 -d 60",
	"samples of this machine into ispot.fleet",
	"sudo ispot fleet record --dir /var/lib/ispot --cost 0.5",
	"instructions per cycle of all applications, as long as the machine runs",
	"ispot fleet reduce samples/*.fleet",
	"samples of many machines become rows of fleet.db",
	"ispot fleet report",
	"which applications slow which, and what it would give to part them",
	"ispot fleet report --base streetview --exclude bigtable",
	"what streetview would gain without bigtable on its core",
	"sudo ispot fleet record -d 60 --indicator ipc,llc-misses",
	"two indicators of the same samples",
	"ispot fleet report --beside llc-misses",
	"which pairs the misses of the last-level cache explain",
	"ispot fleet report --bucket 6h",
	"which of the relations hold at which hours of the day",
	"sudo ispot fleet record --to /mnt/spool -F marker:request -p 1234",
	"into a spool that many machines share",
	"ispot fleet collect --every 1m /mnt/spool",
	"from which the samples of all come into fleet.db",
	"ispot fleet push --engine clickhouse://ch1:8123,ch2:8123/fleet samples/*.fleet",
	"the same rows on two ClickHouse servers; report takes the same --engine",
	"ispot fleet export -o samples.csv.zst samples/*.fleet",
	"every sample, for other programs",
	"ispot fleet simulate -o made-up --machines 100",
	"samples of a made-up fleet, for tests and capacity planning",
	NULL,
};

/* takes: options by their long names. */
struct verb {
	const char *name;
	fleet_verb *run;
	unsigned flags;
	const char *takes[24];
};

static const struct verb verbs[] = {
	{ "record",
	  fleet_record,
	  ARGS_STOP_AT_WORD,
	  { "output", "function", "pid", "duration", "duty", "by", "cost", "period", "dir", "files",
	    "file-size", "to", "credentials", "ca-file", "retry", "bucket", "indicator" } },
	{ "collect",
	  fleet_collect,
	  0,
	  { "db", "engine", "credentials", "ca-file", "retry", "bucket", "trios", "every" } },
	{ "reduce", fleet_reduce, 0, { "db", "bucket", "trios" } },
	{ "export", fleet_export, 0, { "output" } },
	{ "push",
	  fleet_push,
	  0,
	  { "engine", "credentials", "ca-file", "retry", "bucket", "trios", "indicator" } },
	{ "report", fleet_report, 0, { "db",	   "engine",   "credentials", "ca-file", "retry",
				       "bucket",   "by-phase", "beside",      "type",	 "base",
				       "class",	   "exclude",  "min-samples", "alpha",	 "top",
				       "json",	   "csv",      "html",	      "color",	 "no-pager",
				       "indicator" } },
	{ "simulate",
	  fleet_simulate,
	  0,
	  { "output", "machines", "samples", "seed", "applications", "cpus", "interferers",
	    "trio-interferers", "indicator" } },
};

static const struct verb *verb_of(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static bool takes(const struct verb *verb, const char *option)
{
	for (const char *const *name = verb->takes; *name; name++)
		if (!strcmp(*name, option))
			return true;
	return false;
}

/* Parses the options before and after the verb. Options of other verbs are refused. */
static int parse(const struct verb *verb, struct fleet_args *a, int argc, char **argv, int first,
		 int *words, struct err *err)
{
	struct option_row own[sizeof(options) / sizeof(*options)] = { 0 };
	int n = 0, before, rc;

	for (const struct option_row *row = options; !option_row_ends(row); row++)
		if (takes(verb, row->name))
			own[n++] = *row;
	rc = args_parse(own, a, ARGS_STOP_AT_WORD, first, argv, &before, err);
	if (!rc)
		rc = args_parse(own, a, verb->flags, argc - first, argv + first, words, err);
	if (rc && rc != ARGS_ANSWERED)
		err_prefix(err, "%s", verb->name);
	return rc;
}

static int run_fleet(int argc, char **argv, struct err *err)
{
	struct fleet_args a = { .by = "executable",
				.machines = 20,
				.samples = 2000000,
				.seed = 1,
				.applications = 16,
				.cpus = 24,
				.interferers = 8,
				.bucket_ns = BUCKET_NOT_GIVEN,
				.min_samples = 1000,
				.period = 2500000,
				.files = 16,
				.file_bytes = 16 << 20,
				.retry_ns = 60000000000,
				.alpha = 0.05,
				.top = 20 };
	struct fleet_args any = { 0 };
	int first, rc = args_parse(options, &any, ARGS_STOP_AT_WORD, argc, argv, &first, err);
	const struct verb *verb = rc || first == argc ? NULL : verb_of(argv[first]);
	int words = 0;

	if (!rc && !verb)
		rc = args_refuse(
			err, "%s%s; give record, collect, reduce, push, report, export or simulate",
			first == argc ? "nothing to do" : argv[first],
			first == argc ? "" : ": no such command");
	if (!rc)
		rc = parse(verb, &a, argc, argv, first, &words, err);
	if (a.bucket_ns == BUCKET_NOT_GIVEN)
		a.bucket_ns = verb && verb->run == fleet_report ? 0 : BUCKET_DEFAULT_NS;
	if (!rc)
		rc = verb->run(&a, argv + first + words, err);
	vec_release(&any.exclude);
	vec_release(&any.functions);
	vec_release(&any.trios);
	vec_release(&any.indicators);
	vec_release(&a.indicators);
	vec_release(&any.by_phase);
	vec_release(&a.by_phase);
	vec_release(&a.exclude);
	vec_release(&a.functions);
	vec_release(&a.trios);
	return rc;
}

static const struct option_choices choices[] = {
	{ "by", "exe cgroup container user" },
	{ "color", "auto always never" },
	{ 0 },
};

const struct command cmd_fleet = {
	.name = "fleet",
	.summary = "find applications that slow each other, across machines",
	.usage =
		"ispot fleet record [-o OUT | --dir DIR] [--files N] [--file-size SIZE] [-F PATTERN | --period N] [--by WHAT] [-d TIME] "
		"[--duty ON/PERIOD | --cost PERCENT] [--to URL|DIR] [--credentials FILE] "
		"[--ca-file FILE] [--retry TIME] [--bucket TIME] [--indicator NAME,...]... [-p PID,... | -- CMD...]\n"
		"ispot fleet collect [--db FILE | --engine URL] [--credentials FILE] "
		"[--ca-file FILE] [--retry TIME] [--bucket TIME] [--trios APP]... [--every TIME] DIR\n"
		"ispot fleet reduce [--db FILE] [--bucket TIME] [--trios APP]... FILE...\n"
		"ispot fleet push --engine URL [--credentials FILE] [--ca-file FILE] "
		"[--retry TIME] [--bucket TIME] [--trios APP]... [--indicator NAME] FILE...\n"
		"ispot fleet report [--db FILE | --engine URL] [--credentials FILE] "
		"[--ca-file FILE] [--retry TIME] [--bucket TIME] [--by-phase APP]... [--indicator NAME] [--beside NAME|FILE] [--type NAME] [--base APP] [--exclude APP]... "
		"[--class CLASS] [--min-samples N] [--alpha P] [--top N] [--json | --csv | --html FILE] [--color WHEN] [--no-pager]\n"
		"ispot fleet export -o OUT FILE...\n"
		"ispot fleet simulate -o OUT [--machines N] [--samples N] [--seed N] "
		"[--applications N] [--cpus N] [--interferers N] [--trio-interferers N] [--indicator NAME,...]",
	.examples = examples,
	.options = options,
	.choices = choices,
	.run = run_fleet,
};
