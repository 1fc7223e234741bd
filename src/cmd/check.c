/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/cause/kind.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cmd/common/engine.h"
#include "probes/inject/beside.h"
#include "probes/inject/record.h"
#include "probes/inject/refusal.h"
#include "probes/inject/stubcost.h"
#include "probes/inject/targets.h"
#include "probes/inspect/inprocess.h"
#include "probes/inspect/inspect.h"
#include "probes/inspect/perf_script.h"
#include "probes/place/function.h"
#include "probes/recording/options.h"
#include "probes/select/blocking.h"
#include "probes/select/pattern.h"
#include "probes/session/beside.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/symbols.h"

#define COLUMNS	 80
#define PROBE_AT 46 /* the column where the probe begins */

struct check_options {
	struct arg_list patterns;
	const char *pid, *engine;
	bool json, stats, perf_script;
};

static const struct option_row options[] = {
	{ 'F', "function", "PATTERN", ARG_LIST, offsetof(struct check_options, patterns),
	  "select functions that match [object:]name (repeatable)", NULL },
	{ 'p', "pid", "PID", ARG_STRING, offsetof(struct check_options, pid),
	  "look at a running process", NULL },
	{ 0, "engine", "ENGINE", ARG_STRING, offsetof(struct check_options, engine),
	  "show what record --engine would do: auto, kernel or in-process", NULL },
	{ 0, "stats", NULL, ARG_FLAG, offsetof(struct check_options, stats),
	  "count the functions of each object that are cheap to probe", NULL },
	{ 0, "perf-script", NULL, ARG_FLAG, offsetof(struct check_options, perf_script),
	  "print a script that records with perf where there is no ispot", NULL },
	{ 0, "json", NULL, ARG_FLAG, offsetof(struct check_options, json), "print JSON", NULL },
	{ 0 },
};

static const char *const examples[] = {
	"ispot check -F 'cache_*' ./app",
	"what tracing these functions would take",
	"sudo ispot check -F pthread_mutex_lock -p 1234",
	"in a running process, with the cost of a call",
	"ispot check --stats ./app",
	"how much of app and its libraries is cheap to trace",
	"ispot check --json -F '*' ./app | jq '.functions[] | select(.possible | not)'",
	"what cannot be traced, and why",
	"ispot check --perf-script -F 'cache_*' ./app >record.sh",
	"to record with perf on a machine without ispot",
	"sudo ispot check --engine auto -F '*' ./app",
	"which functions would be patched, and which get kernel probes",
	NULL,
};

/* What is shown. */
struct checked {
	struct inspection in;
	enum engine engine;
	bool is_asked;	       /* the user chose the engine */
	bool names_engine;     /* the last column is the engine */
	struct err no_patches; /* why no function can be patched; code 0: functions can be */
	double in_process_ns;  /* cost of a call; NAN: unknown */
};

/* ---- which engine ---- */

static const char *not_in_process(const struct inspection *in, const struct planned *p)
{
	size_t n_exits;

	if (p->what.marker)
		return "is a marker, which kernel probes trace";
	return inprocess_refusal(in->inprocess, p->what.dso, p->what.function, &n_exits);
}

/* Returns why the function cannot be patched, or NULL if the in-process engine would patch it. */
static const char *not_patched(const struct checked *c, const struct planned *p)
{
	const char *why = c->no_patches.code ? c->no_patches.text : not_in_process(&c->in, p);
	struct inprocess *in_process = c->in.inprocess;

	if (!why && !inject_beside_records_arguments(
			    p, inprocess_plan(in_process, p->what.dso, p->what.function)))
		why = INJECT_ARGUMENTS_GONE;
	return why;
}

/* Returns the engine that would time the function's calls, or NULL if none can. */
static const char *engine_of(const struct checked *c, const struct planned *p)
{
	const char *kernel = p->possible ? "kernel" : NULL;
	bool is_patched;

	if (c->engine == ENGINE_KERNEL)
		return kernel;
	is_patched = !not_patched(c, p);
	if (c->engine == ENGINE_AUTO && is_patched)
		is_patched = !inject_beside_is_for_kernel(p);
	if (is_patched)
		return "in-process";
	return c->engine == ENGINE_AUTO ? kernel : NULL;
}

static double cost_ns(const struct checked *c, const struct planned *p)
{
	const char *engine = engine_of(c, p);

	return engine && !strcmp(engine, "in-process") ? c->in_process_ns
						       : inspection_cost_ns(&c->in, p);
}

static const char *why_not(const struct checked *c, const struct planned *p)
{
	return c->engine == ENGINE_IN_PROCESS ? not_patched(c, p) : p->reason;
}

/* ---- text ---- */

/* Returns the name of the file. It comes from the target, so control characters are removed. */
static const char *base_name(const struct dso *dso)
{
	static char name[512]; /* until the next call */

	return text_printable(name, sizeof(name), text_base_name(dso_path(dso)));
}

static void print_name(struct dso *dso, const struct dso_function *f)
{
	char name[512];

	fputs(text_printable(name, sizeof(name), dso_function_name(dso, f)), stdout);
}

static void print_remark(const char *what)
{
	printf("%12s%s\n", "", what);
}

static void print_exits(const struct planned *p)
{
	const struct placement *place = &p->place;

	if (p->exit.mech == EXIT_RET_SITES)
		printf("%12s%u exit%s probed: %s\n", "", place->n_ret_sites,
		       place->n_ret_sites == 1 ? "" : "s", p->exit.reason);
	else if (*p->exit.reason)
		print_remark(p->exit.reason);
	if (p->exit.mech == EXIT_NONE && !place->ret_sites_complete)
		print_remark(place->ret_sites_reason);
}

static void print_waits(const char *symbol)
{
	const char *kind = blocking_kind(symbol);
	const struct cause_kind *cause = kind ? cause_kind_find(kind) : NULL;

	if (kind && blocking_by_descriptor(symbol))
		print_remark("can block: on the file, pipe or socket that it is given");
	else if (kind)
		printf("%12scan block: %s\n", "", cause && cause->name ? cause->name : kind);
}

static void print_remarks_on_probes(const struct inspection *in, const struct planned *p)
{
	const struct placement *place = &p->place;
	const char *refusal = not_in_process(in, p);

	if (refusal)
		printf("%12snot in process: %s\n", "", refusal);
	print_exits(p);
	if (place->moved_past_load)
		print_remark(
			"the probe is behind a load or store: a cache miss there is not timed");
	if (p->exit.mech == EXIT_RETURN && place->return_class != place->class)
		printf("%12sreturn probe: %s\n", "", probe_class_name(place->return_class));
}

/* "f+0x4 (libf.so)", or "f (libf.so)" if the function has no probe */
static void add_probe(const struct planned *p, bool is_patched, struct text *out)
{
	char name[512];

	text_add(out, text_printable(name, sizeof(name),
				     dso_function_name(p->what.dso, p->what.function)));
	if (!is_patched)
		text_printf(out, "+0x%x", p->place.entry_offset);
	text_printf(out, " (%s)", base_name(p->what.dso));
}

/* Returns the last column: which engine times the function or, if kernel probes time all, whether
 * the function can be patched. */
static const char *engine_column(const struct checked *c, const struct planned *p)
{
	if (c->names_engine)
		return engine_of(c, p);
	return not_in_process(&c->in, p) ? "no" : "yes";
}

static void print_planned(const struct checked *c, const struct planned *p)
{
	const char *engine = engine_of(c, p);
	const bool is_patched = engine && !strcmp(engine, "in-process");
	double ns = cost_ns(c, p);
	char cost[TEXT_NUMBER] = "n/a";
	struct text probe = { 0 };
	bool fits;

	if (!isnan(ns))
		text_time(cost, (uint64_t)ns);
	add_probe(p, is_patched, &probe);
	fits = table_columns(probe.s) <= COLUMNS - PROBE_AT;
	printf("%9s  %-11s %-9s ", cost, is_patched ? "patched" : probe_class_name(p->place.class),
	       is_patched ? "patched" : exit_mech_name(p->exit.mech));
	if (fits)
		printf("%-10s %s\n", engine_column(c, p), probe.s);
	else
		printf("%s\n            %s\n", engine_column(c, p), probe.s);
	text_release(&probe);
	if (p->wrong_arguments.code)
		print_remark(p->wrong_arguments.text);
	if (!is_patched)
		print_remarks_on_probes(&c->in, p);
	print_waits(p->what.function->symbol);
}

static size_t count_possible(const struct checked *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->in.plan.n; i++)
		n += engine_of(c, c->in.plan.data[i]) != NULL;
	return n;
}

static void print_left_out(const struct checked *c)
{
	const struct inspection *in = &c->in;

	if (count_possible(c) < in->plan.n || in->selection.left_out.n)
		printf("\nCannot be traced:\n");
	for (size_t i = 0; i < in->plan.n; i++) {
		const struct planned *p = in->plan.data[i];

		if (engine_of(c, p))
			continue;
		printf("  ");
		print_name(p->what.dso, p->what.function);
		printf(" (%s): %s\n", base_name(p->what.dso), why_not(c, p));
	}
	for (size_t i = 0; i < in->selection.left_out.n; i++) {
		const struct unselected *u = &in->selection.left_out.data[i];
		char name[512], object[512];

		printf("  %s (%s): %s\n", text_printable(name, sizeof(name), u->name),
		       text_printable(object, sizeof(object), u->object), u->reason);
	}
}

static void print_heading(const struct checked *c)
{
	const struct inspection *in = &c->in;
	const struct dso *program = in->objects.data[0];

	printf("%s and %zu libraries, kernel %u.%u", base_name(program), in->objects.n - 1,
	       in->kernel_version >> 16, in->kernel_version >> 8 & 255);
	if (patterns_n(in->patterns))
		printf(": %zu function%s -F, %zu can be traced", in->plan.n,
		       in->plan.n == 1 ? " matches" : "s match", count_possible(c));
	printf("\n");
}

static void print_traits(const struct target_traits *t)
{
	const struct {
		bool holds;
		const char *what;
	} rows[] = {
		{ t->unwinds, "throws exceptions or panics" },
		{ t->cancels, "cancels threads" },
		{ t->thread_exits, "ends threads with pthread_exit" },
		{ t->coroutines, "switches coroutines" },
		{ t->altstack, "handles signals on alternate stacks" },
		{ t->jvm, "runs a Java machine" },
	};
	const char *before = "Return probes are not safe in this program, because it\n  ";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].holds)
			continue;
		printf("%s%s", before, rows[i].what);
		before = ", ";
	}
	if (*before == ',')
		printf("\n");
}

static void print_in_process_of(const struct inspection *in, const struct dso *dso)
{
	size_t n = 0, possible = 0;

	for (size_t i = 0; i < in->plan.n; i++) {
		const struct planned *p = in->plan.data[i];

		n += p->what.dso == dso;
		possible += p->what.dso == dso && !not_in_process(in, p);
	}
	if (n)
		printf("  %zu of the %zu that match in %s\n", possible, n, base_name(dso));
}

static void print_in_process(const struct inspection *in)
{
	if (!in->plan.n)
		return;
	printf("\n--engine in-process, which patches jumps into the program, could trace:\n");
	vec_for_each (&in->objects, struct dso *, dso)
		print_in_process_of(in, *dso);
}

static bool is_kernels(const struct checked *c, const struct planned *p)
{
	const char *engine = engine_of(c, p);

	return engine && !strcmp(engine, "kernel");
}

static bool any_return(const struct checked *c)
{
	const struct inspection *in = &c->in;

	for (size_t i = 0; i < in->plan.n; i++)
		if (in->plan.data[i]->exit.mech == EXIT_RETURN && is_kernels(c, in->plan.data[i]))
			return true;
	return false;
}

static void print_notices(const struct checked *c)
{
	const struct inspection *in = &c->in;

	if (in->notices.n)
		printf("\nWarnings:\n");
	vec_for_each (&in->notices, char *, notice) {
		char *printable = text_printable_new(*notice);

		printf("  %s\n", printable);
		free(printable);
	}
	if (any_return(c))
		printf("\nA function that reads its own return address finds the kernel's there if its\n"
		       "EXIT is return. ispot cannot detect such functions: exclude them (-F '!name').\n");
	if (!patterns_n(in->patterns))
		printf("\nWithout -F, `ispot record` chooses the functions. Give some (-F PATTERN) to see\n"
		       "what tracing them would cost.\n");
}

/* Explains the words of the table. */
static void print_legend(const struct checked *c)
{
	struct text out = { 0 };

	text_wrap(
		"COST/CALL: what tracing adds to a call (n/a: unknown; root measures it). PROBE: the "
		"probed instruction; nop5 and emulated are cheap, single-step costs several times "
		"as much. EXIT: seen by a return probe (return), by probes on each exit "
		"(ret-sites, single-stepped), or not (none: calls are counted, not timed).",
		COLUMNS, &out);
	text_wrap(
		c->names_engine
			? "ENGINE: times the calls, by kernel probes or in process."
			: "IN PROCESS: whether record --engine in-process could trace it for less.",
		COLUMNS, &out);
	fputs(out.s, stdout);
	text_release(&out);
}

static void print_text(const struct checked *c)
{
	const struct inspection *in = &c->in;

	print_heading(c);
	print_traits(&in->traits);
	if (count_possible(c))
		printf("\n%9s  %-11s %-9s %-10s %s\n", "COST/CALL", "PROBE", "EXIT",
		       c->names_engine ? "ENGINE" : "IN PROCESS", "FUNCTION (OBJECT)");
	for (size_t i = 0; i < in->plan.n; i++)
		if (engine_of(c, in->plan.data[i]))
			print_planned(c, in->plan.data[i]);
	if (count_possible(c))
		print_legend(c);
	print_left_out(c);
	print_in_process(in);
	print_notices(c);
}

/* ---- JSON ---- */

static struct json *json_probe(const struct planned *p)
{
	const struct placement *place = &p->place;
	struct json *o = json_new_object(), *sites = json_new_array();

	json_set_u64(o, "offset", place->entry_offset);
	json_set_u64(o, "file_offset", p->what.function->file_offset + place->entry_offset);
	json_set_string(o, "class", probe_class_name(place->class));
	json_set_string(o, "exit", exit_mech_name(p->exit.mech));
	json_set_string(o, "exit_reason", p->exit.reason);
	json_set_bool(o, "moved_past_load", place->moved_past_load);
	json_set_bool(o, "reenters", place->reenters);
	json_set_bool(o, "exits_complete", place->ret_sites_complete);
	json_set_string(o, "exits_reason",
			place->ret_sites_complete ? NULL : place->ret_sites_reason);
	for (uint32_t i = 0; i < place->n_ret_sites; i++)
		json_add_u64(sites, p->what.function->file_offset + (uint64_t)place->ret_sites[i]);
	json_set_take(o, "exits", sites);
	return o;
}

static struct json *json_planned(const struct checked *c, const struct planned *p)
{
	const struct inspection *in = &c->in;
	const struct dso_function *f = p->what.function;
	struct dso_line line = dso_line_at(p->what.dso, f->address);
	struct json *o = json_new_object();
	const char *refusal = not_in_process(in, p);
	char file_line[4200];

	snprintf(file_line, sizeof(file_line), "%s:%u", line.file, line.line);
	json_set_string(o, "name", dso_function_name(p->what.dso, f));
	json_set_string(o, "symbol", f->symbol);
	json_set_string(o, "object", dso_path(p->what.dso));
	json_set_string(o, "build_id", dso_build_id(p->what.dso));
	json_set_string(o, "file_line", *line.file ? file_line : NULL);
	json_set_string(o, "pattern", p->what.pattern);
	json_set_string(o, "waits", blocking_kind(f->symbol));
	json_set_bool(o, "possible", p->possible);
	json_set_string(o, "reason", p->possible ? NULL : p->reason);
	if (p->possible)
		json_set_take(o, "probe", json_probe(p));
	else
		json_set_null(o, "probe");
	json_set_string(o, "engine", engine_of(c, p));
	json_set_f64(o, "cost_ns", cost_ns(c, p)); /* NAN is null */
	json_set_bool(o, "in_process", !refusal);
	json_set_string(o, "in_process_reason", refusal);
	return o;
}

static struct json *json_traits(const struct target_traits *t)
{
	struct json *o = json_new_object();

	json_set_bool(o, "unwinds", t->unwinds);
	json_set_bool(o, "cancels", t->cancels);
	json_set_bool(o, "thread_exits", t->thread_exits);
	json_set_bool(o, "coroutines", t->coroutines);
	json_set_bool(o, "altstack", t->altstack);
	json_set_bool(o, "go", t->go);
	json_set_bool(o, "jvm", t->jvm);
	json_set_bool(o, "seccomp", t->seccomp);
	return o;
}

static struct json *json_left_out(const struct selection *s)
{
	struct json *all = json_new_array();

	for (size_t i = 0; i < s->left_out.n; i++) {
		struct json *o = json_new_object();

		json_set_string(o, "name", s->left_out.data[i].name);
		json_set_string(o, "object", s->left_out.data[i].object);
		json_set_string(o, "reason", s->left_out.data[i].reason);
		json_add_take(all, o);
	}
	return all;
}

static void print_tree(struct json *o)
{
	struct text out = { 0 };

	json_print(o, &out, true);
	puts(out.s);
	text_release(&out);
	json_free(o);
}

static void print_json(const struct checked *c)
{
	const struct inspection *in = &c->in;
	struct json *o = json_new_object(), *functions = json_new_array(),
		    *notices = json_new_array();
	char kernel[32];

	snprintf(kernel, sizeof(kernel), "%u.%u.%u", in->kernel_version >> 16,
		 in->kernel_version >> 8 & 255, in->kernel_version & 255);
	json_set_u64(o, "version", 1);
	json_set_string(o, "program", dso_path(in->objects.data[0]));
	json_set_u64(o, "libraries", in->objects.n - 1);
	json_set_string(o, "kernel", kernel);
	json_set_take(o, "traits", json_traits(&in->traits));
	for (size_t i = 0; i < in->plan.n; i++)
		json_add_take(functions, json_planned(c, in->plan.data[i]));
	json_set_take(o, "functions", functions);
	json_set_take(o, "left_out", json_left_out(&in->selection));
	vec_for_each (&in->notices, char *, notice)
		json_add_string(notices, *notice);
	json_set_take(o, "notices", notices);
	print_tree(o);
}

/* ---- statistics ---- */

struct tally {
	size_t n, naive_cheap, cheap, nop5, stepped, impossible, exits_known;
};

static struct tally tally_object(struct dso *dso, unsigned kernel_version)
{
	const struct dso_function *functions;
	size_t n = dso_functions(dso, &functions);
	struct tally t = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct dso_function *f = &functions[i];
		struct placement p;

		if (f->ifunc || (i && f->address == f[-1].address) || strstr(f->symbol, ".cold"))
			continue;
		placement_of_function(dso, f, 0, kernel_version, &p);
		t.n++;
		t.naive_cheap += p.naive_class <= CLASS_EMULATED;
		t.cheap += p.possible && p.class <= CLASS_EMULATED;
		t.nop5 += p.possible && p.class == CLASS_NOP5;
		t.stepped += p.possible && p.class == CLASS_SINGLE_STEP;
		t.impossible += !p.possible;
		t.exits_known += p.possible && p.ret_sites_complete;
	}
	return t;
}

static void print_stats_row(const struct inspection *in, struct dso *dso)
{
	struct tally t = tally_object(dso, in->kernel_version);
	double percent = t.n ? 100.0 / (double)t.n : NAN;
	struct inprocess_tally patched;

	inprocess_tally(in->inprocess, dso, &patched);
	if (t.n)
		printf("%9zu %5.1f%% %5.1f%% %6.1f%% %5.1f%% %5.1f%% %9.1f%%  %s\n", t.n,
		       percent * (double)t.cheap, percent * (double)t.naive_cheap,
		       percent * (double)t.stepped, percent * (double)t.impossible,
		       percent * (double)t.exits_known, percent * (double)patched.possible,
		       base_name(dso));
	else
		printf("%9zu %6s %6s %7s %6s %6s %10s  %s\n", t.n, "n/a", "n/a", "n/a", "n/a",
		       "n/a", "n/a", base_name(dso));
	inprocess_tally_release(&patched);
}

/* The most frequent reasons are shown; the others are rare. */
#define REASONS_SHOWN 5

static void print_reasons(const struct inspection *in, struct dso *dso)
{
	struct inprocess_tally t;

	inprocess_tally(in->inprocess, dso, &t);
	for (size_t i = 0; i < t.reasons.n && i < REASONS_SHOWN; i++)
		printf("%10zu  %s: %s\n", t.reasons.data[i].n, base_name(dso),
		       t.reasons.data[i].text);
	if (t.reasons.n > REASONS_SHOWN) {
		size_t n = 0;

		for (size_t i = REASONS_SHOWN; i < t.reasons.n; i++)
			n += t.reasons.data[i].n;
		printf("%10zu  %s: other reasons (--json has them)\n", n, base_name(dso));
	}
	inprocess_tally_release(&t);
}

static void print_stats_text(const struct inspection *in)
{
	printf("%9s %6s %6s %7s %6s %6s %10s  %s\n", "FUNCTIONS", "CHEAP", "AT +0", "STEPPED",
	       "NONE", "EXITS", "IN PROCESS", "OBJECT");
	vec_for_each (&in->objects, struct dso *, dso)
		print_stats_row(in, *dso);
	printf("CHEAP: the kernel emulates the probed instruction, or it is a nop; AT +0: if the\n"
	       "probe were at the first instruction. STEPPED: the kernel single-steps it, which\n"
	       "costs several times as much. NONE: no probe is possible. EXITS: all are known, so\n"
	       "probes on them can replace a return probe. IN PROCESS: --engine in-process can\n"
	       "trace it: jumps fit at the entry and at all exits.\n"
	       "\nNot in process, because the function\n");
	vec_for_each (&in->objects, struct dso *, dso)
		print_reasons(in, *dso);
}

static void json_in_process(const struct inspection *in, struct dso *dso, struct json *row)
{
	struct json *reasons = json_new_array();
	struct inprocess_tally t;

	inprocess_tally(in->inprocess, dso, &t);
	vec_for_each (&t.reasons, struct inprocess_reason, r) {
		struct json *o = json_new_object();

		json_set_string(o, "reason", r->text);
		json_set_u64(o, "functions", r->n);
		json_add_take(reasons, o);
	}
	json_set_u64(row, "in_process", t.possible);
	json_set_take(row, "not_in_process", reasons);
	inprocess_tally_release(&t);
}

static void print_stats_json(const struct inspection *in)
{
	struct json *o = json_new_object(), *all = json_new_array();

	vec_for_each (&in->objects, struct dso *, dso) {
		struct tally t = tally_object(*dso, in->kernel_version);
		struct json *row = json_new_object();

		json_set_string(row, "object", dso_path(*dso));
		json_set_u64(row, "functions", t.n);
		json_set_u64(row, "nop5", t.nop5);
		json_set_u64(row, "cheap", t.cheap);
		json_set_u64(row, "cheap_at_0", t.naive_cheap);
		json_set_u64(row, "single_step", t.stepped);
		json_set_u64(row, "impossible", t.impossible);
		json_set_u64(row, "exits_known", t.exits_known);
		json_in_process(in, *dso, row);
		json_add_take(all, row);
	}
	json_set_u64(o, "version", 1);
	json_set_take(o, "objects", all);
	print_tree(o);
}

/* ---- the command ---- */

static int parse_target(const struct check_options *o, char **words, struct inspect_options *io,
			struct err *err)
{
	uint64_t pid;

	if (!o->pid && !*words)
		return args_refuse(err,
				   "nothing to look at; give a command, or a process with -p PID");
	if (o->pid && *words)
		return args_refuse(err, "both a command and -p; give one of them");
	if (o->stats && o->patterns.n)
		return args_refuse(err, "--stats is about whole objects; give it without -F");
	if (o->engine && (o->perf_script || o->stats))
		return args_refuse(err, "%s",
				   o->stats ? "--stats is about both engines; leave out "
					      "--engine"
					    : "--perf-script makes kernel probes; leave "
					      "out --engine");
	if (o->perf_script && (o->stats || o->json || !o->patterns.n))
		return args_refuse(
			err, "--perf-script is of functions; name them with -F, and leave out "
			     "--json and --stats");
	if (!o->pid) {
		io->argv = words;
		return 0;
	}
	if (text_parse_u64(o->pid, &pid) || !pid || pid > 1u << 30)
		return args_refuse(err, "'%s' is not a process id; give a number: -p 1234", o->pid);
	io->pid = (pid_t)pid;
	return 0;
}

static void print(const struct check_options *o, const struct checked *c, char *const *words)
{
	const struct inspection *in = &c->in;
	struct text script = { 0 };

	if (o->perf_script) {
		perf_script_print(in, o->pid ? NULL : words, o->pid ? atol(o->pid) : 0, &script);
		fputs(script.s, stdout);
		text_release(&script);
	} else if (o->stats)
		(o->json ? print_stats_json : print_stats_text)(in);
	else
		(o->json ? print_json : print_text)(c);
}

/* Asks what `ispot record` asks before it patches anything. */
static void find_refusal(const struct inspect_options *io, struct err *why)
{
	const struct session_options r = { .argv = io->argv,
					   .pids = &io->pid,
					   .n_pids = io->argv ? 0 : 1 };
	struct inject_targets targets = { 0 };
	size_t n_programs;

	if (refusal_of_machine(why))
		return;
	inject_targets_find_objects(&targets, &r, &n_programs, why);
	inject_targets_release(&targets);
}

static int prepare_engine(struct checked *c, const struct inspect_options *io, struct err *err)
{
	struct stubcost cost;
	char words[sizeof(c->no_patches.text) + 64];

	c->in_process_ns = NAN;
	if (c->engine == ENGINE_KERNEL)
		return 0;
	find_refusal(io, &c->no_patches);
	if (c->no_patches.code && c->engine == ENGINE_IN_PROCESS && c->is_asked) {
		*err = c->no_patches;
		return err->code;
	}
	if (c->no_patches.code == -EACCES && !c->is_asked)
		c->names_engine = false; /* a library, which nothing runs */
	else if (c->no_patches.code) {
		session_beside_refusal(&c->no_patches, words, sizeof(words));
		*vec_add(&c->in.notices) = xstrdup(words);
	} else if (!stubcost_measure(&cost))
		c->in_process_ns = cost.call.full_p50_ns;
	if (c->no_patches.code && c->engine == ENGINE_IN_PROCESS)
		c->engine = ENGINE_KERNEL; /* what root would use */
	return 0;
}

/* Without the option that is the engine of ispot record, which times commands by both for root, and
 * everything in process for those who may not set kernel probes. */
static int choose_engine(const struct check_options *o, struct checked *c, struct err *err)
{
	const bool is_all = o->perf_script || o->stats;
	int ret = engine_parse(o->engine, &c->engine, err);

	if (!ret && !o->engine && !is_all && !o->pid && !geteuid())
		c->engine = ENGINE_AUTO;
	if (!ret && !is_all && (!o->engine || c->engine == ENGINE_AUTO) && engine_is_in_process())
		c->engine = ENGINE_IN_PROCESS;
	c->is_asked = o->engine;
	c->names_engine = o->engine || c->engine != ENGINE_KERNEL;
	return ret;
}

static int run_check(int argc, char **argv, struct err *err)
{
	struct check_options o = { 0 };
	struct inspect_options io = { 0 };
	struct checked c = { 0 };
	int first, ret;

	ret = args_parse(options, &o, ARGS_STOP_AT_WORD, argc, argv, &first, err);
	if (!ret)
		ret = parse_target(&o, argv + first, &io, err);
	if (!ret)
		ret = choose_engine(&o, &c, err);
	if (!ret) {
		io.patterns = o.patterns.data;
		io.n_patterns = o.patterns.n;
		io.measure = true;
		ret = inspect(&c.in, &io, err);
		if (!ret)
			ret = prepare_engine(&c, &io, err);
		if (!ret)
			print(&o, &c, argv + first);
		inspection_release(&c.in);
	}
	vec_release(&o.patterns);
	return ret;
}

static const struct option_choices choices[] = {
	{ "engine", "kernel in-process auto" },
	{ 0 },
};

const struct command cmd_check = {
	.name = "check",
	.summary = "show what would be traced, at what overhead, and what prevents it",
	.usage = "ispot check [-F PATTERN]... [--engine ENGINE] [--stats] [--perf-script]\n"
		 "            [--json] (CMD | -p PID)",
	.examples = examples,
	.options = options,
	.choices = choices,
	.needs = 0,
	.run = run_check,
};
