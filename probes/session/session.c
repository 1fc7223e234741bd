/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/session.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/bpf/wire.h"
#include "probes/drain/keep.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/mappings.h"
#include "probes/recording/meta.h"
#include "probes/session/again.h"
#include "probes/session/engine.h"
#include "probes/session/internal.h"
#include "probes/session/open.h"
#include "symbol/dso/patience.h"
#include "trace/write/writer.h"

#define DRAIN_INTERVAL_MS    100
#define CALIBRATION_HOLDS_NS 10000000000ull

#define FLUSH_INTERVAL_NS 500000000ull /* the file is at most a second behind (ispot.data(5)) */
#define LIVE_LAG_NS	  20000000ull  /* a probe's program may be interrupted before it writes */

static void on_signal(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info))
		ending_signal(&s->ending, &s->r.launch, (int)info.ssi_signo, info.ssi_code);
}

static void show_progress(struct session *s)
{
	if (!s->r.options->show_progress)
		return;
	if (s->r.options->duration_ns && s->r.begun)
		progress_share(&s->progress, (double)(clock_now_ns() - s->r.start_ns) /
						     (double)s->r.options->duration_ns);
	else
		progress_rate(&s->progress, s->r.drain.entries, "calls");
}

/* Begins to record. The file, and every thread's observed time, begin here. */
static void begin(struct session *s)
{
	char pmu[64];
	const struct recording_head head = { .program = session_program(&s->select),
					     .pmu = recorded_counters_pmu(pmu, sizeof(pmu)),
					     .cycles_per_ns = s->cycles_per_ns };
	bool launched = !s->r.options->n_pids && !s->delayed;

	/* The records of a launched command begin with its exec, all others now. The set is
	 * reported as on only then. */
	if (!launched && !s->began_at_end)
		bpfprog_record(s->r.programs, true);
	s->r.start_ns = clock_now_ns();
	s->r.begun = true;
	cputime_begin(&s->cputime, &s->r);
	if (!launched)
		cputime_note_usable(&s->cputime, &s->r);
	session_follow_begin(&s->follow, &s->r, cputime_begin_ns(&s->cputime));
	recording_write_head(&s->r, &head);
	for (size_t i = 0; i < s->r.options->n_pids; i++)
		recording_write_threads(&s->r, s->r.options->pids[i]);
	session_beside_begin(&s->r);
	session_follow_report_born_before(&s->r);
	for (size_t k = 0; k < s->r.sets.n; k++)
		recording_write_set(&s->r, &s->r.sets.data[k], true);
	session_burst_begin(&s->burst, &s->r);
	solo_windows_begin(&s->solo, &s->r);
	if (launched)
		bpfprog_record_from_exec(s->r.programs, s->r.launch.pid);
}

/* Measures what switches and samples cost, and has the scheduler watched. */
static int watch_scheduler(struct session *s, struct err *err)
{
	int ret;

	costs_calibrate_switches(&s->costs, &s->r, SWITCHES_ALONE);
	ret = bpfprog_attach_scheduler(s->r.programs, err);
	if (ret)
		return ret;
	costs_calibrate_switches(&s->costs, &s->r, SWITCHES_WATCHED);
	costs_calibrate_switches(&s->costs, &s->r, SWITCHES_CARRIED);
	session_calibrate_samples(&s->sampling, &s->r);
	session_sample_restore(&s->sampling, &s->r);
	if (s->r.is_hybrid)
		session_hybrid_rate(&s->hybrid, &s->r);
	costs_write(&s->costs, &s->r);
	return 0;
}

static int add_target(struct session *s, pid_t pid, struct err *err)
{
	int ret = bpfprog_add_target(s->r.programs, pid, 0);

	drain_add_target(&s->r.drain, pid);
	return ret ? err_set(err, ret,
			     "cannot note process %d: %s; ispot list says what this machine can do",
			     pid, strerror(-ret))
		   : 0;
}

static int put_probes(struct session *s, const pid_t *pids, size_t n, struct err *err)
{
	int ret = mappings_watch(&s->r, err);

	for (size_t k = 0; k < s->r.sets.n; k++)
		for (size_t i = 0; i < n && !ret && recording_is_on_targets(&s->r, k); i++)
			ret = session_open_on_process(&s->attach, &s->r, &s->r.sets.data[k],
						      pids[i], err);
	return ret;
}

/* Lets the command execute. */
static int execute(struct session *s, struct err *err)
{
	int ret = session_need_descriptors(err);

	if (!ret && s->r.options->launching)
		ret = s->r.options->launching(s->r.options->launching_ctx, s->r.launch.pid, err);
	if (!ret && s->r.options->n_pids)
		ret = session_beside_attach(&s->beside, &s->r, err);
	if (ret || !s->r.options->argv)
		return ret;
	return s->r.options->n_pids ? launch_exec(&s->r.launch, s->r.options->argv, err)
				    : session_beside_launch(&s->beside, &s->r, err);
}

/* Puts the probes onto the processes. The records of a launched command begin with its exec. */
static int start(struct session *s, struct err *err)
{
	const pid_t *pids = s->r.options->n_pids ? s->r.options->pids : &s->r.launch.pid;
	size_t n = s->r.options->n_pids ? s->r.options->n_pids : 1;
	int ret = watch_scheduler(s, err);

	bpfprog_hold_children(s->r.programs, session_events_are_swapped(&s->r));
	for (size_t i = 0; i < n && !ret; i++) {
		ret = add_target(s, pids[i], err);
		if (ret)
			return ret;
	}
	bpfprog_totals(s->r.programs, &s->r.totals_at_start);
	drain_start(&s->r.drain, known_cpus_note(&s->hotplug));
	bpfprog_forget_sampled(s->r.programs);
	if (!ret)
		ret = put_probes(s, pids, n, err);
	if (ret)
		return ret;
	session_retire_calibration(&s->attach, &s->r);
	if (s->r.is_hybrid)
		ret = session_hybrid_trace_waits(&s->hybrid, &s->r, err);
	if (ret)
		return ret;
	s->r.open_ns = clock_now_ns();
	session_budget_begin(&s->budget, &s->r);
	s->delayed = s->r.options->delay_ns > 0;
	if (!s->delayed)
		begin(s);
	if (s->r.is_hybrid)
		session_hybrid_start(&s->hybrid, &s->r);
	session_sample_start(&s->r);
	on_signal(s); /* a signal came meanwhile: it ends the command, which has not started yet */
	progress_end(&s->progress);
	mem_reserve(ENDING_RESERVED_BYTES);
	return execute(s, err);
}

static bool any_target_alive(const struct session *s)
{
	struct pids pids = { 0 };
	bool any;

	bpfprog_targets(s->r.programs, &pids);
	any = pids.n > 0;
	vec_release(&pids);
	return any;
}

/* Returns why to stop now, or NULL if the recording continues. */
static const char *reason_to_stop(struct session *s)
{
	if (s->r.options->argv && launch_poll(&s->r.launch))
		return ending_reason(&s->ending);
	if (ending_is_due(&s->ending, s->r.options->argv))
		return "interrupted";
	if (s->r.begun && s->r.options->duration_ns &&
	    clock_now_ns() - s->r.start_ns >= s->r.options->duration_ns)
		return "duration";
	if (s->r.options->n_pids && !any_target_alive(s))
		return "processes ended";
	return ending_without_memory();
}

/* Returns when the recording begins, or ends, or 0 if no time is set. */
static uint64_t next_moment_ns(const struct session *s)
{
	if (!s->r.begun)
		return s->r.open_ns + s->r.options->delay_ns;
	return s->r.options->duration_ns ? s->r.start_ns + s->r.options->duration_ns : 0;
}

/* Waits until a descriptor is ready, or until until_ns. Rings in processes are read meanwhile,
 * because they fill within milliseconds. */
static void wait_until(struct session *s, struct pollfd *fds, uint32_t n, uint64_t until_ns)
{
	uint64_t now_ns = clock_now_ns();
	int ready;

	do {
		const uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
		const uint64_t turn_ns = session_beside_drain(&s->beside, &s->r);
		const uint64_t wait_ns = turn_ns < left_ns ? turn_ns : left_ns;
		const struct timespec wait = { (time_t)(wait_ns / 1000000000u),
					       (long)(wait_ns % 1000000000u) };

		ready = ppoll(fds, n, &wait, NULL);
		if (ready < 0 && errno != EINTR)
			log_detail("poll: %s", strerror(errno));
		now_ns = clock_now_ns();
	} while (!ready && now_ns < until_ns);
}

static void wait_for_something(struct session *s, struct pollfd *fds, uint32_t n)
{
	int timeout_ms = session_keeps_budget(&s->r) || s->r.is_hybrid
				 ? session_hybrid_interval_ms(&s->hybrid, &s->r)
				 : DRAIN_INTERVAL_MS;
	uint64_t now_ns = clock_now_ns(), moment_ns = next_moment_ns(s), wait_ns;

	if (moment_ns > now_ns && (moment_ns - now_ns) / 1000000 < (uint64_t)timeout_ms)
		timeout_ms = (int)((moment_ns - now_ns) / 1000000) + 1;
	timeout_ms = session_burst_timeout_ms(&s->burst, &s->r, timeout_ms);
	timeout_ms = session_govern_timeout_ms(&s->governor, timeout_ms);
	wait_ns = (uint64_t)timeout_ms * 1000000;
	if (session_newcomers_wait_ns(&s->newcomers) < wait_ns)
		wait_ns = session_newcomers_wait_ns(&s->newcomers);
	wait_until(s, fds, n, now_ns + wait_ns);
	ringbufs_heard(&s->r.rings);
}

static void begin_after_delay(struct session *s)
{
	if (!s->r.begun && clock_now_ns() - s->r.open_ns >= s->r.options->delay_ns)
		begin(s);
}

/* Begins a recording that has already ended: one without any time is still valid. */
static void begin_at_end(struct session *s)
{
	s->began_at_end = true;
	begin(s);
	recording_write_notice(&s->r, "delay",
			       "it ended before the time of -D was over, so nothing was recorded; "
			       "give -D less");
}

/* Ends the recording because the file cannot grow. The target continues. */
static void end_by_writer(struct session *s)
{
	int ret = trace_writer_flush(s->r.writer, &s->write_error);

	s->reason = ret == -EFBIG		       ? "max-size"
		    : ret == -ENOSPC || ret == -EDQUOT ? "disk full"
						       : "write error";
}

/* Adapts the probes to what the target does. An error loses records, but not the recording. */
static void adapt(struct session *s)
{
	const bool counting = session_is_counting(&s->hybrid);
	struct err err = { 0 };
	int ret;

	session_newcomers_note(&s->newcomers, &s->r);
	session_newcomers_patch(&s->newcomers, &s->r);
	if (s->r.drain.n_mappings || s->r.drain.mappings_overflowed ||
	    session_waits_to_join(&s->select))
		session_join_mapped(&s->select, &s->r);
	after_note(&s->after, &s->r, clock_now_ns(), false);
	solo_windows_step(&s->solo, &s->r);
	session_govern_step(&s->governor, &s->r);
	ret = session_burst_step(&s->burst, &s->r, &err);
	if (!ret)
		ret = session_follow_look(&s->follow, &s->r, clock_now_ns(), counting, &err);
	if (!ret)
		ret = session_throttle(&s->budget, &s->r, clock_now_ns(), &err);
	if (!ret)
		ret = session_next_turn(&s->budget, &s->attach, &s->r, counting, &err);
	if (!ret && s->r.is_hybrid)
		ret = session_hybrid_step(&s->hybrid, &s->r, &err);
	session_close_retired(&s->attach, &s->r, clock_now_ns(), session_is_counting(&s->hybrid));
	if (ret)
		recording_write_notice(&s->r, "join", err.text);
}

static void write_line(void *ctx, struct text *line)
{
	struct session *s = ctx;

	recording_write_line(&s->r, line);
}

/* Shows what was drained. Whoever reads along must be able to name what the records name. */
static void show_drained(struct session *s, uint64_t drained_from_ns)
{
	if (!s->r.options->drained || !s->r.begun || drained_from_ns - s->r.start_ns < LIVE_LAG_NS)
		return;
	if (s->r.options->live)
		stacks_write(&s->stacks, write_line, s);
	s->r.options->drained(s->r.options->drained_ctx, drained_from_ns - LIVE_LAG_NS);
}

/* Reads what has happened since the last turn. Returns false if the file cannot grow. */
static bool read_records(struct session *s)
{
	struct err err = { 0 };

	if (drain_run(&s->r.drain, &s->r.rings, &s->r.mappings)) {
		end_by_writer(s);
		return false;
	}
	if (session_hold_new(&s->holds, &s->r, &err))
		recording_write_notice(&s->r, "join", err.text);
	/* stacks_add() forgets what a process that has ended had mapped, and whoever reads along
	 * needs the calls that are timed in process, too: so these are read before it */
	session_beside_drain(&s->beside, &s->r);
	stacks_add(&s->stacks, &s->r);
	addresses_add(&s->addresses, &s->r.drain.addresses, &s->r.spaces);
	return true;
}

/* Does what twice a second is enough for. Returns false if the file cannot grow. */
static bool do_seldom(struct session *s)
{
	if (clock_now_ns() - s->last_flush_ns < FLUSH_INTERVAL_NS)
		return true;
	s->last_flush_ns = clock_now_ns();
	known_cpus_check(&s->hotplug, &s->r);
	cputime_note_usable(&s->cputime, &s->r);
	if (!trace_writer_flush(s->r.writer, NULL))
		return true;
	end_by_writer(s);
	return false;
}

/* Makes one turn of the loop. Returns false if the recording is over. */
static bool turn(struct session *s)
{
	const char *reason = reason_to_stop(s);
	uint64_t began_ns = clock_now_ns();

	if (!read_records(s))
		return false;
	if (reason) {
		s->reason = reason;
		return false;
	}
	show_drained(s, began_ns);
	adapt(s);
	session_warn_cost(&s->overhead, &s->r, clock_now_ns(), false);
	if (s->r.begun && !cputime_usable_is_known(&s->cputime)) /* it may end before the next */
		cputime_note_usable(&s->cputime, &s->r);
	return do_seldom(s);
}

/* Records until the recording is over: ispot-internals(7), A recording. */
static void loop(struct session *s)
{
	struct pollfd fds[] = {
		{ .fd = s->r.rings.epoll_fd, .events = POLLIN },
		{ .fd = s->signal_fd, .events = POLLIN },
		{ .fd = s->r.launch.pid ? (int)syscall(SYS_pidfd_open, s->r.launch.pid, 0) : -1,
		  .events = POLLIN },
	};
	const uint32_t n = sizeof(fds) / sizeof(fds[0]);

	progress_init(&s->progress, "recording");
	do {
		wait_for_something(s, fds, n);
		on_signal(s);
		begin_after_delay(s);
		show_progress(s);
	} while (turn(s));
	progress_end(&s->progress);
	if (fds[n - 1].fd >= 0)
		close(fds[n - 1].fd);
}

static bool is_long(const struct session *s)
{
	return clock_now_ns() - s->r.open_ns > CALIBRATION_HOLDS_NS;
}

/*
 * Measures the costs again. They may have changed during the recording, with the clock of the CPUs
 * or with other programs. In a short recording the first measurement still holds, so that users
 * need not wait. The cost of carriers depends on how many sets have joined.
 */
static void calibrate_again(struct session *s)
{
	if (is_long(s) && s->r.sets.n && s->r.sets.data[s->r.sets.empties].attached)
		costs_calibrate(&s->costs, &s->r, "after", s->r.cpus.n);
	if (costs_carries_more(&s->costs, &s->r, session_is_carried(&s->follow)))
		costs_calibrate_switches(&s->costs, &s->r, SWITCHES_CARRIED);
}

static void write_addresses(struct session *s)
{
	char *words = addresses_notice(&s->r.drain.addresses);

	addresses_write(&s->addresses, write_line, s);
	if (words)
		recording_write_notice(&s->r, "addresses", words);
	free(words);
}

/* Stops recording. All records are read, and their losses written, before the calibration uses the
 * rings again. */
static void stop(struct session *s)
{
	bool again =
		is_long(s) || costs_carries_more(&s->costs, &s->r, session_is_carried(&s->follow));

	solo_windows_stop(&s->solo, &s->r);
	bpfprog_record(s->r.programs, false);
	session_govern_stop(&s->governor, &s->r);
	cputime_note_stop(&s->cputime, &s->r);
	session_beside_stop(&s->beside, &s->r);
	bpfprog_keep_samples(s->r.programs, false);
	session_burst_stop(&s->burst, &s->r);
	known_cpus_check(&s->hotplug, &s->r);
	mappings_unwatch(&s->r);
	session_newcomers_report(&s->newcomers, &s->r);
	mappings_report(&s->r);
	if (s->r.is_hybrid)
		session_hybrid_stop(&s->hybrid, &s->r, s->began_at_end);
	drain_run(&s->r.drain, &s->r.rings, &s->r.mappings);
	drain_finish(&s->r.drain, &s->r.rings, clock_now_ns());
	bpfprog_totals(s->r.programs, &s->r.totals_at_stop);
	s->r.stopped = true;
	/* The kernel takes long to close them: names and stacks are written meanwhile. */
	if (!again)
		session_close_sets_beside(&s->attach, &s->r);
	patience_set(PATIENCE_AFTERWARDS);
	s->r.spaces.closed_ns = clock_now_ns();
	after_note(&s->after, &s->r, clock_now_ns(), true);
	trace_writer_flush(s->r.writer, NULL); /* memory may end where programs are read below */
	stacks_add(&s->stacks, &s->r);
	addresses_add(&s->addresses, &s->r.drain.addresses, &s->r.spaces);
	stacks_write(&s->stacks, write_line, s);
	stacks_report(&s->r);
	write_addresses(s);
	recording_write_call_counts(&s->r);
	if (again)
		calibrate_again(s);
	session_close_sets(&s->attach, &s->r);
}

static void wait_for_signal(void *session)
{
	struct session *s = session;
	struct pollfd fd = { .fd = s->signal_fd, .events = POLLIN };

	session_beside_detach_late(&s->beside, &s->r);
	poll(&fd, 1, 50);
	on_signal(s);
}

/* Writes notices on sets that were given up. The terminal has already shown them. */
static void note_given_up(struct session *s)
{
	char words[200], files[TEXT_COUNTED];
	size_t n = patience_given_up();

	if (!n)
		return;
	snprintf(words, sizeof(words),
		 "%s that others may write could not be read to the end in the time that a "
		 "recording has for them: some of their functions or lines are missing",
		 text_counted(files, n, "file"));
	recording_note(&s->r, "files-left-out", words);
}

static void fill_result(struct session *s, uint64_t duration_ns, struct session_result *r)
{
	struct session_beside_sums beside;
	uint64_t written, left_out, lost;

	/* Records that a full disk or the size limit kept out of the file are lost, too. */
	trace_writer_flush(s->r.writer, NULL);
	session_beside_sums(&s->beside, &s->r, &beside);
	written = trace_writer_records(s->r.writer) - beside.records;
	left_out = 2 * keep_calls(s->r.drain.keep);
	lost = s->r.totals_at_stop.calls - s->r.totals_at_start.calls - written - left_out;
	*r = (struct session_result){
		.calls = s->r.drain.entries + beside.calls,
		.trapped_calls = session_trapped_calls(&s->overhead, &s->r) + beside.trapped_calls,
		.records = written + beside.records,
		.left_out_records = left_out,
		.lost_records = lost + beside.lost_records,
		.lost_others = s->r.drain.lost > lost ? s->r.drain.lost - lost : 0,
		.duration_ns = duration_ns,
		.recorder_cpu_ns = clock_cpu_ns(),
		.target_cpu_ns = cputime_recorded_ns(&s->cputime, &s->r),
		.counting_cost_ns = session_counting_cost_ns(&s->budget),
		.scheduling_cost_ns = session_scheduling_cost_ns(&s->follow, &s->r),
		.sampling_cost_ns = costs_sampling_ns(&s->costs, &s->r),
		.sample_ns = costs_sample_ns(&s->costs),
		.after_cost_ns = (uint64_t)after_sum_ns(&s->after),
		.probes_cost_ns = session_probes_cost_ns(&s->overhead, &s->r),
		.lost_most_in_process = beside.lost_most,
		.functions = s->r.sets.n_probed + beside.functions,
		.exit_status = s->r.launch.ended && !s->r.options->n_pids
				       ? launch_exit_status(&s->r.launch)
				       : 0,
		.interrupted = s->ending.signals > 0,
		.began_at_end = s->began_at_end,
		.reason = s->reason,
	};
}

/* Closes the file. A full disk is not a failure of the command: it is reported, and the file stays
 * as it is. */
static int close_file(struct session *s, struct session_result *result, struct err *err)
{
	int ret;

	recording_write_end(&s->r, &s->cputime, result);
	trace_writer_flush(s->r.writer, NULL);
	result->file_bytes = trace_writer_bytes(s->r.writer);
	ret = trace_writer_close(s->r.writer, &s->write_error);
	s->r.writer = NULL;
	if (!ret && !s->write_error.code)
		return 0;
	result->cut_short = true;
	/* The user set the size limit, so reaching it is no error. */
	if (s->write_error.code == -EFBIG || (s->r.launch.pid && !s->r.options->n_pids)) {
		log_err(&s->write_error);
		return 0;
	}
	if (err)
		*err = s->write_error;
	return s->write_error.code;
}

int session_run(struct session *s, struct session_result *result, struct err *err)
{
	uint64_t duration_ns;
	int ret, closed;

	patience_set(PATIENCE_RECORDING);
	ret = start(s, err);
	if (!ret)
		loop(s);
	if (!ret && !s->r.begun)
		begin_at_end(s);
	duration_ns = clock_now_ns() - s->r.start_ns;
	stop(s);
	/* The command ends with the recording, as with perf, so that `-d 10 ./server` returns. */
	if (!ret) /* otherwise the command never started */
		ending_wait(&s->ending, &s->r.launch,
			    !s->r.options->n_pids && !strcmp(s->reason, "duration"),
			    wait_for_signal, s);
	if (!s->r.is_hybrid && !s->r.plan.n)
		recording_write_notice(&s->r, "nothing-matched",
				       "-F matches no function of any program that ran; run ispot "
				       "check to list what a program has");
	session_report_late(&s->select, &s->r);
	session_report_no_keys(&s->r);
	session_hold_end(&s->holds, &s->r);
	session_follow_end(&s->follow, &s->r);
	note_given_up(s);
	session_warn_cost(&s->overhead, &s->r, s->r.start_ns + duration_ns, true);
	fill_result(s, duration_ns, result);
	closed = close_file(s, result, ret ? NULL : err);
	patience_set(PATIENCE_FULL);
	session_report_descriptors(ret, err);
	return ret ? ret : closed;
}

void session_choice(struct session *s, struct session_choice *choice)
{
	if (s->r.is_hybrid)
		session_hybrid_choice(&s->hybrid, &s->r, choice);
}

void session_choice_release(struct session_choice *choice)
{
	vec_for_each (&choice->patterns, const char *, pattern)
		free((char *)*pattern);
	vec_for_each (&choice->left_out, struct meta_not_traced, n) {
		free((char *)n->name);
		free((char *)n->object);
		free((char *)n->reason);
	}
	vec_release(&choice->patterns);
	vec_release(&choice->shares);
	vec_release(&choice->left_out);
}
