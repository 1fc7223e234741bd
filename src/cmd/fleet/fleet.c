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
	       "record: write OUT (default ispot.fleet); export: write OUT; simulate: write files "
	       "into the directory OUT"),
	OPTION('F', "function", "PATTERN", ARG_LIST, functions,
	       "record: measure how long calls of this function or marker take"),
	OPTION('p', "pid", "PID,...", ARG_STRING, pid, "record: attach to running processes"),
	OPTION('d', "duration", "TIME", ARG_TIME, duration_ns,
	       "record: stop after TIME (10, 500ms, 2m)"),
	OPTION(0, "indicator", "NAME,...", ARG_LIST, indicators,
	       "record, simulate: measure these indicators at the same times (repeatable); push: "
	       "send this indicator of a file; report: show this indicator of a database"),
	OPTION(0, "duty", "ON/PERIOD", ARG_STRING, duty,
	       "record: measure for ON of each PERIOD (1s/10s), at less overhead"),
	OPTION(0, "cost", "PERCENT", ARG_F64, cost,
	       "record: pause so that it takes at most PERCENT of the CPUs' time"),
	OPTION(0, "period", "N", ARG_ABOVE_0, period,
	       "record: without -F, take a sample every N instructions (default 2500000)"),
	OPTION(0, "dir", "DIR", ARG_STRING, dir,
	       "record: write files into DIR until stopped, and delete the oldest ones"),
	OPTION(0, "files", "N", ARG_ABOVE_0, files, "record: keep N files in DIR (default 16)"),
	OPTION(0, "file-size", "SIZE", ARG_SIZE, file_bytes,
	       "record: begin the next file at SIZE (default 16M)"),
	OPTION(0, "to", "URL|DIR", ARG_STRING, to,
	       "record: send samples to a server, as push does, or to the spool of collect"),
	OPTION(0, "every", "TIME", ARG_TIME, every_ns,
	       "collect: look again every TIME until Ctrl-C (default: once)"),
	OPTION(0, "by", "WHAT", ARG_STRING, by,
	       "record: take executable (default), cgroup, container or user as application"),
	OPTION(0, "db", "FILE", ARG_STRING, db,
	       "reduce, collect, report: use the database FILE (default fleet.db)"),
	OPTION(0, "engine", "URL", ARG_STRING, engine,
	       "push, collect, report: use the database at "
	       "clickhouse://HOST:PORT[,HOST:PORT]/DATABASE, or clickhouse+https://"),
	OPTION(0, "credentials", "FILE", ARG_STRING, credentials,
	       "push, record, collect, report: read lines user=NAME and password=WORD from FILE"),
	OPTION(0, "ca-file", "FILE", ARG_STRING, ca_file,
	       "push, record, collect, report: trust servers whose certificates FILE signs"),
	OPTION(0, "retry", "TIME", ARG_TIME, retry_ns,
	       "push, record, collect, report: retry for TIME if a server does not answer "
	       "(default 1m)"),
	OPTION(0, "machines", "N", ARG_ABOVE_0, machines, "simulate: make N machines (default 20)"),
	OPTION(0, "samples", "N", ARG_ABOVE_0, samples,
	       "simulate: make about N samples (default 2000000)"),
	OPTION(0, "seed", "N", ARG_U64, seed,
	       "simulate: start the random numbers at N (default 1)"),
	OPTION(0, "applications", "N", ARG_ABOVE_0, applications,
	       "simulate: make N applications (default 16)"),
	OPTION(0, "cpus", "N", ARG_ABOVE_0, cpus,
	       "simulate: give a machine N hardware threads (default 24)"),
	OPTION(0, "interferers", "N", ARG_U64, interferers,
	       "simulate: in N pairs, let one slow the other on a shared core (default 8)"),
	OPTION(0, "trio-interferers", "N", ARG_U64, trio_interferers,
	       "simulate: in N trios, let two together slow the third (default 0)"),
	OPTION(0, "bucket", "TIME", ARG_TIME, bucket_ns,
	       "record, reduce, push, collect: keep separate rows for each TIME (default 1h); report: "
	       "compare parts of the day of this length"),
	OPTION(0, "by-phase", "APP", ARG_LIST, by_phase,
	       "report: with --bucket, take each part of APP's day as an application"),
	OPTION(0, "trios", "APP", ARG_LIST, trios,
	       "reduce, push, collect: also keep what two co-runners together do to APP "
	       "(repeatable)"),
	OPTION(0, "beside", "NAME|FILE", ARG_STRING, beside,
	       "report: compare with another indicator of the database, or with the database FILE"),
	OPTION(0, "type", "NAME", ARG_STRING, type, "report: show only machines of this type"),
	OPTION(0, "base", "APP", ARG_STRING, base, "report: show all co-runners of APP"),
	OPTION(0, "class", "CLASS", ARG_STRING, class,
	       "report: show only cpu, core, cache, socket, other, or trio"),
	OPTION(0, "exclude", "APP", ARG_LIST, exclude,
	       "report: with --base, estimate its gain without APP (repeatable)"),
	OPTION(0, "min-samples", "N", ARG_ABOVE_0, min_samples,
	       "report: leave out pairs with fewer than N samples (default 1000)"),
	OPTION(0, "alpha", "P", ARG_F64, alpha,
	       "report: accept that a share P of the findings is wrong (default 0.05)"),
	OPTION(0, "top", "N", ARG_ABOVE_0, top, "report: show N rows (default 20)"),
	OPTION(0, "json", NULL, ARG_FLAG, json, "report: write JSON to stdout"),
	OPTION(0, "csv", NULL, ARG_FLAG, csv, "report: write every pair as CSV to stdout"),
	OPTION(0, "html", "FILE", ARG_STRING, html,
	       "report: write one HTML file, with the matrix and figures ('-' writes to stdout)"),
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
	"which applications slow which, and the gain if separated",
	"ispot fleet report --base streetview --exclude bigtable",
	"what streetview would gain if bigtable ran on another core",
	"sudo ispot fleet record -d 60 --indicator ipc,llc-misses",
	"two indicators of the same samples",
	"ispot fleet report --beside llc-misses",
	"the pairs whose effect goes with misses of the last-level cache",
	"ispot fleet report --bucket 6h",
	"at which hours of the day applications slow each other",
	"sudo ispot fleet record --to /mnt/spool -F marker:request -p 1234",
	"samples into a directory that many machines share",
	"ispot fleet collect --every 1m /mnt/spool",
	"the samples of all these machines into fleet.db",
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
	const char *name, *summary;
	fleet_verb *run;
	unsigned flags;
	const char *takes[24];
};

static const struct verb verbs[] = {
	{ "record",
	  "record samples of the applications on this machine",
	  fleet_record,
	  ARGS_STOP_AT_WORD,
	  { "output", "function", "pid", "duration", "duty", "by", "cost", "period", "dir", "files",
	    "file-size", "to", "credentials", "ca-file", "retry", "bucket", "indicator" } },
	{ "collect",
	  "add the samples in a spool to a database",
	  fleet_collect,
	  0,
	  { "db", "engine", "credentials", "ca-file", "retry", "bucket", "trios", "every" } },
	{ "reduce",
	  "add samples to a database file",
	  fleet_reduce,
	  0,
	  { "db", "bucket", "trios" } },
	{ "export", "write every sample as CSV", fleet_export, 0, { "output" } },
	{ "push",
	  "add samples to a database on servers",
	  fleet_push,
	  0,
	  { "engine", "credentials", "ca-file", "retry", "bucket", "trios", "indicator" } },
	{ "report",
	  "rank applications by how much they slow others",
	  fleet_report,
	  0,
	  { "db",     "engine", "credentials", "ca-file", "retry",   "bucket",	    "by-phase",
	    "beside", "type",	"base",	       "class",	  "exclude", "min-samples", "alpha",
	    "top",    "json",	"csv",	       "html",	  "color",   "no-pager",    "indicator" } },
	{ "simulate",
	  "make samples of a fleet that does not exist",
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

const struct command cmd_fleet;

/* Parses the options before and after the verb. Options of other verbs are refused. Returns
 * ARGS_ANSWERED without an error if it has printed the help of the verb. */
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
	if (rc == ARGS_ANSWERED && !strcmp(err->text, "--help")) {
		*err = (struct err){ 0 };
		fleet_help(&cmd_fleet, verb->name, verb->summary, own);
	} else if (rc && rc != ARGS_ANSWERED) {
		err_prefix(err, "%s", verb->name);
	}
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
	if (rc == ARGS_ANSWERED && !err->code)
		rc = 0; /* the help of the verb */
	else if (!rc)
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
