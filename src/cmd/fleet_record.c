/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of this machine into a file: one window (fleet_window.h), or several in a duty cycle. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analysis/fleet_live.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "fleet_verbs.h"
#include "fleet_window.h"
#include "pmu/event.h"
#include "pmu/perf_event.h"
#include "probes/application.h"
#include "trace/fleet_file.h"

struct recorder {
	const struct fleet_args *args;
	struct fleet_window window;
	struct fleet_header header;
	struct fleet_writer file;
	struct fleet_block block;
	uint64_t period_ns; /* of the duty cycle; 0: one window */
	uint64_t sequence, samples, wall_ns, own_ns;
};

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
	snprintf(h->indicator, sizeof(h->indicator), "%s", r->window.indicator);
	snprintf(h->unit, sizeof(h->unit), "ns");
	snprintf(h->by, sizeof(h->by), "%s", application_by_names[r->window.apps->by]);
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

	fleet_live_begin(r->window.live);
	while (!rc && from_ns < to_ns) {
		from_ns = fleet_live_block(r->window.live, r->sequence, from_ns, to_ns, offset_ns,
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
		   text_counted(apps, r->window.apps->names.n, "application"),
		   100.0 * (double)r->own_ns / ((double)r->wall_ns * cpus->n));
	if (r->window.live->left_out)
		log_notice("%s more crossed the border of two blocks, or went on: left out",
			   text_counted(samples, r->window.live->left_out, "call"));
	if (r->window.lost)
		log_notice("%" PRIu64 " records of context switches were lost: who ran then is not "
			   "known",
			   r->window.lost);
	if (r->window.cut)
		log_notice("more calls or context switches than are kept of one recording: it "
			   "ends there; record for a shorter time with -d or --duty");
}

static int record_window(struct recorder *r, const struct cpus *cpus, const char *trace,
			 struct err *err)
{
	int rc = fleet_window_watch(&r->window, cpus, trace, err);

	if (!rc && r->window.live->measures.n)
		rc = open_file(r, err);
	if (!rc && r->window.live->measures.n)
		rc = write_blocks(r, r->window.from_ns, r->window.to_ns, err);
	fleet_live_clear(r->window.live);
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
			fleet_window_wait(&r->window, next_ns - now_ns);
		if (r->window.interrupted || (r->file.file && is_gone(r)))
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
			sigaddset(&r->window.ends, ends[i]);
	sigprocmask(SIG_BLOCK, &r->window.ends, &before);
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
	bool wrong = a->duty && (!slash || text_parse_time(on, 1000000000, &r->window.on_ns) ||
				 text_parse_time(slash + 1, 1000000000, &r->period_ns) ||
				 !r->window.on_ns || r->window.on_ns >= r->period_ns);

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
	rc = fleet_window_init(&r->window, a, words, err);
	if (!rc)
		rc = parse_duty(r, err);
	if (!rc && cpus_read(cpus))
		rc = err_set(err, -EIO, "the machine's CPUs are not known; is /sys mounted?");
	if (!rc)
		rc = record(r, cpus, err);
	rc = rc ? rc : r->window.status;
	fleet_window_release(&r->window);
	fleet_block_release(&r->block);
	free(cpus);
	free(r);
	return rc;
}
