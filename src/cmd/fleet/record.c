/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes samples of this machine into a file or a directory of files, from one window (window.h) or
 * several (pace.h). */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "analysis/fleet/live.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/temporary.h"
#include "base/text.h"
#include "analysis/fleet/ipc.h"
#include "cmd/fleet/pace.h"
#include "cmd/fleet/internal.h"
#include "cmd/fleet/sending.h"
#include "cmd/fleet/window.h"
#include "probes/process/application.h"
#include "probes/sample/ipc.h"
#include "trace/fleet/dir.h"
#include "trace/fleet/file.h"
#include "trace/fleet/spool.h"

/* A file in the spool is complete, so that collectors read it, after this time, or earlier if much
 * happens. */
#define SPOOL_FILE_NS 30000000000ull

/* If there are more, all are forgotten and read again. */
#define APPS_MAX      16384
#define PROCESSES_MAX 65536

struct recorder {
	const struct fleet_args *args;
	struct fleet_window window;
	struct fleet_header header;
	struct fleet_writer file;
	struct fleet_dir dir;
	struct fleet_spool spool;     /* --to DIR */
	struct fleet_sending sending; /* --to URL; engine NULL: nothing is sent, or not any more */
	struct fleet_block block;
	struct fleet_pace pace;
	bool counters; /* the indicators are of counters, not the durations of calls */
	bool described;
	uint64_t sequence, samples;
	uint32_t apps; /* lower bound of the number of applications seen */
};

/* ---- the file ---- */

static bool is_url(const char *to)
{
	return to && strstr(to, "://");
}

static int refuse_several(const struct recorder *r, struct err *err)
{
	return args_refuse(err,
			   "--to %s: servers have one indicator in a database; record "
			   "into files, and push each indicator of them",
			   r->args->to);
}

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
	fleet_wanted_describe(&r->window.wanted, r->window.indicator, h);
	if (is_url(r->args->to) && h->n_more) /* a pattern of -F matches several functions */
		return refuse_several(r, err);
	h->period = r->window.wanted.counters ? r->args->period : 0;
	snprintf(h->by, sizeof(h->by), "%s", application_by_names[r->window.apps->by]);
	return 0;
}

/* Returns what to add to CLOCK_MONOTONIC to get real time. */
static int64_t clock_offset(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec - (int64_t)clock_now_ns();
}

/* Reports the counts so far, when a file of a directory is full. */
static void report_progress(const struct recorder *r)
{
	char cost[FLEET_PACE_TEXT], samples[TEXT_COUNTED];

	log_notice("%s: file %" PRIu64 ": %s so far, and to watch the CPUs took %s", r->dir.path,
		   r->dir.next - 1, text_counted(samples, r->samples, "sample"),
		   fleet_pace_say(&r->pace, cost));
}

static bool is_spool(const struct fleet_args *a)
{
	return a->to && !is_url(a->to);
}

/* Returns whether there are files. What goes to a server is written into files, too, if the user
 * asks for them. */
static bool has_files(const struct fleet_args *a)
{
	return a->dir || a->output || !a->to;
}

/* Stops sending after an error, but goes on recording if there are files: they have everything and
 * can be pushed later, and what was sent before counts once. */
static int give_up_sending(struct recorder *r, int rc, struct err *why)
{
	if (!rc || !has_files(r->args))
		return rc;
	log_notice("%s; recording goes on without; push the files when the servers answer: what "
		   "they have counts once",
		   why->text);
	fleet_sending_close(&r->sending);
	*why = (struct err){ 0 };
	return 0;
}

static int send_block(struct recorder *r, struct err *err)
{
	return r->sending.engine
		       ? give_up_sending(
				 r, fleet_sending_block(&r->sending, &r->header, &r->block, err),
				 err)
		       : 0;
}

static int send_rest(struct recorder *r, struct err *err)
{
	return r->sending.engine ? give_up_sending(r, fleet_sending_flush(&r->sending, err), err)
				 : 0;
}

static int write_block(struct recorder *r, struct err *err)
{
	bool begun;
	int rc = send_block(r, err);

	if (rc || !has_files(r->args))
		return rc ? rc
		       : is_spool(r->args)
			       ? fleet_spool_block(&r->spool, &r->header, &r->block, err)
			       : 0;
	if (!r->args->dir)
		return fleet_writer_block(&r->file, &r->block, err);
	rc = fleet_dir_block(&r->dir, &r->header, &r->block, &begun, err);
	if (!rc && begun)
		report_progress(r);
	return rc;
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
		rc = write_block(r, err);
	}
	return rc;
}

static const char *output_of(const struct fleet_args *a)
{
	return a->output ? a->output : "ispot.fleet";
}

/* Makes the file. This waits for the first calls, because only they show what is measured. */
static int open_file(struct recorder *r, struct err *err)
{
	int rc = r->described ? 0 : describe_machine(r, err);

	if (rc || r->described)
		return rc;
	r->described = true;
	if (r->sending.engine)
		rc = give_up_sending(r, fleet_sending_begin(&r->sending, &r->header, err), err);
	if (rc || r->args->dir || !has_files(r->args))
		return rc;
	return fleet_writer_open(&r->file, output_of(r->args), &r->header, err);
}

/* ---- all ---- */

static void report_done(const struct recorder *r)
{
	char samples[TEXT_COUNTED], apps[TEXT_COUNTED], cost[FLEET_PACE_TEXT];
	struct text indicators = { 0 };

	for (uint32_t i = 0; i <= r->header.n_more; i++)
		text_printf(&indicators, "%s%s", i ? ", " : "",
			    fleet_header_indicator(&r->header, i).name);
	log_notice("%s of %s, %s were seen, and to watch the CPUs took %s",
		   text_counted(samples, r->samples, "sample"), indicators.s,
		   text_counted(apps, r->apps, "application"), fleet_pace_say(&r->pace, cost));
	text_release(&indicators);
	if (r->window.live->left_out)
		log_notice("%s more crossed the border of two blocks, or went on: left out",
			   text_counted(samples, r->window.live->left_out,
					r->counters ? "sample" : "call"));
	if (r->window.samples->mixed)
		log_notice("%s more were of several applications, or of idle CPUs: left out",
			   text_counted(samples, r->window.samples->mixed, "sample"));
	if (r->window.lost_samples)
		log_notice("%s were lost, because this process came too late for them",
			   text_counted(samples, r->window.lost_samples, "sample"));
	if (r->window.throttled)
		log_notice("%" PRIu64 " times the kernel stopped to count for a moment, because "
			   "samples took it too long: they are fewer, but true; give a longer "
			   "--period",
			   r->window.throttled);
	if (r->window.lost)
		log_notice("%" PRIu64 " records of context switches were lost: who ran then is not "
			   "known",
			   r->window.lost);
	if (r->window.cut)
		log_notice("more calls or context switches than are kept of one recording: it "
			   "ends there; record for a shorter time with %s",
			   r->args->dir ? "--duty, or give a larger --file-size" : "-d or --duty");
}

/* Forgets old applications, so that a recording without end does not grow without end. */
static void forget(struct recorder *r)
{
	if (r->window.apps->names.n > r->apps)
		r->apps = r->window.apps->names.n;
	if (r->window.apps->names.n > APPS_MAX || r->window.apps->by_pid.n > PROCESSES_MAX)
		applications_release(r->window.apps);
}

/*
 * Reads the topology of CPUs that came. A directory's next file has it; the header of a single file
 * was written before.
 */
static int read_topology(struct recorder *r, struct err *err)
{
	bool came = r->window.came;

	r->window.came = false;
	if (!came || !r->described || !topology_update(&r->header.topology, r->window.cpus))
		return 0;
	if (r->args->dir)
		return fleet_dir_end_file(&r->dir, err);
	if (is_spool(r->args))
		return fleet_spool_end_file(&r->spool, err);
	log_notice("the file does not say what CPUs share that came while recording: class other");
	return 0;
}

static int record_window(struct recorder *r, const char *trace, struct err *err)
{
	int rc = r->counters ? fleet_window_count(&r->window, err)
			     : fleet_window_watch(&r->window, trace, err);
	bool writes;

	rc = rc ? rc : read_topology(r, err);
	r->pace.watched_ns += rc ? 0 : r->window.to_ns - r->window.from_ns;
	r->pace.records = r->window.records;
	r->pace.samples = r->window.ipc->samples;
	r->pace.probes_ns = r->window.probes_ns;
	writes = !rc && r->window.live->measures.n && fleet_wanted_known(&r->window.wanted);
	if (writes)
		rc = open_file(r, err);
	if (writes && !rc)
		rc = write_blocks(r, r->window.from_ns, r->window.to_ns, err);
	rc = rc ? rc : send_rest(r, err);
	fleet_live_clear(r->window.live);
	forget(r);
	if (r->counters && (rc || !fleet_pace_is_steady(&r->pace)))
		fleet_window_pause(&r->window);
	fleet_pace_cpus(&r->pace, r->window.cpus->n);
	return rc;
}

/*
 * Returns whether the processes have ended before any call was seen. In this case ispot record has
 * reported that.
 */
static bool is_gone(const struct recorder *r)
{
	struct text pids = { 0 };
	bool none;

	if (!r->args->pid || !r->described)
		return r->window.ended;
	fleet_window_alive(r->args, &pids);
	none = !pids.n;
	text_release(&pids);
	return none;
}

/* Records one window, or with a pace one after the other until the end. */
static int record_windows(struct recorder *r, const char *trace, struct err *err)
{
	uint64_t end_ns = r->args->duration_ns ? clock_now_ns() + r->args->duration_ns : UINT64_MAX;
	uint64_t on_ns = r->pace.on_ns, next_ns = clock_now_ns(), now_ns;
	int rc;

	do {
		now_ns = clock_now_ns();
		next_ns = next_ns < end_ns ? next_ns : end_ns;
		if (now_ns < next_ns && !is_gone(r))
			fleet_window_wait(&r->window, next_ns - now_ns);
		now_ns = clock_now_ns();
		if (r->window.interrupted || is_gone(r) || now_ns >= end_ns)
			return 0;
		r->window.on_ns = on_ns && end_ns - now_ns < on_ns ? end_ns - now_ns : on_ns;
		rc = record_window(r, trace, err);
		next_ns = fleet_pace_next(&r->pace, now_ns, clock_now_ns());
	} while (!rc && on_ns);
	return rc;
}

static int record_to(struct recorder *r, const char *trace, struct err *err)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;
	sigset_t before;
	int rc, closed;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!sigaction(ends[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&r->window.ends, ends[i]);
	sigprocmask(SIG_BLOCK, &r->window.ends, &before);
	fleet_pace_begin(&r->pace, r->window.cpus->n, r->window.wanted.counters);
	rc = record_windows(r, trace, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!rc && !r->described)
		rc = err_set(err, -ENODATA, "%s",
			     r->counters ? "no CPU was busy for the length of a sample; ask for "
					   "shorter ones with --period"
					 : "no call of it ended; is it one that the application "
					   "makes?");
	closed = fleet_writer_close(&r->file, err);
	rc = rc ? rc : closed;
	if (!rc)
		report_done(r);
	closed = r->args->dir ? fleet_dir_close(&r->dir, err) : 0;
	return rc ? rc : closed;
}

/* Records into a directory. The file of ispot record is there, too, so that the next recorder finds
 * what a killed one has left. */
static int record_into(struct recorder *r, struct err *err)
{
	const struct fleet_args *a = r->args;
	char *trace = xasprintf("%s/window.data", a->dir);
	int rc = fleet_dir_open(&r->dir, a->dir, a->files, a->file_bytes, err);

	if (!rc) {
		unlink(trace);
		rc = record_to(r, trace, err);
		unlink(trace);
	}
	fleet_dir_close(&r->dir, NULL);
	free(trace);
	return rc;
}

/* Records into a temporary directory, because root must not write to a name that others can
 * foresee. */
static int record(struct recorder *r, struct err *err)
{
	char *dir, *trace;
	int rc = temporary_directory(&dir, "ispot-fleet", TEMPORARY_LARGE, err);

	if (rc)
		return rc;
	trace = xasprintf("%s/ispot.data", dir);
	rc = record_to(r, trace, err);
	free(trace);
	temporary_release(dir);
	return rc;
}

/* Records without a temporary directory: there is no file of ispot record, or the user has named
 * the directory. */
static int record_plain(struct recorder *r, struct err *err)
{
	return r->args->dir ? record_into(r, err) : record_to(r, NULL, err);
}

static int check(const struct fleet_args *a, char **words, struct err *err)
{
	bool counters = !a->functions.n;

	if (is_spool(a) && (a->dir || a->output))
		return args_refuse(err,
				   "--to %s names its files itself; give it without -o and "
				   "--dir",
				   a->to);
	if (a->to && !a->bucket_ns)
		return args_refuse(err, "--bucket 0: rows are of no time; give more, as 1h");
	if (a->dir && a->output)
		return args_refuse(err, "--dir names its files itself; give it or -o");
	if (counters && a->pid)
		return args_refuse(err, "without -F every application is sampled; -p is for the "
					"duration of a function: -F marker:request -p PID");
	if (!counters && !*words == !a->pid)
		return args_refuse(
			err, "nothing to record; give a command behind --, or a process: -p PID");
	if (a->dir && !counters && !a->pid)
		return args_refuse(err, "--dir records without end; with -F it needs a process: "
					"-p PID");
	if (a->dir && a->file_bytes < 4096)
		return args_refuse(
			err, "--file-size: a file is full after a block at least; give 4K or more");
	return 0;
}

/* Sets what is measured. Returns an error if this machine cannot measure it. */
static int choose(struct recorder *r, struct err *err)
{
	struct fleet_wanted *wanted = &r->window.wanted;
	int rc = fleet_wanted_init(wanted, r->args, err);
	struct ipc ipc = { 0 };

	if (rc)
		return rc;
	if (is_url(r->args->to) && (wanted->n > 1 || (wanted->each && r->args->functions.n > 1)))
		return refuse_several(r, err);
	fleet_wanted_events(wanted, &ipc);
	return wanted->counters ? ipc_try(&ipc, err) : 0;
}

int fleet_record(const struct fleet_args *a, char **words, struct err *err)
{
	struct recorder *r;
	int rc = check(a, words, err), closed;

	if (rc)
		return rc;
	r = xcalloc(1, sizeof(*r));
	r->args = a;
	r->dir.lock = r->spool.dir = -1;
	r->counters = !a->functions.n;
	rc = choose(r, err);
	if (!rc)
		rc = fleet_window_init(&r->window, a, words, err);
	if (!rc)
		rc = fleet_pace_init(&r->pace, a, r->counters, err);
	if (!rc && !a->dir && has_files(a))
		rc = output_try(output_of(a), err);
	if (!rc && is_spool(a))
		rc = fleet_spool_open(&r->spool, a->to, a->file_bytes, SPOOL_FILE_NS, err);
	else if (!rc && a->to)
		rc = fleet_sending_open(&r->sending, a, a->to, &r->window.interrupted, err);
	if (!rc)
		rc = a->dir || r->counters ? record_plain(r, err) : record(r, err);
	closed = fleet_spool_close(&r->spool, rc ? NULL : err);
	rc = rc ? rc : closed ? closed : r->window.status;
	fleet_sending_close(&r->sending);
	fleet_window_release(&r->window);
	fleet_block_release(&r->block);
	free(r);
	return rc;
}
