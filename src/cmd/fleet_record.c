/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of this machine: how long the calls of one function or marker take, as `ispot record` in
 * a process of its own sees them, beside who has the CPUs meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/fleet_live.h"
#include "analysis/result.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "fleet_verbs.h"
#include "pmu/event.h"
#include "pmu/perf_event.h"
#include "probes/application.h"
#include "probes/occupancy.h"
#include "trace/fleet_file.h"
#include "trace/meta.h"
#include "trace/reader.h"

#define DRAIN_NS 20000000ull

struct recorder {
	const struct fleet_args *args;
	char **command;
	struct applications apps;
	struct occupancy occupancy;
	struct fleet_live live;
	struct fleet_header header;
	struct fleet_writer file;
	struct fleet_block block;
	const struct meta *meta; /* of the trace being read */
	uint32_t function;	 /* id of the one that calls are of; UINT32_MAX: none yet */
	bool several;
	uint64_t on_ns, period_ns; /* of the duty cycle; 0: one window */
	sigset_t ends;		   /* signals that end the recording */
	bool interrupted;	   /* by one of them */
	uint64_t sequence, samples, wall_ns, own_ns;
	uint64_t lost;
	bool cut;   /* a window had more context switches or calls than are kept */
	int status; /* of the latest ispot record */
};

/* ---- who has the CPUs ---- */

static void on_ran(void *self, uint32_t cpu, pid_t pid, uint64_t start_ns, uint64_t end_ns)
{
	struct recorder *r = self;

	fleet_live_ran(&r->live, &(struct fleet_span){ cpu, application_of(&r->apps, pid), 0,
						       start_ns, end_ns });
}

static void on_begin(void *self, pid_t pid)
{
	application_forget(&((struct recorder *)self)->apps, pid);
}

static void drain(struct recorder *r)
{
	const struct occupancy_visitor v = { r, on_ran, on_begin };

	occupancy_read(&r->occupancy, &v);
}

/* The last time. A program that computes all the while is switched in once, and never out. */
static uint64_t drain_all(struct recorder *r)
{
	const struct occupancy_visitor v = { r, on_ran, on_begin };
	uint64_t now_ns;

	drain(r);
	now_ns = clock_now_ns();
	occupancy_end(&r->occupancy, now_ns, &v);
	return now_ns;
}

/* ---- how long calls take ---- */

struct words {
	VEC(char *)
};

static void add_option(struct words *w, const char *option, const char *value)
{
	if (!value)
		return;
	*vec_add(w) = xstrdup(option);
	*vec_add(w) = xstrdup(value);
}

static void record_words(const struct recorder *r, const char *trace, struct words *w)
{
	uint64_t window_ns = r->on_ns ? r->on_ns : r->args->duration_ns;
	char *duration = window_ns ? xasprintf("%" PRIu64 "ns", window_ns) : NULL;

	*vec_add(w) = xstrdup("ispot");
	*vec_add(w) = xstrdup("record");
	*vec_add(w) = xstrdup("-q");
	add_option(w, "-o", trace);
	vec_for_each (&r->args->functions, const char *const, pattern)
		add_option(w, "-F", *pattern);
	add_option(w, "-p", r->args->pid);
	add_option(w, "-d", duration);
	if (*r->command)
		*vec_add(w) = xstrdup("--");
	for (char **word = r->command; *word; word++)
		*vec_add(w) = xstrdup(*word);
	vec_add(w);
	free(duration);
}

/* With the signals as they were before ours were blocked. */
static int spawn(const struct words *words, pid_t *pid)
{
	extern char **environ;
	posix_spawnattr_t attr;
	sigset_t none;
	int rc = posix_spawnattr_init(&attr);

	if (rc)
		return rc;
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawn(pid, "/proc/self/exe", NULL, &attr, words->data, environ);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/* Signals are for ispot record (pid, 0: there is none): what it has recorded by then counts. From
 * the terminal it has got them as well. */
static void wait_turn(struct recorder *r, uint64_t ns, pid_t pid)
{
	const struct timespec turn = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	siginfo_t info;
	int number = sigtimedwait(&r->ends, &info, &turn);

	if (number < 0)
		return;
	r->interrupted = true;
	if (pid && info.si_code != SI_KERNEL)
		kill(pid, number);
}

static int run_record(struct recorder *r, const char *trace, struct err *err)
{
	struct words words = { 0 };
	pid_t pid, ended = 0;
	int rc, status = 0;

	record_words(r, trace, &words);
	rc = spawn(&words, &pid);
	vec_for_each (&words, char *, word)
		free(*word);
	vec_release(&words);
	if (rc)
		return err_set(err, -rc, "ispot record cannot be started: %s", strerror(rc));
	while (!ended || (ended < 0 && errno == EINTR)) {
		wait_turn(r, DRAIN_NS, pid);
		drain(r);
		ended = waitpid(pid, &status, WNOHANG);
	}
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (r->status >= 125 && r->status <= 127) {
		if (err)
			err->exit_status = r->status;
		return err_set(err, -ECHILD, "nothing was recorded; ispot record has said why");
	}
	return 0;
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	struct recorder *r = self;

	if (c->end != CALL_TIMED || c->recursive)
		return;
	r->several = r->several || (r->function != UINT32_MAX && r->function != c->id);
	r->function = c->id;
	fleet_live_took(&r->live, &(struct fleet_span){ c->entry_cpu,
							application_of(&r->apps, (pid_t)t->tgid),
							t->tid, c->entry_ns, c->exit_ns });
}

static void name_indicator(struct recorder *r)
{
	for (uint32_t i = 0; i < r->meta->functions.n; i++)
		if (r->meta->functions.data[i].id == r->function)
			snprintf(r->header.indicator, sizeof(r->header.indicator), "duration of %s",
				 r->meta->functions.data[i].name);
}

static int read_calls(struct recorder *r, const char *trace, struct err *err)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct call_visitor v = { .self = r, .call = on_call };
	struct trace_reader *reader = NULL;
	struct calls calls;
	int rc = trace_reader_open(&reader, trace, err);

	if (rc)
		return rc;
	r->meta = trace_reader_meta(reader);
	r->function = UINT32_MAX;
	rc = result_scan(&calls, reader, &o, &v, err);
	if (!rc && r->several)
		rc = err_set(err, -EINVAL,
			     "-F matches several functions; the indicator is the duration of one, "
			     "so name it alone");
	if (!rc && r->function != UINT32_MAX)
		name_indicator(r);
	trace_reader_free(reader);
	return rc;
}

/* ---- the file ---- */

static int describe_machine(struct recorder *r, struct err *err)
{
	struct fleet_header *h = &r->header;
	int rc = topology_read(&h->topology);

	if (rc)
		return err_set(err, rc, "the machine's CPUs: %s; is /sys mounted?", strerror(-rc));
	if (gethostname(h->machine, sizeof(h->machine) - 1) || !*h->machine)
		snprintf(h->machine, sizeof(h->machine), "localhost");
	if (getrandom(&h->id, sizeof(h->id), 0) != sizeof(h->id))
		h->id = clock_now_ns();
	topology_type(&h->topology, h->type, sizeof(h->type));
	snprintf(h->unit, sizeof(h->unit), "ns");
	snprintf(h->by, sizeof(h->by), "%s", application_by_names[r->apps.by]);
	return 0;
}

/* From CLOCK_MONOTONIC to real time. */
static int64_t clock_offset(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec - (int64_t)clock_now_ns();
}

static int write_blocks(struct recorder *r, uint64_t from_ns, uint64_t to_ns, struct err *err)
{
	int64_t offset_ns = clock_offset();
	int rc = 0;

	r->live.apps = &r->apps.names;
	fleet_live_begin(&r->live);
	while (!rc && from_ns < to_ns) {
		from_ns = fleet_live_block(&r->live, r->sequence, from_ns, to_ns, offset_ns,
					   &r->block);
		if (!r->block.samples.n)
			continue;
		r->sequence++;
		r->samples += r->block.samples.n;
		rc = fleet_writer_block(&r->file, &r->block, err);
	}
	return rc;
}

/* What was measured is known with the first calls, so the file is made then. */
static int open_file(struct recorder *r, struct err *err)
{
	int rc = r->file.file ? 0 : describe_machine(r, err);

	if (rc || r->file.file)
		return rc;
	return fleet_writer_open(&r->file, r->args->output ? r->args->output : "ispot.fleet",
				 &r->header, err);
}

/* ---- all ---- */

static uint64_t own_cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void say_done(const struct recorder *r, const struct cpus *cpus)
{
	char samples[TEXT_COUNTED], apps[TEXT_COUNTED];

	log_notice("%s of %s; %s were seen; to watch the CPUs took %.2f %% of their time",
		   text_counted(samples, r->samples, "sample"), r->header.indicator,
		   text_counted(apps, r->apps.names.n, "application"),
		   100.0 * (double)r->own_ns / ((double)r->wall_ns * cpus->n));
	if (r->live.left_out)
		log_notice("%s more crossed the border of two blocks, or went on: left out",
			   text_counted(samples, r->live.left_out, "call"));
	if (r->lost)
		log_notice("%" PRIu64 " records of context switches were lost: who ran then is not "
			   "known",
			   r->lost);
	if (r->cut)
		log_notice("more calls or context switches than are kept of one recording: it "
			   "ends there; record for a shorter time with -d or --duty");
}

static void forget_window(struct recorder *r)
{
	r->lost += r->occupancy.lost;
	r->cut = r->cut || r->live.full_ns;
	fleet_live_clear(&r->live);
	occupancy_release(&r->occupancy);
}

/* Watches the CPUs and one ispot record from its start to its end. */
static int record_window(struct recorder *r, const struct cpus *cpus, const char *trace,
			 struct err *err)
{
	uint64_t from_ns = clock_now_ns(), to_ns;
	int rc = occupancy_open(&r->occupancy, cpus, err);

	if (!rc)
		rc = run_record(r, trace, err);
	to_ns = rc ? 0 : drain_all(r);
	if (!rc)
		rc = read_calls(r, trace, err);
	unlink(trace); /* the next window's would keep it as .old */
	if (!rc && r->live.measures.n)
		rc = open_file(r, err);
	if (!rc && r->live.measures.n)
		rc = write_blocks(r, from_ns, to_ns, err);
	forget_window(r);
	return rc;
}

static bool is_gone(const struct recorder *r)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s", r->args->pid);
	return access(path, F_OK);
}

/* Windows of on_ns each period_ns, for the duration; one window without a duty cycle. */
static int record_windows(struct recorder *r, const struct cpus *cpus, const char *trace,
			  struct err *err)
{
	uint64_t end_ns = clock_now_ns() + r->args->duration_ns, next_ns = clock_now_ns(), now_ns;
	int rc;

	do {
		now_ns = clock_now_ns();
		if (now_ns < next_ns)
			wait_turn(r, next_ns - now_ns, 0);
		if (r->interrupted || (r->file.file && is_gone(r)))
			return 0;
		rc = record_window(r, cpus, trace, err);
		next_ns += r->period_ns;
	} while (!rc && r->period_ns && next_ns < end_ns);
	return rc;
}

static int record_to(struct recorder *r, const char *trace, const struct cpus *cpus,
		     struct err *err)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	uint64_t start_ns = clock_now_ns(), cpu_ns = own_cpu_ns();
	struct sigaction action;
	sigset_t before;
	int rc, closed;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!sigaction(ends[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&r->ends, ends[i]);
	sigprocmask(SIG_BLOCK, &r->ends, &before);
	rc = record_windows(r, cpus, trace, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!rc && !r->file.file)
		rc = err_set(err, -ENODATA,
			     "no call of it ended; is it one that the application makes?");
	closed = fleet_writer_close(&r->file, err);
	rc = rc ? rc : closed;
	r->wall_ns = clock_now_ns() - start_ns;
	r->own_ns = own_cpu_ns() - cpu_ns;
	if (!rc)
		say_done(r, cpus);
	return rc;
}

/* In a directory of its own: root writes to no name that others can foresee. */
static int record(struct recorder *r, const struct cpus *cpus, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf("%s/ispot-fleet.XXXXXX", tmp && *tmp ? tmp : "/var/tmp"), *trace;
	int rc;

	if (!mkdtemp(dir)) {
		rc = err_set(err, -errno, "%s: %s; set TMPDIR to a directory with room", dir,
			     strerror(errno));
		free(dir);
		return rc;
	}
	trace = xasprintf("%s/ispot.data", dir);
	rc = record_to(r, trace, cpus, err);
	rmdir(dir);
	free(trace);
	free(dir);
	return rc;
}

/* Without -F the indicator is the IPC, which needs counters that virtual machines seldom have. */
static int refuse_ipc(struct err *err)
{
	struct pmu_event e;
	char why[256];
	int rc = pmu_event_parse(&e, "instructions", err);

	rc = rc ? rc : perf_event_try(&e);
	if (!rc)
		return err_set(err, -ENOSYS,
			       "IPC is not recorded yet; take the duration of a function or marker "
			       "as the indicator: -F marker:request");
	return err_set(err, -ENODEV,
		       "IPC cannot be measured: %s; take the duration of a function or marker as "
		       "the indicator: -F marker:request",
		       perf_event_why(&e, rc, why, sizeof(why)));
}

/* ON/PERIOD, two times. */
static int parse_duty(struct recorder *r, struct err *err)
{
	const struct fleet_args *a = r->args;
	const char *slash = a->duty ? strchr(a->duty, '/') : NULL;
	char *on = slash ? xstrndup(a->duty, (size_t)(slash - a->duty)) : NULL;
	bool wrong = a->duty && (!slash || text_parse_time(on, 1000000000, &r->on_ns) ||
				 text_parse_time(slash + 1, 1000000000, &r->period_ns) ||
				 !r->on_ns || r->on_ns >= r->period_ns);

	free(on);
	if (!wrong && (!a->duty || (a->pid && a->duration_ns)))
		return 0;
	return args_refuse(err, "--duty takes ON/PERIOD, two times such as 1s/10s, with a process "
				"(-p) and for how long (-d)");
}

int fleet_record(const struct fleet_args *a, char **words, struct err *err)
{
	struct recorder *r;
	struct cpus *cpus;
	int rc;

	if (!a->functions.n)
		return refuse_ipc(err);
	if (!*words == !a->pid)
		return args_refuse(err, "give a command behind --, or a process: -p PID");
	r = xcalloc(1, sizeof(*r));
	cpus = xcalloc(1, sizeof(*cpus));
	r->args = a;
	r->command = words;
	rc = applications_init(&r->apps, a->by, err);
	if (!rc)
		rc = parse_duty(r, err);
	if (!rc && cpus_read(cpus))
		rc = err_set(err, -EIO, "the machine's CPUs are not known; is /sys mounted?");
	if (!rc)
		rc = record(r, cpus, err);
	rc = rc ? rc : r->status;
	occupancy_release(&r->occupancy);
	applications_release(&r->apps);
	fleet_live_release(&r->live);
	fleet_block_release(&r->block);
	free(cpus);
	free(r);
	return rc;
}
