// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/record.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/drain/addresses.h"
#include "probes/drain/stacks.h"
#include "probes/inject/budget.h"
#include "probes/inject/ownswitches.h"
#include "probes/inject/processes.h"
#include "probes/inject/refusal.h"
#include "probes/inject/ringbytes.h"
#include "probes/inject/stubcost.h"
#include "probes/inject/targets.h"
#include "probes/inject/tracee.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/lines.h"
#include "probes/inproc/records.h"
#include "probes/java/switches.h"
#include "probes/process/ending.h"
#include "probes/process/spaces.h"
#include "probes/process/target.h"
#include "probes/recording/addresses.h"
#include "probes/recording/options.h"
#include "probes/recording/stacks.h"
#include "probes/select/arguments.h"
#include "symbol/dso/dso.h"
#include "symbol/package.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"
#include "trace/write/writer.h"

#define MAPPED_NS 500000000ull /* between two looks at what processes have mapped */
#define FLUSH_NS  100000000ull /* longest time whose records are lost if ispot is killed */

struct recording {
	const struct session_options *o;
	struct trace_writer *writer;
	struct inproc_drain drain;
	struct spaces spaces;	      /* for addresses */
	struct drain_addresses given; /* arguments that are addresses */
	struct recorded_addresses addresses;
	struct drain_stacks sites; /* call sites */
	struct recorded_stacks stacks;
	uint64_t mapped_ns; /* when what processes have mapped was read last */
	struct java_switches switches;
	struct err no_switches; /* why they are not recorded; code 0: they are */
	struct ownswitches own; /* without them: switches of the processes' own threads */
	struct err no_own;
	struct stubcost cost;
	struct inject_targets targets;
	struct budget budget;
	struct ring_bytes ring;
	bool *given_up; /* functions that are being removed */
	struct processes processes;
	struct launch launch;
	struct launch_inherit inherit;
	struct ending ending;
	sigset_t ends; /* signals that end a recording */
	uint32_t period;
	uint64_t start_ns, end_ns, flushed_ns;
	const char *reason;
};

/* ---- lines ---- */

static void write_clocks(struct recording *r)
{
	struct clock_pair now = clock_pair_now();
	struct meta_clocks m = {
		.at_ns = now.ns, .cycles = now.cycles, .width_ns = now.width_ns, .unstable = ""
	};
	struct text line = { 0 };

	meta_print_clocks(&m, &line);
	inproc_write_line(r->writer, &line);
}

static void write_session(struct recording *r)
{
	inproc_write_session(
		r->writer,
		&(struct meta_session){
			.ispot_version = r->o->version,
			.command = r->o->command,
			.program = r->targets.program ? r->targets.program : "",
			.pid = r->o->n_pids ? (uint64_t)r->o->pids[0] : (uint64_t)r->launch.pid,
			.start_ns = r->start_ns,
			.period = r->period,
			.producer = "in-process",
			.attached = r->o->n_pids > 0,
			.options = r->o->options,
		});
	write_clocks(r);
}

static void write_cost(struct recording *r)
{
	struct text line = { 0 };

	if (stubcost_measure(&r->cost))
		return;
	meta_print_calibration(&r->cost.call, &line);
	inproc_write_line(r->writer, &line);
}

/* Writes in one line what the same command would record as root. */
static void write_without_root(const struct recording *r, struct text *words)
{
	char functions[TEXT_COUNTED];
	const size_t left = r->targets.is_chosen ? 0 : r->targets.left.n;

	text_printf(words,
		    "%srecorded without root, in the process: %s%s%s; sudo ispot record adds %s",
		    words->n ? "; " : "",
		    r->no_own.code ? "when threads were blocked is unknown ("
				   : "who woke a thread, and for whom it waited, is unknown",
		    r->no_own.code ? r->no_own.text : "", r->no_own.code ? ")" : "",
		    r->no_own.code ? "causes by the scheduler" : "that, and its causes");
	if (left)
		text_printf(words, ", and %s that cannot be patched",
			    text_counted(functions, left, "function"));
}

static void write_nameless(struct recording *r)
{
	const struct dso *program = r->targets.nameless;
	struct text words = { 0 };

	if (!program)
		return;
	text_printf(&words, "%s has no symbols; ", text_base_name(dso_path(program)));
	package_symbols_from(PACKAGE_LISTS, dso_path(program), &words);
	log_notice("%s", words.s);
	inproc_write_notice(r->writer, "no-symbols", words.s);
	text_release(&words);
}

static void write_line(void *ctx, struct text *line)
{
	struct recording *r = ctx;

	inproc_write_line(r->writer, line);
}

static void write_addresses(struct recording *r)
{
	char *words = addresses_notice(&r->given);

	addresses_write(&r->addresses, write_line, r);
	if (words)
		inproc_write_notice(r->writer, "addresses", words);
	free(words);
}

static void write_limits(struct recording *r)
{
	struct text words = { 0 };

	if (!r->cost.call.calls)
		text_add(&words, STUBCOST_UNKNOWN_WORDS);
	if (r->no_switches.code && geteuid())
		write_without_root(r, &words);
	else if (r->no_switches.code)
		text_printf(&words,
			    "%scontext switches are not recorded (%s), so no cause is known by the "
			    "scheduler",
			    words.n ? "; " : "", r->no_switches.text);
	if (words.n)
		inproc_write_notice(r->writer, "in-process-limits", words.s);
	text_release(&words);
}

static void write_end(struct recording *r, const struct session_result *result)
{
	uint64_t switches_ns = java_switches_cost_ns(&r->switches);
	uint64_t cost_ns = inproc_drain_cost_ns(&r->drain);
	const struct meta_end e = {
		.end_ns = r->end_ns,
		.made_records = r->drain.records + inproc_drain_left_out(&r->drain) +
				r->drain.lost_records + r->own.lost,
		.lost_records = r->drain.lost_records + r->own.lost,
		.target_cpu_ns = r->o->n_pids ? META_UNKNOWN : r->launch.cpu_ns,
		.scheduling_cost_ns = r->no_switches.code ? META_UNKNOWN : switches_ns,
		.probes_cost_ns = cost_ns == UINT64_MAX || inproc_drain_lost_most(&r->drain)
					  ? META_UNKNOWN
					  : cost_ns + switches_ns,
		.exit_status = r->o->n_pids ? -1 : result->exit_status,
		.reason = r->reason,
	};

	write_limits(r);
	write_nameless(r);
	write_addresses(r);
	stacks_write(&r->stacks, write_line, r);
	inject_targets_write_skipped(&r->targets, r->writer);
	write_clocks(r);
	inproc_write_end(r->writer, &e);
}

/* ---- the processes ---- */

static bool has_addresses(const struct recording *r)
{
	vec_for_each (&r->targets.functions, const struct patched_function, f)
		if (f->arguments && (f->arguments->addresses || f->arguments->caller))
			return true;
	return false;
}

static int watch(void *ctx, pid_t pid, struct inproc_region *g)
{
	struct recording *r = ctx;
	int ret;

	g->pair_ns = (uint32_t)(r->cost.call.full_p50_ns + 0.5);
	g->passed_ns = r->cost.passed_ns;
	g->values_ns = r->cost.values_ns;
	g->page_ns = r->cost.page_ns;
	/* A short-lived process has ended when its calls are read. */
	if (has_addresses(r))
		spaces_get(&r->spaces, pid, 0);
	ret = java_switches_watch(&r->switches, pid, false);
	if (!ret && ownswitches_watch(&r->own, pid, r->writer, &r->no_own))
		log_failure("context switches are not recorded", &r->no_own);
	return ret;
}

static int attach_all(struct recording *r, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < r->o->n_pids; i++)
		ret = processes_attach(&r->processes, r->o->pids[i], true, err);
	return ret;
}

/* A program that a wrapper has started would outlive the wrapper. */
static void end_command(struct launch *l)
{
	if (l->program && l->program != l->pid)
		kill(l->program, SIGKILL);
	if (l->pid && !launch_poll(l))
		kill(l->pid, SIGKILL);
}

static int launch(struct recording *r, struct err *err)
{
	const struct patched_program program = { r->targets.inode, r->targets.device };
	int ret = processes_launch(&r->processes, &r->launch, r->o->argv, &program, err);

	if (ret)
		end_command(&r->launch);
	return ret;
}

/* ---- the recording ---- */

static void wait_turn(void *recording)
{
	struct recording *r = recording;
	const uint64_t turn_ns =
		r->drain.turn_ns < PROCESSES_TURN_NS ? r->drain.turn_ns : PROCESSES_TURN_NS;
	const struct timespec turn = { .tv_nsec = (long)turn_ns };
	siginfo_t info;
	int number;

	tracees_detach_late();
	number = sigtimedwait(&r->ends, &info, &turn);

	if (number > 0)
		ending_signal(&r->ending, &r->launch, number, info.si_code);
}

/* Returns why to stop now, or NULL if the recording goes on. */
static const char *reason_to_stop(struct recording *r)
{
	const uint64_t duration_ns = r->o->duration_ns;
	const struct ending_facts facts = {
		.pids = r->o->pids,
		.n_pids = r->o->n_pids,
		.until_ns = duration_ns ? r->start_ns + duration_ns : 0,
		.write_error = r->drain.error ? r->drain.error : r->switches.drain.error,
	};

	return ending_reason_now(&r->ending, &r->launch, &facts);
}

/* Looks up the addresses and call sites that came since the last time, also in files that a process
 * has mapped since it was patched. Reading what all processes have mapped takes long. */
static void add_addresses(struct recording *r, bool at_end)
{
	const uint64_t now = clock_now_ns();
	const bool is_any = drain_addresses_left(&r->given) || r->sites.n_new;

	if (!is_any || (!at_end && now - r->mapped_ns < MAPPED_NS))
		return;
	r->mapped_ns = now;
	spaces_reread(&r->spaces);
	addresses_add(&r->addresses, &r->given, &r->spaces);
	stacks_add_sites(&r->stacks, &r->sites, &r->spaces);
}

static void drain(struct recording *r)
{
	uint64_t now = clock_now_ns();

	inproc_drain_run(&r->drain);
	add_addresses(r, false);
	java_switches_drain(&r->switches);
	inproc_note_error(&r->drain, ownswitches_drain(&r->own));
	processes_enforce_budget(&r->processes, &r->budget, r->given_up, now);
	processes_check(&r->processes, now);
	if (now - r->flushed_ns < FLUSH_NS)
		return;
	r->flushed_ns = now;
	trace_writer_flush(r->writer, NULL);
}

static void run(struct recording *r)
{
	budget_begin(&r->budget, &r->drain, clock_now_ns());
	while (!(r->reason = reason_to_stop(r))) {
		wait_turn(r);
		drain(r);
	}
	processes_restore(&r->processes);
	inproc_drain_stop(&r->drain);
	processes_drain_rest(&r->processes);
	add_addresses(r, true);
	processes_write_passed(&r->processes, &r->budget, r->given_up);
	r->end_ns = clock_now_ns();
	inproc_drain_finish(&r->drain, r->end_ns);
	java_switches_end(&r->switches, r->end_ns);
	ownswitches_drain(&r->own);
}

/* Whether functions are taken out that cost more than the budget: those of -F are not. */
static bool is_limited(const struct recording *r)
{
	return !r->targets.is_chosen && r->o->overhead > 0;
}

static int record(struct recording *r, struct session_result *result, struct err *err)
{
	int ret;

	ret = r->o->n_pids ? 0 : launch_start(&r->launch, r->o->argv, &r->inherit, err);
	if (ret)
		return ret;
	mem_reserve(ENDING_RESERVED_BYTES);
	/* the rings fill once the processes run, so everything else is done before */
	r->start_ns = clock_now_ns();
	write_session(r);
	ring_bytes_report(&r->ring, r->writer);
	inject_targets_write(&r->targets, r->writer);
	write_cost(r);
	if (r->o->keep_slower_ns)
		inproc_sum_up_shorter(&r->drain, r->o->keep_slower_ns);
	inproc_write_set(&r->drain, true, r->start_ns);
	budget_init(&r->budget, is_limited(r) ? r->o->overhead : 0,
		    r->cost.call.full_p50_ns + (r->period - 1) * r->cost.passed_ns,
		    r->targets.functions.n);
	r->processes.how.budget = budget_of_thread(r->budget.share, &r->cost);
	patched_functions_count(&r->targets.functions, &r->drain);
	r->given_up = xcalloc(r->targets.functions.n + 1, sizeof(*r->given_up));
	ret = r->o->n_pids ? attach_all(r, err) : launch(r, err);
	if (ret) {
		processes_restore(&r->processes);
		return ret;
	}
	run(r);
	if (r->o->argv)
		ending_wait(&r->ending, &r->launch, !strcmp(r->reason, "duration"), wait_turn, r);
	result->exit_status = r->o->argv && r->launch.ended ? launch_exit_status(&r->launch) : 0;
	result->reason = r->reason;
	write_end(r, result);
	return 0;
}

/* The program's CPU time is known if ispot started it and it has ended. */
static void fill_cost(const struct recording *r, struct session_result *result)
{
	const uint64_t cost_ns = inproc_drain_cost_ns(&r->drain);

	result->lost_most_in_process = inproc_drain_lost_most(&r->drain);
	if (r->o->n_pids || !r->launch.ended || cost_ns == UINT64_MAX)
		return;
	result->target_cpu_ns = r->launch.cpu_ns;
	result->probes_cost_ns = cost_ns + java_switches_cost_ns(&r->switches);
	result->trapped_calls = r->drain.calls;
}

static void fill_result(struct recording *r, struct session_result *result)
{
	result->calls = r->drain.calls;
	result->duration_ns = r->end_ns - r->start_ns;
	fill_cost(r, result);
	result->lost_records = r->drain.lost_records + r->own.lost;
	vec_for_each (&r->targets.functions, const struct patched_function, f)
		result->functions += f->is_in;
	trace_writer_flush(r->writer, NULL);
	result->file_bytes = trace_writer_bytes(r->writer);
}

static void prepare_signals(struct recording *r)
{
	launch_inherit_save(&r->inherit);
	r->inherit.output_is_ours = !strcmp(r->o->output, "-");
	r->inherit.user = r->o->user;
	ending_block_signals(&r->ends);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* If context switches are recorded, the file has a section for each CPU, and the rings get the
 * section after these. */
static int open_file(struct recording *r, struct err *err)
{
	const uint32_t cpus = java_switches_cpus(&r->switches) + ownswitches_cpus(&r->own);
	const struct trace_writer_options wo = { .path = r->o->output,
						 .n_cpus = cpus + 1,
						 .max_bytes = r->o->max_bytes };
	int ret = trace_writer_open(&r->writer, &wo, err);

	inproc_drain_init(&r->drain, NULL, r->ring.n, r->writer);
	r->drain.cpu = cpus;
	r->drain.ring_memory_most = r->ring.most;
	r->drain.addresses = &r->given;
	drain_stacks_init(&r->sites, r->writer);
	r->drain.sites = &r->sites;
	r->drain.kernel_has_ends = cpus > 0;
	if (!ret)
		java_switches_begin(&r->switches, r->writer);
	return ret;
}

bool inject_is_possible(void)
{
	return !refusal_of_machine(NULL);
}

int inject_record(const struct session_options *o, struct session_result *result, struct err *err)
{
	struct recording r = { .o = o,
			       .launch = { .go_fd = -1, .status_fd = -1 },
			       .period = o->period ? o->period : 1 };
	int ret = refusal_of_machine(err), close_ret = 0;

	*result = (struct session_result){ 0 };
	if (!ret)
		ret = inject_targets_find(&r.targets, o, err);
	drain_addresses_init(&r.given);
	spaces_init(&r.spaces, r.targets.dsos);
	if (!ret)
		ret = ring_bytes_choose(&r.ring, o, &r.targets, is_limited(&r), err);
	if (!ret) {
		if (java_switches_open(&r.switches, &r.no_switches) && !geteuid())
			log_failure("context switches are not recorded", &r.no_switches);
		if (r.no_switches.code)
			ownswitches_open(&r.own, &r.no_own);
		ret = open_file(&r, err);
	}
	r.processes =
		(struct processes){ .is_alone = true,
				    .drain = &r.drain,
				    .functions = &r.targets.functions,
				    .how = { .ring_bytes = r.ring.n,
					     .ring_memory_most = r.ring.most,
					     .period = r.period,
					     .gives_up = is_limited(&r) && !r.ring.has_shrunk },
				    .watch = watch,
				    .ctx = &r };
	if (!ret) {
		prepare_signals(&r);
		ret = record(&r, result, err);
		fill_result(&r, result);
	}
	if (r.writer)
		close_ret = trace_writer_close(r.writer, ret ? NULL : err);
	budget_release(&r.budget);
	addresses_release(&r.addresses);
	stacks_release(&r.stacks);
	drain_stacks_release(&r.sites);
	drain_addresses_release(&r.given);
	spaces_release(&r.spaces);
	free(r.given_up);
	inproc_drain_release(&r.drain);
	java_switches_release(&r.switches);
	ownswitches_release(&r.own);
	launch_release(&r.launch);
	processes_release(&r.processes);
	inject_targets_release(&r.targets);
	return ret ? ret : close_ret;
}
