/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/version.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "probes/drain/keep.h"
#include "probes/kernel/bpfprog.h"
#include "probes/kernel/dynevent_session.h"
#include "probes/kernel/version.h"
#include "probes/place/returns.h"
#include "probes/process/child.h"
#include "probes/process/mark.h"
#include "probes/process/translator.h"
#include "probes/recording/cycles.h"
#include "probes/recording/mappings.h"
#include "probes/recording/meta.h"
#include "probes/select/pattern.h"
#include "probes/session/internal.h"
#include "probes/session/session.h"
#include "probes/session/set.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "trace/write/writer.h"

#define STACK_PERIOD 10000 /* calls of a function on a CPU between two stacks: the paper's N */

/* Returns the size of a ring. 8 MiB hold 0.1 s of a CPU that only hits probes. Many CPUs share 256
 * MiB. */
static size_t default_ring_bytes(uint32_t cpus)
{
	size_t bytes = 8u << 20;

	while (bytes > 512u << 10 && bytes * cpus > 256u << 20)
		bytes /= 2;
	return bytes;
}

/* Raises the limit of descriptors as far as the system allows: carriers need one for each thread
 * and event. */
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
static int block_signals(struct session *s, struct err *err)
{
	sigset_t set;

	ending_block_signals(&set);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 ? err_set(err, -errno, "cannot take signals: %s; raise ulimit -n",
					  strerror(errno))
				: 0;
}

/* Returns whether uprobe sessions may be used. A session belongs to one process, so no other
 * process of the program may run. */
static bool wants_sessions(const struct session *s)
{
#ifdef __x86_64__
	return s->r.kernel_version >= KERNEL_VERSION(6, 13, 0) && s->r.options->period > 1 &&
	       s->r.options->n_pids <= 1 && (!s->r.options->inherit || !s->r.objects.traits.forks);
#else
	(void)s;
	return false;
#endif
}

static uint32_t stack_period(const struct session *s)
{
	if (s->r.options->call_graph == CALL_GRAPH_NONE)
		return 0;
	return s->r.options->stack_period ? s->r.options->stack_period : STACK_PERIOD;
}

static int open_kernel_side(struct session *s, struct err *err)
{
	size_t ring_bytes =
		ringbuf_bytes(s->r.options->ring_bytes ? s->r.options->ring_bytes
						       : default_ring_bytes(s->r.cpus.n));
	struct bpfprog_options o = {
		.period = s->r.options->period,
		.block_stacks = s->r.options->call_graph != CALL_GRAPH_NONE,
		.wait_copies = s->r.options->call_graph == CALL_GRAPH_DWARF,
		.stack_period = stack_period(s),
		.copy_bytes = s->r.options->call_graph == CALL_GRAPH_DWARF ? STACK_COPY_BYTES : 0,
		.stack_budget = ring_bytes / 16,
		.slow_stack_ns = s->r.options->slow_stack_ns,
		.follow_children = s->r.options->inherit,
		.kernel_version = s->r.kernel_version,
		.ring_bytes = ring_bytes,
		.sessions = wants_sessions(s),
		.stamp_cycles = s->r.options->stamp_cycles,
	};
	int ret;

	ret = recorded_counters_open(&s->counters, &s->r, err);
	o.counters = recorded_counters_plan(&s->counters);
	if (!ret && s->r.options->stamp_cycles)
		ret = cycles_open(&s->cycles, &s->r.cpus, err);
	if (!ret)
		ret = dynevent_session_open(&s->r.dynevents, err);
	if (!ret)
		ret = bpfprog_open(&s->r.programs, &o, err);
	if (!ret)
		ret = ringbufs_open(&s->r.rings, s->r.programs, &s->r.cpus, ring_bytes, err);
	if (!ret)
		ret = recorded_counters_connect(&s->counters, &s->r, err);
	if (!ret)
		ret = cycles_connect(&s->cycles, &s->r.cpus, s->r.programs, err);
	return ret;
}

static int check_pids(const struct session_options *o, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < o->n_pids; i++) {
		if (!target_alive(o->pids[i]))
			return err_set(err, -ESRCH, "there is no process %d; see ps or pgrep",
				       o->pids[i]);
		if (!target_has_program(o->pids[i]))
			return err_set(err, -ENOEXEC,
				       "process %d is a thread of the kernel; give a program's",
				       o->pids[i]);
		if (process_is_patched(o->pids[i]))
			return err_set(
				err, -EBUSY,
				"the code of process %d is patched by ispot record --engine "
				"in-process, where the kernel's probes would break it; end that "
				"recording, or if it was killed record the process so once more",
				o->pids[i]);
		ret = translator_refuse_process(o->pids[i], err);
	}
	return ret;
}

static int open_writer(struct session *s, struct err *err)
{
	struct trace_writer_options o = {
		.path = s->r.options->output,
		.n_cpus = s->r.cpus.n_possible + (s->r.options->beside ? 1 : 0),
		.max_bytes = s->r.options->max_bytes,
		.live = s->r.options->live,
	};

	return trace_writer_open(&s->r.writer, &o, err);
}

/* Tells each part which others it asks. A part knows no more of them than their functions. */
static void connect_parts(struct session *s)
{
	s->after = (struct after){ .costs = &s->costs, .cputime = &s->cputime };
	s->attach = (struct attach){ .follow = &s->follow, .holds = &s->holds };
	s->follow = (struct follow){ .costs = &s->costs, .attach = &s->attach };
	s->holds = (struct holds){ .follow = &s->follow };
	s->burst = (struct burst){ .attach = &s->attach };
	s->beside = (struct beside){ .costs = &s->costs, .attach = &s->attach };
	s->newcomers = (struct newcomers){ .beside = &s->beside };
	s->select =
		(struct select){ .costs = &s->costs, .attach = &s->attach, .beside = &s->beside };
	s->sampling = (struct sampling){ .costs = &s->costs };
	s->budget = (struct budget){ .costs = &s->costs,
				     .cputime = &s->cputime,
				     .after = &s->after,
				     .follow = &s->follow,
				     .attach = &s->attach };
	s->count = (struct count){ .costs = &s->costs,
				   .after = &s->after,
				   .cputime = &s->cputime,
				   .attach = &s->attach,
				   .budget = &s->budget,
				   .beside = &s->beside };
	s->hybrid = (struct hybrid){ .costs = &s->costs,
				     .attach = &s->attach,
				     .beside = &s->beside,
				     .select = &s->select,
				     .stacks = &s->stacks,
				     .sampling = &s->sampling,
				     .count = &s->count,
				     .budget = &s->budget };
	s->governor = (struct governor){ .follow = &s->follow, .overhead = &s->overhead };
	s->overhead = (struct overhead){ .costs = &s->costs,
					 .cputime = &s->cputime,
					 .follow = &s->follow,
					 .after = &s->after,
					 .budget = &s->budget,
					 .beside = &s->beside,
					 .solo = &s->solo };
}

static struct session *new_session(const struct session_options *o)
{
	struct session *s = xcalloc(1, sizeof(*s));

	connect_parts(s);
	s->options = *o;
	s->r.options = &s->options;
	s->r.plan.no_key = (struct no_key){ o->no_key, o->n_no_key };
	s->signal_fd = -1;
	launch_inherit_save(&s->inherit);
	s->inherit.user = o->user;
	session_attach_init(&s->attach);
	s->inherit.output_is_ours = !o->live && !strcmp(o->output, "-");
	raise_descriptor_limit();
	s->r.launch.go_fd = s->r.launch.status_fd = -1;
	s->r.kernel_version = kernel_version_running();
	s->r.objects.dsos = dso_cache_new();
	spaces_init(&s->r.spaces, s->r.objects.dsos);
	s->reason = "command ended";
	costs_init(&s->costs, o);
	return s;
}

static void start_keep_slower(struct session *s)
{
	char words[160], time[TEXT_NUMBER];

	drain_keep_slower(&s->r.drain, s->r.options->keep_slower_ns);
	snprintf(
		words, sizeof(words),
		"calls shorter than %s left no records, only sums and a histogram: what they waited "
		"for is not known",
		text_time(time, s->r.options->keep_slower_ns));
	recording_note(&s->r, "keep-slower", words);
}

/* Writes the stamps' counter after the counted events: that is the id which the drain gives it. */
static void write_stamps(struct session *s)
{
	struct text line = { 0 };

	cycles_print(recorded_counters_plan(&s->counters).n, &line);
	recording_write_line(&s->r, &line);
}

/* Opens the file and writes its first lines and probes. */
static int begin_file(struct session *s, struct err *err)
{
	const struct bpfprog_counters counters = recorded_counters_plan(&s->counters);
	struct probeset *set;
	int ret = open_writer(s, err);

	if (ret)
		return ret;
	drain_init(&s->r.drain, s->r.writer, s->r.programs, s->r.cpus.n_possible);
	if (s->r.options->keep_slower_ns)
		start_keep_slower(s);
	s->r.drain.narrow_sp = s->r.options->beside != NULL;
	s->r.drain.n_counters = counters.n;
	s->r.drain.n_perf_counters = counters.n_perf;
	s->r.drain.stamps = s->r.options->stamp_cycles;
	if (s->r.options->call_graph == CALL_GRAPH_DWARF)
		drain_stacks_take_copies(&s->r.drain.stacks);
	s->cycles_per_ns = recording_cycles_per_ns();
	objects_write(&s->r, 0);
	recorded_counters_write(&s->counters, &s->r);
	if (s->r.options->stamp_cycles)
		write_stamps(s);
	session_write_left_out(&s->r);
	session_report_unselected(&s->select, &s->r);
	session_report_go(&s->r);
	return session_build_set(&s->r, &s->costs, 0, &set, err);
}

#define STEPS 6.0

static void step(struct session *s, unsigned step)
{
	progress_share(&s->progress, step / STEPS);
}

void session_report_descriptors(int code, struct err *err)
{
	struct rlimit limit = { 0 };

	if (code != -EMFILE)
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	err_set(err, code,
		"too few file descriptors: no more than %llu may be open; raise 'ulimit -Hn'",
		(unsigned long long)limit.rlim_cur);
}

/* Descriptors that a recording opens for a short time: pipes, /proc, the programs' files. */
#define SPARE_DESCRIPTORS 64

int session_need_descriptors(struct err *err)
{
	int fds[SPARE_DESCRIPTORS], n = 0, ret = 0;

	while (n < SPARE_DESCRIPTORS && !ret) {
		fds[n] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		ret = fds[n] < 0 ? -errno : 0;
		n += !ret;
	}
	while (n)
		close(fds[--n]);
	if (ret != -EMFILE) /* there is nothing to copy, which does not mean that there is room */
		return 0;
	session_report_descriptors(ret, err);
	return ret;
}

int session_open(struct session **out, const struct session_options *o, struct err *err)
{
	struct session *s = new_session(o);
	int ret;

	progress_init(&s->progress, "placing probes");
	ret = session_need_descriptors(err);
	if (!ret && (ret = cpus_read(&s->r.cpus)))
		err_set(err, ret, "cannot read the list of CPUs: %s; mount /sys", strerror(-ret));
	if (!ret)
		ret = patterns_parse(&s->r.patterns, o->patterns, o->n_patterns, err);
	if (!ret) {
		s->r.is_hybrid = !patterns_n(s->r.patterns);
		session_select_init(&s->select, &s->r);
	}
	if (!ret)
		ret = check_pids(o, err);
	if (!ret)
		ret = session_select(&s->select, &s->r, err);
	if (!ret)
		costs_read(&s->costs, &s->r);
	step(s, 1);
	if (!ret)
		ret = open_kernel_side(s, err);
	step(s, 2);
	if (!ret && s->r.is_hybrid)
		ret = session_hybrid_open(&s->hybrid, &s->r, err);
	if (!ret)
		session_sample_open(&s->sampling, &s->r);
	if (!ret)
		ret = block_signals(s, err);
	if (!ret && o->argv)
		ret = launch_start(&s->r.launch, o->argv, &s->inherit, err);
	if (!ret)
		ret = begin_file(s, err);
	step(s, 3);
	if (!ret)
		costs_calibrate(&s->costs, &s->r, "before", 1);
	step(s, 4);
	if (!ret && s->r.cpus.n > 1)
		costs_calibrate(&s->costs, &s->r, "before", s->r.cpus.n);
	if (!ret)
		costs_calibrate_after(&s->costs, &s->r);
	step(s, 5);
	if (ret) {
		session_report_descriptors(ret, err);
		progress_end(&s->progress);
		session_free(s);
		return ret;
	}
	costs_report(&s->costs, &s->r, 0);
	*out = s;
	return 0;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	solo_windows_release(&s->solo);
	mappings_unwatch(&s->r);
	if (s->r.is_hybrid)
		session_hybrid_release(&s->hybrid);
	session_sample_release(&s->sampling);
	session_close_sets(&s->attach, &s->r);
	vec_release(&s->r.sets);
	trace_writer_close(s->r.writer, NULL);
	drain_release(&s->r.drain);
	bpfprog_free(s->r.programs);
	recorded_counters_release(&s->counters);
	pmu_percpu_release(&s->cycles);
	ringbufs_release(&s->r.rings);
	dynevent_session_close(s->r.dynevents);
	session_attach_release(&s->attach);
	launch_release(&s->r.launch);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	launch_inherit_restore(&s->inherit);
	plan_release(&s->r.plan);
	session_select_release(&s->select);
	patterns_free(s->r.patterns);
	session_budget_release(&s->budget);
	session_newcomers_release(&s->newcomers);
	session_holds_release(&s->holds);
	costs_release(&s->costs);
	text_release(&s->r.pending);
	stacks_release(&s->stacks);
	addresses_release(&s->addresses);
	spaces_release(&s->r.spaces);
	objects_release(&s->r.objects);
	free(s);
}
