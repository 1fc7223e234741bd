/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/fleet/window.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/fleet/ipc.h"
#include "analysis/fleet/live.h"
#include "analysis/result/result.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/fleet/internal.h"
#include "probes/process/application.h"
#include "probes/process/target.h"
#include "probes/sample/ipc.h"
#include "probes/sample/occupancy.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"

#define DRAIN_NS 20000000ull
#define LOOK_NS	 1000000000ull

#define TRACE_BYTES_LEAST (1u << 18) /* even if the files of a directory are smaller */

/* ---- who has the CPUs ---- */

static void on_ran(void *self, uint32_t cpu, pid_t pid, uint64_t start_ns, uint64_t end_ns)
{
	struct fleet_window *w = self;

	fleet_live_ran(w->live, &(struct fleet_span){ .cpu = cpu,
						      .app = application_of(w->apps, pid),
						      .start_ns = start_ns,
						      .end_ns = end_ns });
}

static void on_begin(void *self, pid_t pid)
{
	application_forget(((struct fleet_window *)self)->apps, pid);
}

static void drain(struct fleet_window *w)
{
	const struct occupancy_visitor v = { w, on_ran, on_begin };

	occupancy_read(w->occupancy, &v);
}

/* Ends the window. This also counts programs that have been running all the time: they were
 * switched in, but never out. */
uint64_t fleet_window_last(struct fleet_window *w)
{
	const struct occupancy_visitor v = { w, on_ran, on_begin };
	uint64_t now_ns;

	drain(w);
	now_ns = clock_now_ns();
	occupancy_end(w->occupancy, now_ns, &v);
	return now_ns;
}

/* ---- on which CPUs ---- */

static int open_events(struct fleet_window *w, struct err *err)
{
	int rc = cpus_read(w->cpus);

	if (rc)
		return err_set(err, rc, "the machine's CPUs are not known; is /sys mounted?");
	w->open = true;
	rc = occupancy_open(w->occupancy, w->cpus, err);
	return rc || !w->wanted.counters ? rc : ipc_open(w->ipc, w->cpus, w->args->period, err);
}

void fleet_window_pause(struct fleet_window *w)
{
	if (!w->open)
		return;
	w->open = false;
	occupancy_release(w->occupancy);
	ipc_release(w->ipc);
}

static void report_new_cpus(struct fleet_window *w, const struct cpus *before)
{
	for (uint32_t i = 0; i < w->cpus->n; i++) {
		if (cpus_has(before, w->cpus->online[i]))
			continue;
		w->came = true;
		log_notice("CPU %u came online while recording: it is watched since it was seen",
			   w->cpus->online[i]);
	}
}

int fleet_window_open(struct fleet_window *w, struct err *err)
{
	struct cpus before = *w->cpus;
	int rc = open_events(w, err);

	w->looked_ns = clock_now_ns();
	if (!rc)
		report_new_cpus(w, &before);
	return rc;
}

/* Opens all events again if CPUs came or went, because a CPU's events end with it. */
int fleet_window_look(struct fleet_window *w, struct err *err)
{
	uint64_t now_ns = clock_now_ns();
	struct cpus now;

	if (now_ns - w->looked_ns < LOOK_NS)
		return 0;
	w->looked_ns = now_ns;
	if (cpus_read(&now) || cpus_same(&now, w->cpus))
		return 0;
	fleet_window_last(w);
	fleet_window_pause(w);
	return fleet_window_open(w, err);
}

/* ---- counters ---- */

static void on_sample(void *self, const struct ipc_sample *s)
{
	struct fleet_window *w = self;
	struct fleet_ipc_sample *sample = vec_add(&w->samples->samples);

	sample->cpu = s->cpu;
	sample->app = application_of(w->apps, s->pid);
	sample->start_ns = s->start_ns;
	sample->end_ns = s->end_ns;
	fleet_wanted_values(&w->wanted, s, sample->values);
}

static void read_samples(struct fleet_window *w)
{
	fleet_wanted_numbers(&w->wanted, w->samples);
	fleet_ipc_deliver(w->samples, w->live);
	w->lost_samples = w->ipc->lost;
	w->throttled = w->ipc->throttled;
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

void fleet_window_alive(const struct fleet_args *a, struct text *pids)
{
	char *copy = xstrdup(a->pid), *rest = copy, *pid;

	while ((pid = strsep(&rest, ",")))
		if (target_alive(atoi(pid)))
			text_printf(pids, "%s%s", pids->n ? "," : "", pid);
	free(copy);
}

/* Returns the length of the list of processes that are alive. It is shorter when one has ended. */
static size_t alive_length(const struct fleet_window *w)
{
	struct text pids = { 0 };
	size_t length;

	if (w->args->pid)
		fleet_window_alive(w->args, &pids);
	length = pids.n;
	text_release(&pids);
	return length;
}

/* Adds the processes. In the first window these are all, so that a process that does not exist is
 * reported. */
static void add_pids(const struct fleet_window *w, struct words *words)
{
	struct text pids = { 0 };

	if (w->args->pid && *w->indicator)
		fleet_window_alive(w->args, &pids);
	add_option(words, "-p", pids.n ? pids.s : w->args->pid);
	text_release(&pids);
}

static void record_words(const struct fleet_window *w, const char *trace, struct words *words)
{
	uint64_t window_ns = w->on_ns ? w->on_ns : w->args->duration_ns;
	char *duration = window_ns ? xasprintf("%" PRIu64 "ns", window_ns) : NULL;
	uint64_t most =
		w->args->file_bytes > TRACE_BYTES_LEAST ? w->args->file_bytes : TRACE_BYTES_LEAST;
	char *bytes = w->args->dir ? xasprintf("%" PRIu64, most) : NULL;

	*vec_add(words) = xstrdup("ispot");
	*vec_add(words) = xstrdup("record");
	*vec_add(words) = xstrdup("-q");
	add_option(words, "-o", trace);
	vec_for_each (&w->args->functions, const char *const, pattern)
		add_option(words, "-F", *pattern);
	add_pids(w, words);
	add_option(words, "-d", duration);
	add_option(words, "--max-size", bytes);
	if (*w->command)
		*vec_add(words) = xstrdup("--");
	for (char **word = w->command; *word; word++)
		*vec_add(words) = xstrdup(*word);
	vec_add(words);
	free(bytes);
	free(duration);
}

int fleet_window_spawn(pid_t *pid, const char *program, char *const *words)
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
	rc = posix_spawnp(pid, program, NULL, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/*
 * Waits that long, and passes a signal on to ispot record (pid; 0: there is none), so that what it
 * has recorded until then counts. A signal from the terminal has reached it anyway.
 */
static void wait_turn(struct fleet_window *w, uint64_t ns, pid_t pid)
{
	const struct timespec turn = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	siginfo_t info;
	int number = sigtimedwait(&w->ends, &info, &turn);

	if (number < 0)
		return;
	w->interrupted = true;
	if (pid && info.si_code != SI_KERNEL)
		kill(pid, number);
}

void fleet_window_turn(struct fleet_window *w, uint64_t end_ns, pid_t pid)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns < end_ns)
		wait_turn(w, end_ns - now_ns < DRAIN_NS ? end_ns - now_ns : DRAIN_NS, pid);
	drain(w);
}

/*
 * Judges the exit status of ispot record. Returns 1 if one of the processes of a later window had
 * ended before ispot record attached to it: nothing was recorded, but nothing is wrong.
 */
static int judge(struct fleet_window *w, size_t alive, struct err *err)
{
	if (w->interrupted && w->args->pid) /* the signal may have come before it had begun */
		w->status = 0;
	if (w->status < 125 || w->status > 127)
		return 0;
	if (*w->indicator && alive_length(w) < alive) {
		w->status = 0;
		return 1;
	}
	if (err)
		err->exit_status = w->status;
	return err_set(err, -ECHILD, "nothing was recorded; ispot record has said why");
}

/* 1: as judge(). */
static int run_record(struct fleet_window *w, const char *trace, struct err *err)
{
	size_t alive = alive_length(w);
	struct words words = { 0 };
	pid_t pid, ended = 0;
	int rc, status = 0;

	record_words(w, trace, &words);
	rc = fleet_window_spawn(&pid, "/proc/self/exe", words.data);
	vec_for_each (&words, char *, word)
		free(*word);
	vec_release(&words);
	if (rc)
		return err_set(err, -rc, "ispot record cannot be started: %s; raise ulimit -u",
			       strerror(rc));
	while (!ended || (ended < 0 && errno == EINTR)) {
		fleet_window_turn(w, UINT64_MAX, pid);
		ipc_read(w->ipc, on_sample, w);
		if (!rc && (rc = fleet_window_look(w, err)))
			kill(pid, SIGINT);
		ended = waitpid(pid, &status, WNOHANG);
	}
	w->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return rc ? rc : judge(w, alive, err);
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	uint64_t took_ns = c->exit_ns - c->entry_ns;
	struct fleet_window *w = self;
	uint32_t number = fleet_wanted_find(&w->wanted, c->id);

	if (c->end != CALL_TIMED || c->recursive || number == UINT32_MAX)
		return;
	w->several = w->several || (w->function != UINT32_MAX && w->function != c->id);
	w->function = c->id;
	w->taken++;
	fleet_live_took(w->live,
			&(struct fleet_span){
				.cpu = c->entry_cpu,
				.app = application_of(w->apps, (pid_t)t->tgid),
				.tid = t->tid,
				.indicator = number,
				.value = took_ns < UINT32_MAX ? (uint32_t)took_ns : UINT32_MAX,
				.start_ns = c->entry_ns,
				.end_ns = c->exit_ns,
			});
}

/* Returns the time that the probes added to the calls. */
static double cost_of_probes(const struct meta *meta, uint64_t calls)
{
	double each_ns = 0;

	vec_for_each (&meta->calibrations, const struct meta_calibration, c)
		if (c->full_p50_ns > each_ns)
			each_ns = c->full_p50_ns;
	return each_ns * (double)calls;
}

static void name_indicator(struct fleet_window *w, const struct meta *meta)
{
	vec_for_each (&meta->functions, const struct meta_function, f)
		if (f->id == w->function)
			snprintf(w->indicator, sizeof(w->indicator), "duration of %s", f->name);
}

static int read_calls(struct fleet_window *w, const char *trace, struct err *err)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct call_visitor v = { .self = w, .call = on_call };
	struct trace_reader *reader = NULL;
	struct calls calls;
	uint64_t before = w->taken;
	int rc = trace_reader_open(&reader, trace, err);

	if (rc)
		return rc;
	w->function = UINT32_MAX;
	if (w->wanted.each)
		rc = fleet_wanted_functions(&w->wanted, trace_reader_meta(reader), err);
	rc = rc ? rc : result_scan(&calls, reader, &o, &v, err);
	if (!rc && w->several && !w->wanted.each)
		rc = err_set(err, -EINVAL,
			     "-F matches several functions; the indicator is the duration of one, "
			     "so name it alone");
	if (!rc && w->function != UINT32_MAX)
		name_indicator(w, trace_reader_meta(reader));
	w->cut |= !rc && !strcmp(trace_reader_meta(reader)->end.reason, "max-size");
	w->probes_ns += cost_of_probes(trace_reader_meta(reader), w->taken - before);
	trace_reader_free(reader);
	return rc;
}

/* ---- all ---- */

int fleet_window_init(struct fleet_window *w, const struct fleet_args *args, char **command,
		      struct err *err)
{
	w->args = args;
	w->command = command;
	w->apps = xcalloc(1, sizeof(*w->apps));
	w->live = xcalloc(1, sizeof(*w->live));
	w->occupancy = xcalloc(1, sizeof(*w->occupancy));
	w->ipc = xcalloc(1, sizeof(*w->ipc));
	w->cpus = xcalloc(1, sizeof(*w->cpus));
	w->samples = xcalloc(1, sizeof(*w->samples));
	w->live->apps = &w->apps->names;
	fleet_wanted_events(&w->wanted, w->ipc);
	if (cpus_read(w->cpus))
		return err_set(err, -EIO, "the machine's CPUs are not known; is /sys mounted?");
	return applications_init(w->apps, args->by, err);
}

int fleet_window_watch(struct fleet_window *w, const char *trace, struct err *err)
{
	int rc;

	w->from_ns = clock_now_ns();
	rc = fleet_window_open(w, err);
	if (!rc)
		rc = run_record(w, trace, err);
	w->to_ns = rc < 0 ? 0 : fleet_window_last(w);
	if (!rc && !(w->interrupted && access(trace, F_OK)))
		rc = read_calls(w, trace, err);
	if (w->wanted.counters)
		read_samples(w);
	unlink(trace); /* otherwise the next window would keep it as .old */
	w->lost = w->occupancy->lost;
	w->records = w->occupancy->records;
	w->cut = w->cut || w->live->full_ns;
	fleet_window_pause(w);
	return rc < 0 ? rc : 0;
}

void fleet_window_wait(struct fleet_window *w, uint64_t ns)
{
	wait_turn(w, ns, 0);
}

void fleet_window_release(struct fleet_window *w)
{
	if (w->apps)
		applications_release(w->apps);
	fleet_window_pause(w);
	if (w->live)
		fleet_live_release(w->live);
	if (w->samples)
		fleet_ipc_release(w->samples);
	fleet_wanted_release(&w->wanted);
	free(w->ipc);
	free(w->cpus);
	free(w->samples);
	free(w->apps);
	free(w->live);
	free(w->occupancy);
	*w = (struct fleet_window){ 0 };
}

static int start_command(struct fleet_window *w, struct err *err)
{
	int rc;

	if (!*w->command || w->child || w->ended)
		return 0;
	rc = fleet_window_spawn(&w->child, *w->command, w->command);
	if (!rc)
		return 0;
	w->child = 0;
	if (err)
		err->exit_status = rc == ENOENT ? 127 : 126;
	return err_set(err, -rc, "%s: %s; name a program that can be run", *w->command,
		       strerror(rc));
}

static void check_command(struct fleet_window *w)
{
	int status;

	if (!w->child || waitpid(w->child, &status, WNOHANG) != w->child)
		return;
	w->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	w->child = 0;
	w->ended = true;
}

int fleet_window_count(struct fleet_window *w, struct err *err)
{
	uint64_t end_ns;
	int rc = 0;

	w->from_ns = w->to_ns;
	if (!w->open) {
		w->from_ns = clock_now_ns();
		rc = fleet_window_open(w, err);
	}
	if (!rc)
		rc = start_command(w, err);
	snprintf(w->indicator, sizeof(w->indicator), "ipc");
	end_ns = w->from_ns + w->on_ns;
	while (!rc && !w->interrupted && !w->ended && clock_now_ns() < end_ns) {
		fleet_window_turn(w, end_ns, w->child);
		ipc_read(w->ipc, on_sample, w);
		check_command(w);
		rc = fleet_window_look(w, err);
	}
	if (rc)
		return rc;
	ipc_read(w->ipc, on_sample, w);
	w->to_ns = fleet_window_last(w);
	read_samples(w);
	w->lost = w->occupancy->lost;
	w->records = w->occupancy->records;
	w->taken = w->ipc->samples;
	return 0;
}
