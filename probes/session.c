/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session.h"

#include <errno.h>
#include <linux/version.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "probes/bpf/wire.h"
#include "probes/bpfprog.h"
#include "probes/child.h"
#include "probes/drain_keep.h"
#include "probes/session_private.h"
#include "symbol/dso.h"
#include "trace/writer.h"

#define FLUSH_INTERVAL_NS 500000000ull /* the file is never older than a second (ispot.data(5)) */
#define LIVE_LAG_NS	  20000000ull  /* a probe's program may be interrupted before it writes */

unsigned session_kernel_version(void)
{
	unsigned major = 0, minor = 0, patch = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u.%u", &major, &minor, &patch);
	return KERNEL_VERSION(major, minor, patch > 255 ? 255 : patch);
}

/* 8 MiB hold 0.1 s of a CPU that does nothing but hit probes; many CPUs share 256 MiB. */
static size_t default_ring_bytes(uint32_t cpus)
{
	size_t bytes = 8u << 20;

	while (bytes > 512u << 10 && bytes * cpus > 256u << 20)
		bytes /= 2;
	return bytes;
}

/* Carriers need a descriptor per thread and event: take what the system allows. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit, more;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	more.rlim_cur = more.rlim_max = limit.rlim_max < 1u << 20 ? 1u << 20 : limit.rlim_max;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &more) && setrlimit(RLIMIT_NOFILE, &limit))
		log_detail("the descriptor limit stays: %s", strerror(errno));
}

/* Signals end the recording in order; SIGPIPE becomes the writer's EPIPE, SIGXFSZ its EFBIG. */
static int take_signals(struct session *s, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 ? err_set(err, -errno, "cannot take signals: %s", strerror(errno))
				: 0;
}

static int open_kernel_side(struct session *s, struct err *err)
{
	size_t ring_bytes = ringbuf_bytes(s->options.ring_bytes ? s->options.ring_bytes
								: default_ring_bytes(s->cpus.n));
	struct bpfprog_options o = {
		.period = s->options.period,
		.block_stacks = s->options.call_graph != CALL_GRAPH_NONE,
		.stack_period = s->options.call_graph != CALL_GRAPH_NONE ? STACK_PERIOD : 0,
		.copy_bytes = s->options.call_graph == CALL_GRAPH_DWARF ? STACK_COPY_BYTES : 0,
		.stack_budget = ring_bytes / 16,
		.follow_children = s->options.inherit,
		.kernel_version = s->kernel_version,
		.ring_bytes = ring_bytes,
	};
	int ret;

	ret = session_counters_open(s, err);
	o.counters = session_counters_plan(s);
	if (!ret)
		ret = dynevent_session_open(&s->dynevents, err);
	if (!ret)
		ret = bpfprog_open(&s->programs, &o, err);
	if (!ret)
		ret = ringbufs_open(&s->rings, s->programs, &s->cpus, ring_bytes, err);
	if (!ret)
		ret = session_counters_connect(s, err);
	return ret;
}

static int check_pids(const struct session_options *o, struct err *err)
{
	for (size_t i = 0; i < o->n_pids; i++) {
		if (!target_alive(o->pids[i]))
			return err_set(err, -ESRCH, "there is no process %d; see ps or pgrep",
				       o->pids[i]);
		if (!target_has_program(o->pids[i]))
			return err_set(err, -ENOEXEC,
				       "process %d is a thread of the kernel; give a program's",
				       o->pids[i]);
	}
	return 0;
}

static int open_writer(struct session *s, struct err *err)
{
	struct trace_writer_options o = {
		.path = s->options.output,
		.n_cpus = s->cpus.n_possible,
		.max_bytes = s->options.max_bytes,
		.live = s->options.live,
	};

	return trace_writer_open(&s->writer, &o, err);
}

static struct session *new_session(const struct session_options *o)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->options = *o;
	s->plan.no_key = (struct no_key){ o->no_key, o->n_no_key };
	s->signal_fd = -1;
	launch_inherit_save(&s->inherit);
	s->inherit.user = o->user;
	s->waiter = waiter_start();
	s->inherit.output_is_ours = !o->live && !strcmp(o->output, "-");
	raise_descriptor_limit();
	s->launch.go_fd = s->launch.status_fd = -1;
	s->kernel_version = session_kernel_version();
	s->dsos = dso_cache_new();
	spaces_init(&s->spaces, s->dsos);
	s->reason = "command ended";
	return s;
}

static void keep_slower(struct session *s)
{
	char words[160], time[TEXT_NUMBER];

	drain_keep_slower(&s->drain, s->options.keep_slower_ns);
	snprintf(
		words, sizeof(words),
		"calls shorter than %s left no records, only sums and a histogram: what they waited "
		"for is not known",
		text_time(time, s->options.keep_slower_ns));
	session_note(s, "keep-slower", words);
}

/* The file, and the first lines and probes in it. */
static int begin_file(struct session *s, struct err *err)
{
	struct probeset *set;
	int ret = open_writer(s, err);

	if (ret)
		return ret;
	drain_init(&s->drain, s->writer, s->programs, s->cpus.n_possible);
	if (s->options.keep_slower_ns)
		keep_slower(s);
	s->drain.n_counters = s->counters.list.n;
	s->drain.n_perf_counters = session_counters_plan(s).n_perf;
	if (s->options.call_graph == CALL_GRAPH_DWARF)
		drain_stacks_take_copies(&s->drain.stacks);
	s->cycles_per_ns = session_cycles_per_ns();
	session_write_objects(s, 0);
	session_counters_write(s);
	return session_build_set(s, 0, &set, err);
}

int session_open(struct session **out, const struct session_options *o, struct err *err)
{
	struct session *s = new_session(o);
	int ret;

	ret = cpus_read(&s->cpus);
	if (ret)
		err_set(err, ret, "cannot read the list of CPUs: %s", strerror(-ret));
	if (!ret)
		ret = patterns_parse(&s->patterns, o->patterns, o->n_patterns, err);
	if (!ret)
		s->is_hybrid = !patterns_n(s->patterns);
	if (!ret)
		ret = check_pids(o, err);
	if (!ret)
		ret = session_select(s, err);
	if (!ret)
		ret = open_kernel_side(s, err);
	if (!ret && s->is_hybrid)
		ret = session_hybrid_open(s, err);
	if (!ret)
		session_sample_open(s);
	if (!ret)
		ret = take_signals(s, err);
	if (!ret && o->argv)
		ret = launch_start(&s->launch, o->argv, &s->inherit, err);
	if (!ret)
		ret = begin_file(s, err);
	if (!ret)
		session_calibrate(s, "before", 1);
	if (!ret && s->cpus.n > 1)
		session_calibrate(s, "before", s->cpus.n);
	if (ret) {
		session_free(s);
		return ret;
	}
	session_tell_costs(s, 0);
	*out = s;
	return 0;
}

static void on_signal(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info))
		ending_signal(&s->ending, &s->launch, (int)info.ssi_signo, info.ssi_code);
}

/* Probes onto the processes; the launched command's records begin with its exec. */
static int start(struct session *s, struct err *err)
{
	const pid_t *pids = s->options.n_pids ? s->options.pids : &s->launch.pid;
	size_t n = s->options.n_pids ? s->options.n_pids : 1;
	int ret = 0;

	session_calibrate_switches(s, SWITCHES_ALONE);
	ret = bpfprog_attach_scheduler(s->programs, err);
	if (!ret) {
		session_calibrate_switches(s, SWITCHES_WATCHED);
		session_calibrate_switches(s, SWITCHES_CARRIED);
	}
	bpfprog_hold_children(s->programs, session_events_are_swapped(s));
	for (size_t i = 0; i < n && !ret; i++) {
		ret = bpfprog_add_target(s->programs, pids[i], 0);
		drain_add_target(&s->drain, pids[i]);
		if (ret)
			return err_set(err, ret, "cannot note process %d: %s", pids[i],
				       strerror(-ret));
	}
	bpfprog_totals(s->programs, UINT32_MAX, &s->totals_at_start);
	drain_start(&s->drain, &s->rings, clock_now_ns());
	bpfprog_forget_sampled(s->programs);
	if (!ret)
		ret = session_watch_mappings(s, err);
	for (size_t k = 0; k < s->sets.n; k++)
		for (size_t i = 0; i < n && !ret && session_is_on_targets(s, k); i++)
			ret = session_open_on_process(s, &s->sets.data[k], pids[i], err);
	if (ret)
		return ret;
	s->open_ns = clock_now_ns();
	s->hybrid.brake_since_ns = s->open_ns;
	s->delayed = s->options.delay_ns > 0;
	if (!s->delayed)
		session_begin(s);
	if (s->is_hybrid)
		session_hybrid_start(s);
	session_sample_start(s);
	on_signal(s); /* that came meanwhile: the command, not started yet, ends of it */
	return s->options.argv ? launch_exec(&s->launch, s->options.argv, err) : 0;
}

static bool any_target_alive(const struct session *s)
{
	struct pids pids = { 0 };
	bool any;

	bpfprog_targets(s->programs, &pids);
	any = pids.n > 0;
	vec_release(&pids);
	return any;
}

/* Why to stop now; NULL: go on. */
static const char *reason_to_stop(struct session *s)
{
	if (s->options.argv && launch_poll(&s->launch))
		return "command ended";
	if (ending_is_due(&s->ending, s->options.argv))
		return "interrupted";
	if (s->begun && s->options.duration_ns &&
	    clock_now_ns() - s->start_ns >= s->options.duration_ns)
		return "duration";
	if (s->options.n_pids && !any_target_alive(s))
		return "processes ended";
	return NULL;
}

static void wait_for_something(struct session *s, struct pollfd *fds, uint32_t n)
{
	int timeout_ms = session_keeps_budget(s) || s->is_hybrid ? session_hybrid_interval_ms(s)
								 : DRAIN_INTERVAL_MS;
	uint64_t elapsed = clock_now_ns() - s->open_ns,
		 end = s->options.duration_ns + s->options.delay_ns;

	if (s->options.duration_ns && elapsed < end &&
	    end - elapsed < DRAIN_INTERVAL_MS * 1000000ull)
		timeout_ms = (end - elapsed) / 1000000 + 1;
	timeout_ms = session_burst_timeout_ms(s, timeout_ms);
	if (poll(fds, n, timeout_ms) < 0 && errno != EINTR)
		log_detail("poll: %s", strerror(errno));
	ringbufs_heard(&s->rings);
}

static void begin_after_delay(struct session *s)
{
	if (!s->begun && clock_now_ns() - s->open_ns >= s->options.delay_ns)
		session_begin(s);
}

/* The file takes no more: the recording ends here, the target does not. */
static void end_by_writer(struct session *s)
{
	int ret = trace_writer_flush(s->writer, &s->write_error);

	s->reason = ret == -EFBIG		       ? "max-size"
		    : ret == -ENOSPC || ret == -EDQUOT ? "disk full"
						       : "write error";
}

/* What goes wrong while functions join costs their records, not the recording. */
static void join(struct session *s)
{
	struct err err = { 0 };
	int ret = s->drain.n_mappings || s->drain.mappings_overflowed ? session_join_mapped(s, &err)
								      : 0;

	if (!ret)
		ret = session_burst_step(s, &err);
	if (!ret)
		ret = session_follow_look(s, clock_now_ns(), &err);
	if (!ret)
		ret = session_brake(s, clock_now_ns(), &err);
	if (!ret && s->is_hybrid)
		ret = session_hybrid_step(s, &err);
	if (ret)
		session_write_notice(s, "join", err.text);
}

/* Who looks on must be able to name what the records name. */
static void show_drained(struct session *s, uint64_t drained_from_ns)
{
	if (!s->options.live || !s->begun || drained_from_ns - s->start_ns < LIVE_LAG_NS)
		return;
	session_write_stacks(s);
	s->options.drained(s->options.drained_ctx, drained_from_ns - LIVE_LAG_NS);
}

/* One turn of the loop; false: the recording is over. */
static bool turn(struct session *s)
{
	const char *reason = reason_to_stop(s);
	uint64_t began_ns = clock_now_ns();
	struct err err = { 0 };

	if (drain_run(&s->drain, &s->rings, &s->mappings)) {
		end_by_writer(s);
		return false;
	}
	if (session_hold_new(s, &err))
		session_write_notice(s, "join", err.text);
	session_add_stacks(s);
	session_add_addresses(s);
	if (reason) {
		s->reason = reason;
		return false;
	}
	show_drained(s, began_ns);
	join(s);
	session_warn_cost(s, false);
	if (clock_now_ns() - s->last_flush_ns < FLUSH_INTERVAL_NS)
		return true;
	s->last_flush_ns = clock_now_ns();
	if (trace_writer_flush(s->writer, NULL)) {
		end_by_writer(s);
		return false;
	}
	return true;
}

static void loop(struct session *s)
{
	struct pollfd fds[] = {
		{ .fd = s->rings.epoll_fd, .events = POLLIN },
		{ .fd = s->signal_fd, .events = POLLIN },
		{ .fd = s->launch.pid ? (int)syscall(SYS_pidfd_open, s->launch.pid, 0) : -1,
		  .events = POLLIN },
	};
	const uint32_t n = sizeof(fds) / sizeof(fds[0]);

	do {
		wait_for_something(s, fds, n);
		on_signal(s);
		begin_after_delay(s);
	} while (turn(s));
	if (fds[n - 1].fd >= 0)
		close(fds[n - 1].fd);
}

/* What the kernel has written is read and its losses placed before the calibration uses the rings
 * again. */
static void stop(struct session *s)
{
	bpfprog_record(s->programs, false);
	session_note_stop(s);
	bpfprog_keep_samples(s->programs, false);
	session_burst_stop(s);
	session_unwatch_mappings(s);
	if (s->is_hybrid)
		session_hybrid_stop(s);
	drain_run(&s->drain, &s->rings, &s->mappings);
	drain_finish(&s->drain, &s->rings, clock_now_ns());
	bpfprog_totals(s->programs, UINT32_MAX, &s->totals_at_stop);
	s->stopped = true;
	session_add_stacks(s);
	session_add_addresses(s);
	session_write_stacks(s);
	session_say_stacks(s);
	session_write_addresses(s);
	session_write_call_counts(s);
	session_calibrate(s, "after", s->cpus.n);
	session_calibrate_switches(s, SWITCHES_CARRIED); /* of all sets that joined */
	session_close_sets(s);
}

static void wait_for_signal(void *session)
{
	struct session *s = session;
	struct pollfd fd = { .fd = s->signal_fd, .events = POLLIN };

	poll(&fd, 1, 50);
	on_signal(s);
}

static void fill_result(struct session *s, uint64_t duration_ns, struct session_result *r)
{
	uint64_t written, left_out;

	/* What a full disk or the largest size kept out of the file is lost as well. */
	trace_writer_flush(s->writer, NULL);
	written = trace_writer_records(s->writer);
	left_out = 2 * keep_calls(s->drain.keep);
	*r = (struct session_result){
		.calls = s->drain.entries,
		.trapped_calls = session_trapped_calls(s),
		.records = written,
		.left_out_records = left_out,
		.lost_records =
			s->totals_at_stop.calls - s->totals_at_start.calls - written - left_out,
		.duration_ns = duration_ns,
		.recorder_cpu_ns = clock_cpu_ns(),
		.target_cpu_ns = session_recorded_cpu_ns(s),
		.counting_cost_ns = s->hybrid.counting_cost_ns,
		.scheduling_cost_ns = session_scheduling_cost_ns(s),
		.probes_cost_ns = session_probes_cost_ns(s),
		.functions = s->n_probed,
		.exit_status =
			s->launch.ended && !s->options.n_pids ? launch_exit_status(&s->launch) : 0,
		.interrupted = s->ending.signals > 0,
		.reason = s->reason,
	};
}

/* A full disk is no failure of the command: it is said, and what was written stays. */
static int close_file(struct session *s, struct session_result *result, struct err *err)
{
	int ret;

	session_write_end(s, result);
	trace_writer_flush(s->writer, NULL);
	result->file_bytes = trace_writer_bytes(s->writer);
	ret = trace_writer_close(s->writer, &s->write_error);
	s->writer = NULL;
	if (!ret && !s->write_error.code)
		return 0;
	result->cut_short = true;
	/* The largest size is an end that was asked for. */
	if (s->write_error.code == -EFBIG || (s->launch.pid && !s->options.n_pids)) {
		log_notice("%s", s->write_error.text);
		return 0;
	}
	if (err)
		*err = s->write_error;
	return s->write_error.code;
}

int session_run(struct session *s, struct session_result *result, struct err *err)
{
	uint64_t duration_ns;
	int ret = start(s, err), closed;

	if (!ret)
		loop(s);
	duration_ns = clock_now_ns() - s->start_ns;
	stop(s);
	/* As perf does it, so that `-d 10 ./server` returns. */
	ending_wait(&s->ending, &s->launch, !s->options.n_pids && !strcmp(s->reason, "duration"),
		    wait_for_signal, s);
	if (!s->is_hybrid && !s->n_probed)
		session_write_notice(s, "nothing-matched",
				     "-F matches no function of any program that ran; ispot check "
				     "lists what a program has");
	if (!s->is_hybrid && s->starts_others && s->n_probed)
		session_write_notice(
			s, "joined-late",
			"programs that the shell started are traced from a moment after "
			"their start; record the program itself to see its beginning");
	session_say_no_keys(s);
	session_hold_end(s);
	session_follow_end(s);
	session_warn_cost(s, true);
	fill_result(s, duration_ns, result);
	closed = close_file(s, result, ret ? NULL : err);
	return ret ? ret : closed;
}

void session_choice(struct session *s, struct session_choice *choice)
{
	if (s->is_hybrid)
		session_hybrid_choice(s, choice);
}

void session_choice_release(struct session_choice *choice)
{
	vec_for_each (&choice->patterns, const char *, pattern)
		free((char *)*pattern);
	vec_release(&choice->patterns);
	vec_release(&choice->shares);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	session_unwatch_mappings(s);
	if (s->is_hybrid)
		session_hybrid_release(s);
	session_sample_release(s);
	session_close_sets(s);
	vec_release(&s->sets);
	trace_writer_close(s->writer, NULL);
	drain_release(&s->drain);
	bpfprog_free(s->programs);
	pmu_percpu_release(&s->counters.events);
	ringbufs_release(&s->rings);
	dynevent_session_close(s->dynevents);
	waiter_end(s->waiter);
	launch_release(&s->launch);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	launch_inherit_restore(&s->inherit);
	plan_release(&s->plan);
	selection_release(&s->selection);
	patterns_free(s->patterns);
	vec_for_each (&s->objects, struct session_object, o)
		free(o->path);
	vec_release(&s->objects);
	map_release(&s->held);
	vec_release(&s->holdings);
	map_release(&s->watched);
	vec_release(&s->calibrations);
	session_stacks_release(s);
	session_addresses_release(s);
	spaces_release(&s->spaces);
	dso_cache_free(s->dsos);
	free(s->program);
	free(s);
}
