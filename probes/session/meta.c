/* SPDX-License-Identifier: GPL-3.0-or-later */
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
#include "probes/session/internal.h"
#include "symbol/dso/dso.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"
#include "trace/record.h"
#include "trace/write/writer.h"

void session_write_line(struct session *s, struct text *line)
{
	if (s->begun) {
		trace_writer_meta(s->writer, line->s);
	} else {
		text_add(&s->pending, line->s);
		text_add(&s->pending, "\n");
	}
	text_release(line);
}

static void write_pending(struct session *s)
{
	char *rest = s->pending.s, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			trace_writer_meta(s->writer, line);
	text_release(&s->pending);
}

static uint64_t unix_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* The cycle counter's speed against the clock, over a few milliseconds. */
double session_cycles_per_ns(void)
{
	struct clock_pair begin = clock_pair_now(), end;

	if (!begin.cycles)
		return NAN;
	clock_sleep_ns(5000000);
	end = clock_pair_now();
	return clock_pair_rate(&begin, &end);
}

static void write_named(void *session, struct text *line)
{
	session_write_line(session, line);
}

void session_write_threads(struct session *s, pid_t pid)
{
	named_threads(pid, write_named, s);
}

void session_note(struct session *s, const char *code, const char *words)
{
	struct meta_notice n = { .code = code, .text = words };
	struct text line = { 0 };

	meta_print_notice(&n, &line);
	session_write_line(s, &line);
}

void session_write_notice(struct session *s, const char *code, const char *words)
{
	log_notice("%s", words);
	session_note(s, code, words);
}

void session_write_set(struct session *s, const struct probeset *set, bool on)
{
	/* What joins between two bursts begins with the next. */
	if (!on || !s->burst.off)
		session_write_set_at(s, set, on, clock_now_ns());
}

void session_write_set_at(struct session *s, const struct probeset *set, bool on, uint64_t time_ns)
{
	const uint64_t values[RECORD_VALUES_MIN] = { set->id, 0 };
	struct record r = {
		.kind = on ? REC_SET_ON : REC_SET_OFF,
		.cpu = s->cpus.online[0],
		.time_ns = time_ns,
		.n_values = 2,
		.values = values,
	};

	trace_writer_record(s->writer, &r);
}

static void write_call_count(void *ctx, uint32_t tid, uint32_t id, const struct wire_sampling *row)
{
	struct session *s = ctx;
	const uint64_t values[RECORD_VALUES_MIN] = { id, row->calls - row->recorded,
						     row->outer - row->outer_recorded };
	struct record r = {
		.kind = REC_CALL_COUNT,
		.cpu = s->cpus.online[0],
		.time_ns = clock_now_ns(),
		.tid = tid,
		.tgid = row->tgid,
		.n_values = 3,
		.values = values,
	};

	if (id < SELFCOST_ID_FIRST)
		trace_writer_record(s->writer, &r);
}

void session_write_call_counts(struct session *s)
{
	if (s->options.period > 1)
		bpfprog_sampled(s->programs, write_call_count, s);
}

static void write_session(struct session *s, const char *pmu)
{
	struct text line = { 0 };
	struct utsname u;
	struct meta_session m = {
		.version = TRACE_VERSION,
		.ispot_version = s->options.version,
		.command = s->options.command,
		.program = s->program ? s->program : "",
		.pid = s->options.n_pids ? (uint64_t)s->options.pids[0] : (uint64_t)s->launch.pid,
		.start_ns = s->start_ns,
		.start_unix_ns = unix_ns(),
		.clock = "monotonic",
		.cycles_per_ns = s->cycles_per_ns,
		.cpus = s->cpus.n,
		.pmu = pmu,
		.producer = "bpf",
		.period = s->options.period,
		.attached = s->options.n_pids > 0,
		.uprobe_sessions = session_has_sessions(s),
		.recorder_pid = getpid(),
		.options = s->options.options,
	};

	uname(&u);
	m.hostname = u.nodename;
	m.kernel = u.release;
	m.machine = u.machine;
	meta_print_session(&m, &line);
	session_write_line(s, &line);
}

/* Both clocks now: once as the recording begins and once as it ends. */
static void write_clocks(struct session *s)
{
	const char *unstable = clock_cycles_unstable();
	struct clock_pair now = clock_pair_now();
	struct meta_clocks m = { .at_ns = now.ns,
				 .cycles = now.cycles,
				 .width_ns = now.width_ns,
				 .unstable = unstable ? unstable : "" };
	struct text line = { 0 };

	meta_print_clocks(&m, &line);
	session_write_line(s, &line);
}

void session_write_head(struct session *s, const char *pmu)
{
	write_session(s, pmu);
	write_clocks(s);
	write_pending(s);
}

static uint64_t between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

void session_write_end(struct session *s, const struct session_result *result)
{
	struct text line = { 0 };
	struct meta_end e = {
		.end_ns = s->start_ns + result->duration_ns,
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
		.usable_cpus = s->cputime.usable_cpus,
		.exit_status = s->options.n_pids ? -1 : result->exit_status,
		.reason = result->reason,
	};

	if (s->cputime.all_at_begin.busy_ns && s->cputime.all_at_stop.busy_ns) {
		e.cpus_busy_ns =
			between(s->cputime.all_at_begin.busy_ns, s->cputime.all_at_stop.busy_ns);
		e.cpus_steal_ns =
			between(s->cputime.all_at_begin.steal_ns, s->cputime.all_at_stop.steal_ns);
	}
	drain_takers_write(&s->drain.takers, write_named, s);
	write_clocks(s);
	meta_print_end(&e, &line);
	session_write_line(s, &line);
}
