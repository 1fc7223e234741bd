// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/attach.h"
#include "probes/java/launch.h"
#include "probes/java/place.h"
#include "probes/java/record.h"

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
#include "pmu/group.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/lines.h"
#include "probes/inproc/records.h"
#include "probes/inproc/region.h"
#include "probes/java/counted.h"
#include "probes/java/pauses.h"
#include "probes/java/switches.h"
#include "probes/process/ending.h"
#include "probes/process/target.h"
#include "probes/recording/options.h"
#include "trace/meta/meta.h"
#include "trace/write/writer.h"

#define TURN_NS	  5000000
#define BUSY_NS	  200000       /* if rings fill faster than in TURN_NS */
#define FLUSH_NS  100000000ull /* how much of the recording is lost at most if ispot is killed */
#define REST_RUNS 64 /* how often at most the rings are read at the end: 268 million records */

struct recording {
	const struct session_options *o;
	struct pmu_list counted; /* what calls count, perf events first */
	char *directory;
	struct trace_writer *writer;
	struct inproc_drain drain;
	struct java_pauses pauses;
	struct java_switches switches;
	struct err no_switches; /* why switches are not recorded; code 0: they are */
	struct launch launch;
	struct launch_inherit inherit;
	sigset_t ends; /* the signals that end a recording */
	struct ending ending;
	uint64_t start_ns, end_ns, flushed_ns;
	const char *reason;
};

/* ---- lines ---- */

static void report(struct recording *r, const char *code, const char *words)
{
	log_notice("%s", words);
	inproc_write_notice(r->writer, code, words);
}

static void write_session(struct recording *r)
{
	inproc_write_session(r->writer, &(struct meta_session){
						.ispot_version = r->o->version,
						.command = r->o->command,
						.program = "java",
						.pid = r->o->n_pids ? (uint64_t)r->o->pids[0]
								    : (uint64_t)r->launch.pid,
						.start_ns = r->start_ns,
						.producer = "java",
						.attached = r->o->n_pids > 0,
						.options = r->o->options,
					});
}

static void write_limits(struct recording *r)
{
	struct text words = { 0 };

	inproc_write_notice(r->writer, "java-limits",
			    "the agent's own cost is that in compiled code: methods that the "
			    "machine interprets, as it does at first, have more of it in their "
			    "durations");
	if (!r->no_switches.code)
		return;
	text_printf(&words,
		    "context switches are not recorded (%s), so of causes only contended monitors "
		    "and pauses of the machine are known",
		    r->no_switches.text);
	inproc_write_notice(r->writer, "java-switches", words.s);
	text_release(&words);
}

static void write_unnamed(struct recording *r)
{
	uint64_t n = inproc_drain_unnamed(&r->drain);
	char words[512], times[TEXT_COUNTED];

	if (!n)
		return;
	snprintf(words, sizeof(words),
		 "%s found no room to be told: more methods are left alone than are named; choose "
		 "fewer with -F",
		 text_counted(times, n, "word"));
	report(r, "java-unnamed", words);
}

/* Writes every reason to the file, and the reason of most methods to the terminal. */
static void write_left(struct recording *r)
{
	const struct inproc_left *most = NULL;
	char words[1024], of_most[1024] = "", methods[TEXT_COUNTED];
	uint64_t all = 0;

	vec_for_each (&r->drain.left, const struct inproc_left, l) {
		snprintf(words, sizeof(words), "%s left alone: %s (%.256s%s)",
			 text_counted(methods, l->n, "method"),
			 strtab_get(&r->drain.left_reasons, (uint32_t)(l - r->drain.left.data)),
			 l->first, l->n > 1 ? " and others" : "");
		inproc_write_notice(r->writer, "java-left", words);
		all += l->n;
		if (most && most->n >= l->n)
			continue;
		most = l;
		memcpy(of_most, words, sizeof(words));
	}
	if (most && all > most->n)
		log_notice("%s, and %llu more for other reasons; see ispot report -v for all",
			   of_most, (unsigned long long)(all - most->n));
	else if (most)
		log_notice("%s", of_most);
}

static void write_end(struct recording *r, struct session_result *result)
{
	uint64_t cost_ns = inproc_drain_cost_ns(&r->drain);
	uint64_t switches_ns = java_switches_cost_ns(&r->switches);
	const struct meta_end e = {
		.end_ns = r->end_ns,
		.made_records =
			r->drain.records + inproc_drain_left_out(&r->drain) + r->drain.lost_records,
		.lost_records = r->drain.lost_records,
		.target_cpu_ns = r->o->n_pids ? META_UNKNOWN : r->launch.cpu_ns,
		.scheduling_cost_ns = r->no_switches.code ? META_UNKNOWN : switches_ns,
		.probes_cost_ns = cost_ns == UINT64_MAX ? META_UNKNOWN : cost_ns + switches_ns,
		.exit_status = r->o->n_pids ? -1 : result->exit_status,
		.reason = r->reason,
	};

	write_limits(r);
	write_left(r);
	write_unnamed(r);
	inproc_write_end(r->writer, &e);
}

/* ---- the recording ---- */

static void wait_turn(void *recording)
{
	struct recording *r = recording;
	const struct timespec turn = { .tv_nsec = r->drain.busy ? BUSY_NS : TURN_NS };
	siginfo_t info;
	int number = sigtimedwait(&r->ends, &info, &turn);

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

static void on_pause(void *self, pid_t pid, uint64_t end_ns, uint64_t ns)
{
	inproc_drain_safepoint(&((struct recording *)self)->drain, pid, end_ns, ns);
}

static void drain(struct recording *r)
{
	uint64_t now = clock_now_ns();

	inproc_drain_run(&r->drain);
	java_switches_drain(&r->switches);
	if (now - r->flushed_ns < FLUSH_NS)
		return;
	r->flushed_ns = now;
	java_pauses_read(&r->pauses, on_pause, r);
	trace_writer_flush(r->writer, NULL);
}

/* Reads all that was in the rings when the machines were told to stop: that is less than REST_RUNS
 * runs read. The limit keeps a machine that goes on all the same from delaying the end forever. */
static void drain_rest(struct recording *r)
{
	inproc_drain_run(&r->drain);
	for (int i = 0; i < REST_RUNS && r->drain.behind && r->ending.signals < 2; i++)
		inproc_drain_run(&r->drain);
}

static void run(struct recording *r)
{
	while (!(r->reason = reason_to_stop(r))) {
		wait_turn(r);
		drain(r);
	}
	inproc_drain_stop(&r->drain);
	drain_rest(r);
	java_pauses_read(&r->pauses, on_pause, r);
	r->end_ns = clock_now_ns();
	inproc_drain_finish(&r->drain, r->end_ns);
	java_switches_end(&r->switches, r->end_ns);
}

static int watch(struct recording *r, pid_t pid, bool is_command, struct err *err)
{
	int ret = java_switches_watch(&r->switches, pid, is_command);

	return ret ? err_set(err, ret,
			     "cannot note process %d: %s; ispot list says what this machine can do",
			     pid, strerror(-ret))
		   : 0;
}

static int on_held(void *ctx, pid_t pid, struct err *err)
{
	return watch(ctx, pid, true, err);
}

/* Attaches to all machines or to none: if one refuses, the agents in those before it stop. */
static int attach_all(struct recording *r, struct err *err)
{
	int ret = 0;

	r->start_ns = clock_now_ns();
	for (size_t i = 0; !ret && i < r->o->n_pids; i++)
		ret = java_attach(r->o->pids[i], r->directory, &r->ends, err);
	for (size_t i = 0; !ret && i < r->o->n_pids; i++)
		ret = watch(r, r->o->pids[i], false, err);
	if (ret) {
		inproc_find_regions(&r->drain);
		inproc_drain_stop(&r->drain);
	}
	return ret;
}

static void report_torn(struct recording *r)
{
	char words[160];

	if (!r->drain.torn_regions)
		return;
	snprintf(
		words, sizeof(words),
		"%llu process%s took away the memory that it shares with ispot: what it did from then "
		"on is not recorded",
		(unsigned long long)r->drain.torn_regions, r->drain.torn_regions == 1 ? "" : "es");
	report(r, "java-torn", words);
}

/* Reports processes that could not be identified: their process numbers may be wrong. */
static void report_unchecked(struct recording *r)
{
	char words[200], machines[TEXT_COUNTED];

	if (!r->drain.unchecked_regions)
		return;
	snprintf(words, sizeof(words),
		 "%s could not be found among the processes here, as it had ended or hides in a "
		 "container: its process number is what it says itself",
		 text_counted(machines, r->drain.unchecked_regions, "Java machine"));
	report(r, "java-pid", words);
}

/* Reports threads that were not read because their user had too many. */
static void report_unread(struct recording *r)
{
	char words[160], threads[TEXT_COUNTED];

	if (!r->drain.unread_rings)
		return;
	snprintf(words, sizeof(words),
		 "%s were not recorded, as their user has more than ispot reads of one; record "
		 "fewer Java machines at once",
		 text_counted(threads, r->drain.unread_rings, "thread"));
	report(r, "java-threads", words);
}

/* Reports users who started more machines than are read of one user. */
static void report_full(struct recording *r)
{
	char words[200], users[TEXT_COUNTED];

	if (!r->drain.full_users)
		return;
	snprintf(
		words, sizeof(words),
		"%s started more Java machines than ispot reads of one (%d): of the others nothing "
		"is recorded; record fewer at once",
		text_counted(users, r->drain.full_users, "user"), INPROC_REGIONS_MAX);
	report(r, "java-machines", words);
}

static void log_pauses(struct recording *r, bool on)
{
	char words[256];

	for (size_t i = 0; i < r->o->n_pids; i++) {
		pid_t pid = r->o->pids[i];

		if (!target_alive(pid) || java_attach_log(pid, r->directory, &r->ends, on) || !on)
			continue;
		snprintf(words, sizeof(words),
			 "the Java machine of process %d logs no safepoints: of stops of all its "
			 "threads only those to collect garbage are known",
			 pid);
		report(r, "java-safepoints", words);
	}
}

static int record(struct recording *r, struct session_result *result, struct err *err)
{
	const struct java_launching how = {
		.inherit = &r->inherit, .start_ns = &r->start_ns, .held = on_held, .ctx = r
	};
	int ret;

	mem_reserve(ENDING_RESERVED_BYTES);
	ret = r->o->n_pids ? attach_all(r, err)
			   : java_launch(&r->launch, r->o, r->directory, &how, err);
	if (ret)
		return ret;
	write_session(r);
	java_counted_begin(&r->counted, &r->drain);
	if (r->o->keep_slower_ns)
		inproc_sum_up_shorter(&r->drain, r->o->keep_slower_ns);
	inproc_write_set(&r->drain, true, r->start_ns);
	log_pauses(r, true);
	run(r);
	log_pauses(r, false);
	if (r->o->argv)
		ending_wait(&r->ending, &r->launch, !strcmp(r->reason, "duration"), wait_turn, r);
	result->exit_status = r->o->argv && r->launch.ended ? launch_exit_status(&r->launch) : 0;
	result->reason = r->reason;
	if (!r->drain.regions.n)
		report(r, "java-none",
		       "no Java machine loaded the agent: the command ran none, or none that "
		       "can (Java 11 or later, of this machine's kind, not in another root or "
		       "container)");
	report_torn(r);
	report_unchecked(r);
	report_unread(r);
	report_full(r);
	write_end(r, result);
	return 0;
}

static void fill_result(struct recording *r, struct session_result *result)
{
	result->calls = r->drain.calls;
	result->lost_records = r->drain.lost_records;
	result->functions = r->drain.functions.n; /* with synchronized blocks */
	trace_writer_flush(r->writer, NULL);
	result->file_bytes = trace_writer_bytes(r->writer);
	if (!result->calls && r->drain.regions.n)
		log_notice("no calls were seen: %s",
			   r->o->n_patterns ? "no method that -F matches ran; give names as "
					      "com.example.Store.get, with * for anything"
					    : "no synchronized method of the program ran; name "
					      "others with -F");
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

/* If the kernel reports switches, the file has a stream for each CPU, then one for the machines'
 * rings. */
static void open_switches(struct recording *r)
{
	if (java_switches_open(&r->switches, &r->no_switches) && !geteuid())
		log_failure("context switches are not recorded", &r->no_switches);
}

static int open_file(struct recording *r, struct err *err)
{
	const uint32_t cpus = java_switches_cpus(&r->switches);
	const struct trace_writer_options wo = { .path = r->o->output,
						 .n_cpus = cpus + 1,
						 .max_bytes = r->o->max_bytes };
	int ret = trace_writer_open(&r->writer, &wo, err);

	inproc_drain_init(&r->drain, r->directory, java_place_ring_bytes(r->o), r->writer);
	r->drain.cpu = cpus;
	r->drain.kernel_has_ends = cpus > 0;
	java_pauses_init(&r->pauses, r->directory);
	if (!ret)
		java_switches_begin(&r->switches, r->writer);
	return ret;
}

int java_record(const struct session_options *o, struct session_result *result, struct err *err)
{
	struct recording r = { .o = o, .launch = { .go_fd = -1, .status_fd = -1 } };
	int ret = java_counted_choose(&r.counted, o->events, err), close_ret;

	*result = (struct session_result){ 0 };
	if (ret)
		return ret;
	ret = java_place_make(o, &r.counted, &r.directory, err);
	if (!ret) {
		open_switches(&r);
		ret = open_file(&r, err);
	}
	if (!ret) {
		prepare_signals(&r);
		ret = record(&r, result, err);
		fill_result(&r, result);
	}
	close_ret = trace_writer_close(r.writer, ret ? NULL : err);
	inproc_drain_release(&r.drain);
	java_pauses_release(&r.pauses);
	java_switches_release(&r.switches);
	launch_release(&r.launch);
	if (r.directory)
		java_place_remove(r.directory);
	free(r.directory);
	return ret ? ret : close_ret;
}
