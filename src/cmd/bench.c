/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/err.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cmd/common/engine.h"
#include "probes/cost/selfcost.h"
#include "probes/cost/selfcost_once.h"
#include "probes/inject/refusal.h"
#include "probes/inject/stubcost.h"

struct bench_options {
	const char *engine;
	bool json;
	uint64_t threads;
};

static const struct option_row options[] = {
	{ 't', "threads", "N", ARG_ABOVE_0, offsetof(struct bench_options, threads),
	  "measure with N threads at once (default 1 and the number of CPUs)", NULL },
	{ 0, "engine", "ENGINE", ARG_STRING, offsetof(struct bench_options, engine),
	  "measure kernel probes (kernel, default), patched code (in-process) or both (auto)",
	  NULL },
	{ 0, "json", NULL, ARG_FLAG, offsetof(struct bench_options, json), "print JSON", NULL },
	{ 0 },
};

static const char *const examples[] = {
	"ispot bench",
	"what a traced call costs on this machine",
	"ispot bench -t 8 --json",
	"with 8 threads at once, for a script",
	"ispot bench --engine in-process",
	"what one costs that patched code times, without root",
	NULL,
};

struct costs {
	VEC(struct meta_calibration) /* of kernel probes */
	struct stubcost patched;
};

static void print_text(const struct meta_calibration *rows, size_t n, bool first)
{
	if (first)
		printf("cost of an empty traced call in ns; inner: the part inside its own duration;\n"
		       "full: the time that tracing it adds to its caller\n\n%-12s %-10s %7s %9s %9s %9s %9s\n",
		       "entry", "exit", "threads", "inner min", "inner p50", "inner p99",
		       "full p50");
	for (size_t i = 0; i < n; i++)
		printf("%-12s %-10s %7u %9lu %9lu %9lu %9.0f\n", probe_class_name(rows[i].class),
		       rows[i].only_jumps ? "jumps" : exit_mech_name(rows[i].exit), rows[i].threads,
		       (unsigned long)rows[i].inner_min_ns, (unsigned long)rows[i].inner_p50_ns,
		       (unsigned long)rows[i].inner_p99_ns, rows[i].full_p50_ns);
	fflush(stdout);
}

static void print_patched(const struct costs *costs)
{
	const struct meta_calibration *c = &costs->patched.call;

	if (!costs->n)
		print_text(NULL, 0, true);
	printf("%-12s %-10s %7u %9lu %9lu %9lu %9.0f\n", "in-process", "patched", c->threads,
	       (unsigned long)c->inner_min_ns, (unsigned long)c->inner_p50_ns,
	       (unsigned long)c->inner_p99_ns, c->full_p50_ns);
	printf("\nin process, a call that -c leaves out costs %.1f ns\n", costs->patched.passed_ns);
	if (costs->patched.values_ns > 0)
		printf("in process, a call whose arguments are recorded costs %.1f ns more\n",
		       costs->patched.values_ns);
}

/* Measures the costs. Text is printed as soon as a row is measured. */
static int measure(const struct bench_options *o, uint32_t threads, struct costs *costs,
		   struct err *err)
{
	struct meta_calibration rows[SELFCOST_ROWS_MAX];
	size_t n;
	int ret = selfcost_once(threads, rows, &n, err);

	if (ret)
		return ret;
	if (!o->json)
		print_text(rows, n, !costs->n);
	for (size_t i = 0; i < n; i++)
		*vec_add(costs) = rows[i];
	return 0;
}

/* Makes the row's JSON. Code in the process is no probe, so it has no class. */
static struct json *json_of(const struct meta_calibration *c, bool in_process)
{
	struct json *row = json_new_object();

	json_set_string(row, "engine", in_process ? "in-process" : "kernel");
	json_set_string(row, "class", in_process ? NULL : probe_class_name(c->class));
	json_set_string(row, "exit", exit_mech_name(c->exit));
	json_set_bool(row, "only_jumps", c->only_jumps);
	json_set_u64(row, "threads", c->threads);
	json_set_u64(row, "inner_min_ns", c->inner_min_ns);
	json_set_u64(row, "inner_p50_ns", c->inner_p50_ns);
	json_set_u64(row, "inner_p99_ns", c->inner_p99_ns);
	json_set_f64(row, "inner_mean_ns", c->inner_mean_ns);
	json_set_f64(row, "full_p50_ns", c->full_p50_ns);
	json_set_u64(row, "calls", c->calls);
	return row;
}

static void print_json(const struct costs *costs)
{
	struct json *all = json_new_array(), *patched;
	struct text out = { 0 };

	vec_for_each (costs, const struct meta_calibration, c)
		json_add_take(all, json_of(c, false));
	if (costs->patched.call.calls) {
		patched = json_of(&costs->patched.call, true);
		json_set_f64(patched, "passed_ns", costs->patched.passed_ns);
		json_set_f64(patched, "values_ns", costs->patched.values_ns);
		json_add_take(all, patched);
	}
	json_print(all, &out, true);
	puts(out.s);
	text_release(&out);
	json_free(all);
}

static int one_word_too_many(const char *word, struct err *err)
{
	return args_refuse(err, "'%s' is one word too many; ispot bench takes options only", word);
}

static int measure_kernel(const struct bench_options *o, struct costs *costs, struct err *err)
{
	struct cpus cpus;
	int ret = cpus_read(&cpus);

	if (ret)
		return err_set(err, ret, "cannot read the list of CPUs: %s; mount /sys",
			       strerror(-ret));
	ret = measure(o, o->threads ? o->threads : 1, costs, err);
	if (!ret && !o->threads && cpus.n > 1)
		ret = measure(o, cpus.n, costs, err);
	if (ret != -EINTR || !costs->n)
		return ret;
	log_notice("interrupted: %u threads at once were not measured", cpus.n);
	*err = (struct err){ 0 };
	return 0;
}

/* Measures one thread only: what threads write in process, they do not share. */
static int measure_in_process(struct costs *costs, struct err *err)
{
	int ret = refusal_of_machine(err);

	if (ret)
		return ret;
	ret = stubcost_measure(&costs->patched);
	return ret ? err_set(err, ret,
			     "ispot may have no code that it writes (%s), so it cannot measure that; "
			     "give --engine kernel",
			     strerror(-ret))
		   : 0;
}

/* Reports why nothing is measured in process. That is no error, because the kernel's probes were
 * measured, too. */
static void leave_in_process(const struct err *why)
{
	log_notice("in process nothing is measured: %.*s",
		   (int)(why->hint ? why->hint - 2 : strlen(why->text)), why->text);
}

static int measure_all(const struct bench_options *o, enum engine engine, struct costs *costs,
		       struct err *err)
{
	struct err why = { 0 };
	int ret = 0;

	if (engine != ENGINE_IN_PROCESS) {
		interrupt_begin();
		ret = measure_kernel(o, costs, err);
		interrupt_end();
	}
	if (ret || engine == ENGINE_KERNEL)
		return ret;
	ret = measure_in_process(costs, &why);
	if (ret && engine == ENGINE_IN_PROCESS)
		return err_take(err, &why);
	if (ret)
		leave_in_process(&why);
	else if (!o->json)
		print_patched(costs);
	return 0;
}

static int run_bench(int argc, char **argv, struct err *err)
{
	struct bench_options o = { 0 };
	struct costs costs = { 0 };
	enum engine engine;
	int first, ret;

	ret = args_parse(options, &o, 0, argc, argv, &first, err);
	if (!ret && first < argc)
		ret = one_word_too_many(argv[first], err);
	if (!ret)
		ret = engine_parse(o.engine, &engine, err);
	if (!ret && o.threads && engine == ENGINE_IN_PROCESS)
		ret = args_refuse(err,
				  "-t is for kernel probes, whose costs add up; in process one "
				  "thread is measured: leave -t out");
	if (!ret)
		ret = measure_all(&o, engine, &costs, err);
	if (!ret && o.json)
		print_json(&costs);
	vec_release(&costs);
	return ret;
}

static const struct option_choices choices[] = {
	{ "engine", "kernel in-process auto" },
	{ 0 },
};

const struct command cmd_bench = {
	.name = "bench",
	.summary = "measure the cost of a traced call on this machine",
	.usage = "ispot bench [-t N] [--engine ENGINE] [--json]",
	.examples = examples,
	.options = options,
	.choices = choices,
	.needs = CMD_NEEDS_ROOT,
	.run = run_bench,
};
