/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/meta.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/cost/selfcost.h"
#include "probes/kernel/bpfprog.h"
#include "probes/process/named.h"
#include "probes/recording/cputime.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "symbol/dso/dso.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"
#include "trace/record.h"
#include "trace/write/writer.h"

void recording_write_line(struct recording *r, struct text *line)
{
	if (r->begun) {
		trace_writer_meta(r->writer, line->s);
	} else {
		text_add(&r->pending, line->s);
		text_add(&r->pending, "\n");
	}
	text_release(line);
}

static void write_pending(struct recording *r)
{
	char *rest = r->pending.s, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			trace_writer_meta(r->writer, line);
	text_release(&r->pending);
}

static uint64_t unix_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* The cycle counter's speed against the clock, over a few milliseconds. */
double recording_cycles_per_ns(void)
{
	struct clock_pair begin = clock_pair_now(), end;

	if (!begin.cycles)
		return NAN;
	clock_sleep_ns(5000000);
	end = clock_pair_now();
	return clock_pair_rate(&begin, &end);
}

static void write_named(void *ctx, struct text *line)
{
	recording_write_line(ctx, line);
}

void recording_write_threads(struct recording *r, pid_t pid)
{
	named_threads(pid, write_named, r);
}

void recording_note(struct recording *r, const char *code, const char *words)
{
	struct meta_notice n = { .code = code, .text = words };
	struct text line = { 0 };

	meta_print_notice(&n, &line);
	recording_write_line(r, &line);
}

void recording_write_notice(struct recording *r, const char *code, const char *words)
{
	log_notice("%s", words);
	recording_note(r, code, words);
}

void recording_write_set(struct recording *r, struct probeset *set, bool on)
{
	/* What joins between two bursts begins with the next. */
	if (!on || !r->is_between_bursts)
		recording_write_set_at(r, set, on, clock_now_ns());
}

static bool has_functions(const struct recording *r, const struct probeset *set)
{
	vec_for_each (&r->plan, struct planned *const, p)
		if (planned_is_traced(*p) && (*p)->set == set->id)
			return true;
	return false;
}

/* Adds up how long any function has probes. */
static void count_probed(struct recording *r, struct probeset *set, bool on, uint64_t time_ns)
{
	if (set->counts == on || (on && !has_functions(r, set)))
		return;
	set->counts = on;
	if (on && !r->probed.sets++)
		r->probed.since_ns = time_ns;
	if (!on && !--r->probed.sets && time_ns > r->probed.since_ns)
		r->probed.ns += time_ns - r->probed.since_ns;
}

/* Returns META_UNKNOWN in bursts, between which nothing is recorded, and if code in the processes
 * times functions, too. */
static uint64_t probed_ns(const struct recording *r, uint64_t end_ns)
{
	uint64_t ns = r->probed.ns;

	if (r->options->burst_on_ns || r->options->beside)
		return META_UNKNOWN;
	return r->probed.sets && end_ns > r->probed.since_ns ? ns + end_ns - r->probed.since_ns
							     : ns;
}

void recording_write_set_at(struct recording *r, struct probeset *set, bool on, uint64_t time_ns)
{
	const uint64_t values[RECORD_VALUES_MIN] = { set->id, 0 };
	struct record record = {
		.kind = on ? REC_SET_ON : REC_SET_OFF,
		.cpu = r->cpus.online[0],
		.time_ns = time_ns,
		.n_values = 2,
		.values = values,
	};

	count_probed(r, set, on, time_ns);
	trace_writer_record(r->writer, &record);
}

static void write_call_count(void *ctx, uint32_t tid, uint32_t id, const struct wire_sampling *row)
{
	struct recording *r = ctx;
	const uint64_t values[RECORD_VALUES_MIN] = { id, row->calls - row->recorded,
						     row->outer - row->outer_recorded };
	struct record record = {
		.kind = REC_CALL_COUNT,
		.cpu = r->cpus.online[0],
		.time_ns = clock_now_ns(),
		.tid = tid,
		.tgid = row->tgid,
		.n_values = 3,
		.values = values,
	};

	if (id < SELFCOST_ID_FIRST)
		trace_writer_record(r->writer, &record);
}

void recording_write_call_counts(struct recording *r)
{
	if (r->options->period > 1)
		bpfprog_sampled(r->programs, write_call_count, r);
}

static void write_session(struct recording *r, const struct recording_head *head)
{
	struct text line = { 0 };
	struct utsname u;
	struct meta_session m = {
		.version = TRACE_VERSION,
		.ispot_version = r->options->version,
		.command = r->options->command,
		.program = head->program ? head->program : "",
		.pid = r->options->n_pids ? (uint64_t)r->options->pids[0] : (uint64_t)r->launch.pid,
		.start_ns = r->start_ns,
		.start_unix_ns = unix_ns(),
		.clock = "monotonic",
		.cycles_per_ns = head->cycles_per_ns,
		.cpus = r->cpus.n,
		.pmu = head->pmu,
		.producer = "bpf",
		.period = r->options->period,
		.attached = r->options->n_pids > 0,
		.uprobe_sessions = recording_has_uprobe_sessions(r),
		.recorder_pid = getpid(),
		.options = r->options->options,
	};

	uname(&u);
	m.hostname = u.nodename;
	m.kernel = u.release;
	m.machine = u.machine;
	meta_print_session(&m, &line);
	recording_write_line(r, &line);
}

/* Both clocks now: once as the recording begins and once as it ends. */
static void write_clocks(struct recording *r)
{
	const char *unstable = clock_cycles_unstable();
	struct clock_pair now = clock_pair_now();
	struct meta_clocks m = { .at_ns = now.ns,
				 .cycles = now.cycles,
				 .width_ns = now.width_ns,
				 .unstable = unstable ? unstable : "" };
	struct text line = { 0 };

	meta_print_clocks(&m, &line);
	recording_write_line(r, &line);
}

void recording_write_head(struct recording *r, const struct recording_head *head)
{
	write_session(r, head);
	write_clocks(r);
	write_pending(r);
}

void recording_write_end(struct recording *r, const struct cputime *cputime,
			 const struct session_result *result)
{
	struct text line = { 0 };
	struct meta_end e = {
		.end_ns = r->start_ns + result->duration_ns,
		.made_records = result->records + result->left_out_records + result->lost_records,
		.lost_records = result->lost_records,
		.recorder_cpu_ns = result->recorder_cpu_ns,
		.target_cpu_ns = result->target_cpu_ns,
		.counting_cost_ns = result->counting_cost_ns,
		.scheduling_cost_ns = result->scheduling_cost_ns,
		.sampling_cost_ns =
			isnan(result->sample_ns) ? META_UNKNOWN : result->sampling_cost_ns,
		.sample_ns = isnan(result->sample_ns) ? META_UNKNOWN : (uint64_t)result->sample_ns,
		.after_cost_ns = result->after_cost_ns,
		.probes_cost_ns =
			result->lost_most_in_process ? META_UNKNOWN : result->probes_cost_ns,
		.cpus_busy_ns = META_UNKNOWN,
		.cpus_steal_ns = META_UNKNOWN,
		.probed_ns = probed_ns(r, r->start_ns + result->duration_ns),
		.usable_cpus = cputime_usable_cpus(cputime),
		.exit_status = r->options->n_pids ? -1 : result->exit_status,
		.reason = result->reason,
	};

	cputime_all_cpus_ns(cputime, &e.cpus_busy_ns, &e.cpus_steal_ns);
	drain_takers_write(&r->drain.takers, write_named, r);
	write_clocks(r);
	meta_print_end(&e, &line);
	recording_write_line(r, &line);
}
