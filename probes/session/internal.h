/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of a session, shared by the files of its folder and nobody else: for each file its
 * state and its functions, and at the end the session that holds them all.
 */
#ifndef ISPOT_PROBES_SESSION_INTERNAL_H
#define ISPOT_PROBES_SESSION_INTERNAL_H

#include "base/cpus.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "pmu/group.h"
#include "pmu/percpu.h"
#include "probes/cost/aftermath.h"
#include "probes/bpf/wire.h"
#include "probes/kernel/bpfprog.h"
#include "probes/drain/drain.h"
#include "probes/process/ending.h"
#include "probes/place/exitmech.h"
#include "probes/place/plan.h"
#include "probes/place/probeset.h"
#include "probes/sample/profile.h"
#include "probes/ring/ring.h"
#include "probes/ring/ringbuf.h"
#include "probes/sample/sample.h"
#include "probes/select/select.h"
#include "probes/process/solo.h"
#include "probes/process/spaces.h"
#include "probes/session/engine.h"
#include "probes/session/options.h"
#include "probes/cost/switchcost.h"
#include "probes/process/target.h"
#include "trace/meta/meta.h"

#define DRAIN_INTERVAL_MS 100
#define STACK_COPY_BYTES  8192
#define STACK_PERIOD	  10000 /* calls of a function on a CPU, for one stack: the paper's N */
#define COST_OF_COUNTING  0.5	/* of a traced call's: one trap instead of two, nothing written */
#define SAMPLE_HERTZ	  97 /* of every recording; no divisor of what programs do periodically */

struct session;

/* ---- open.c ---- */

/* Adds what to do about it to an error of something that had no descriptor left; no caller says it.
 */
void session_report_descriptors(int code, struct err *err);
/* -EMFILE: files that a running recording opens now and then would fail, in places silently. */
int session_need_descriptors(struct err *err);

/* ---- objects.c: the files whose functions may be traced ---- */

struct session_object {
	struct dso *dso;
	char *path; /* opens it from here, whatever mount namespace it was mapped in */
	bool executable;
};

void session_add_object(struct session *s, struct dso *dso, const char *path, bool executable);
/* Returns a path that opens the object's file from here. */
const char *session_path(const struct session *s, const struct dso *dso);
/* Returns the object's id in the file, or UINT32_MAX. */
uint32_t session_object_id(const struct session *s, const struct dso *dso);
/* Whether an object from this index on has markers. */
bool session_has_markers(const struct session *s, size_t first_object);
/* Writes the objects from this index on into the file. */
void session_write_objects(struct session *s, size_t first);

/* ---- select.c: which functions ---- */

/* Objects with functions that were mapped while it was recorded. */
struct late {
	uint64_t joined_ns; /* spent on reading what was mapped */
	bool waits;	    /* something was, which may not be read yet */
	unsigned objects;
	const char *path;    /* of the first of them */
	uint64_t most_ns;    /* from its mapping until its probes were in */
	bool unknown;	     /* of one of them that is not known */
	bool has_executable; /* one of them is a program */
};

int session_select(struct session *s, struct err *err);
/*
 * Puts probes on the chosen functions of objects that processes have mapped since the last look, in
 * a new set; a notice names those that cannot be traced.
 */
void session_join_mapped(struct session *s);
/* A notice where the begin of some such objects is missing. */
void session_report_late(struct session *s);
/* Whether a function of that name is one of options.regions. */
bool session_is_region(const struct session *s, const char *symbol);
/* A notice, at the end, about names of --no-key that meant nothing. */
void session_report_no_keys(struct session *s);

/* ---- set.c: sets of probes ---- */

/* The reasons of functions that are left out for their cost: before, and after they were traced. */
extern const char session_over_budget[], session_over_budget_traced[];
/*
 * Registers a set of the planned functions from index first on, and describes it in the file.
 * *set: NULL if it is empty.
 */
int session_build_set(struct session *s, size_t first, struct probeset **set, struct err *err);
/* Takes the probes of the touched sets (one flag each) out. */
void session_quiet_sets(struct session *s, const bool *touched);
/*
 * Builds the touched sets (one flag each) again, without the functions that are no longer possible.
 * All of them are quiet by then.
 */
int session_rebuild_sets(struct session *s, const bool *touched, struct err *err);
/* traced_until_ns: when the function's probes were taken out; 0: it had none. */
void session_describe_left_out(struct session *s, const struct planned *p,
			       uint64_t traced_until_ns);
/* The throttle took the function's probes out at the first time, and they were in again at the
 * second.
 */
void session_describe_again(struct session *s, const struct planned *p, uint64_t traced_until_ns,
			    uint64_t traced_again_ns);
struct meta_not_traced session_left_out(const struct planned *p); /* borrows the names */
/* Writes the functions that the first of two passes left out. */
void session_write_left_out(struct session *s);
/* For probeset_create: notes that the kernel took no probe there. ctx: the session */
void session_point_refused(void *ctx, uint32_t function_id, int errnum);

/* ---- beside.c: functions that are not timed by probes ---- */

struct beside {
	size_t n;   /* functions that are handed over */
	bool tried; /* to patch processes for them: that is done once */
	bool is_stopped;
};

/* Offers the planned functions from index first on. */
void session_beside_offer(struct session *s, size_t first);
/* Offers what does not fit into the budget. Returns how many of all stay with the kernel's probes,
 * which come first then. */
size_t session_beside_offer_dear(struct session *s, struct planned **all, size_t n);
void session_beside_begin(struct session *s);
/* Executes the command, with those of its functions patched that were handed over; or patches the
 * processes that run. */
int session_beside_launch(struct session *s, struct err *err);
int session_beside_attach(struct session *s, struct err *err);
/* Returns after how long it is to be called again. */
uint64_t session_beside_drain(struct session *s);
void session_beside_stop(struct session *s);
void session_beside_let_go(const struct session *s); /* while the command is waited for */
void session_beside_sums(const struct session *s, struct session_beside_sums *sums);

/* ---- cputime.c: the CPU time of the target ---- */

struct cputime {
	uint64_t at_begin_ns, at_stop_ns;	    /* the target's */
	struct cpus_time all_at_begin, all_at_stop; /* of all CPUs of the machine */
	double usable_cpus;			    /* at the last look; NAN: not known */
};

/* Of all its processes, also those that have ended. */
uint64_t session_target_cpu_ns(struct session *s);
/* Notes the time of each process for when it has ended; called as the recording begins. */
void session_note_cpu(struct session *s);
/* Called as the recording stops: the time while probes are taken out is not recorded. */
void session_note_stop(struct session *s);
/* Looks how many CPUs the target may use. */
void session_note_usable(struct session *s);
/* Since the recording began. */
uint64_t session_recorded_cpu_ns(struct session *s);

/* ---- cost.c: the cost of probes ---- */

struct costs {
	struct {
		VEC(struct meta_calibration)
	} calibrations;
	/* Of a context switch and of a thread's birth, beyond the programs' own timed time:
	 * session_calibrate_switches() */
	struct switchcost alone, watched, carried;
	uint32_t carriers; /* of a thread when the cost of carrying threads was measured */
	size_t empties;	   /* the set with the points of calibration */
	double sample_ns;  /* that a sample takes from the thread that it meets; NAN: not known */
	/* The sums of the last look. */
	struct {
		uint64_t at_ns, cpu_ns;
		double cost_ns;
		bool warned; /* that the probes cost more than they may */
	} look;
};

/*
 * Measures the cost of the probes and writes it into the file. A failure is reported and leaves the
 * costs unknown. when: "before" or "after".
 */
void session_calibrate(struct session *s, const char *when, uint32_t threads);
/* Returns the full cost of a call, measured here. */
double session_call_cost_ns(const struct session *s, const struct planned *p);
/* Returns the cost of a call that is only counted. */
double session_count_cost_ns(const struct session *s, const struct planned *p);
/*
 * Measures the cost of a switch. The first time is before the scheduler is watched; the others give
 * the cost beyond that and beyond the programs' own, timed time, for threads without and with
 * carriers. The last is measured again at the end if more sets have joined. The records are thrown
 * away.
 */
enum switches { SWITCHES_ALONE, SWITCHES_WATCHED, SWITCHES_CARRIED };
void session_calibrate_switches(struct session *s, enum switches how);
/* Whether threads have more carriers by now than when the cost of theirs was measured. */
bool session_carries_more(const struct session *s);
/* Tells --keep-slower the costs of the planned functions from index first on. */
void session_report_costs(struct session *s, size_t first);
/* The costs so far: of recording switches, of samples, and of all (calls, counting them, both). */
uint64_t session_scheduling_cost_ns(const struct session *s);
uint64_t session_sampling_cost_ns(const struct session *s);
uint64_t session_probes_cost_ns(const struct session *s);
/* Returns the number of calls, with those that sampling (-c) left out. */
uint64_t session_trapped_calls(const struct session *s);
/* Of records of calls that were dropped, if those that were read are of calls that cost so much. */
double session_dropped_cost_ns(double read_cost_ns, uint64_t read, uint64_t dropped);
/*
 * A notice where the probes cost more than the budget: in the first second, in any stretch of some
 * seconds after it where it is twice what was said before (the load came later), and at the end, of
 * the whole, into the file too: now_ns is the recording's end then.
 */
void session_warn_cost(struct session *s, uint64_t now_ns, bool at_end);
/* Reads the costs from the file that ISPOT_CALIBRATION names, and writes them into it. */
void session_read_costs(struct session *s);
void session_write_costs(struct session *s);

/* ---- after.c: the cost of calls beyond empty ones ---- */

/* The cost so far, and the counts of the last look. */
struct after {
	struct aftermath measured;
	double cost_ns;
	double calls, calls_ns;
	uint64_t cpu_ns, look_ns, memory_ns;
	double memory_bytes; /* of the target */
};

void session_calibrate_after(struct session *s);
/* Returns the cost for so many calls in so much of the program's own time. */
double session_after_ns(const struct session *s, double work_ns, double calls);
void session_note_after(struct session *s, uint64_t now, bool at_end); /* each turn of the loop */

/* ---- counters.c: what calls count; in this order: ---- */

struct session_counters {
	struct pmu_list list; /* perf events first; the index is the counter's id in the file */
	struct pmu_percpu events;
	uint32_t period; /* one recorded call in so many is counted */
};

int session_counters_open(struct session *s, struct err *err); /* -e, on every CPU */
struct bpfprog_counters session_counters_plan(const struct session *s);
int session_counters_connect(struct session *s, struct err *err); /* with the loaded programs */
void session_counters_write(struct session *s);
/* Returns the core PMU's name by libpfm4, else by sysfs; "none" where perf has none. */
const char *session_counters_pmu(char *buf, size_t n);

/* ---- stacks.c: call stacks ---- */

/* Places that stacks name, and the stacks as rows of them. */
struct session_place {
	struct dso *dso; /* NULL: an address in no file: JIT code, the vdso, a mapping not known */
	uint64_t address;
	/* ids in the file: the place and what it was inlined into; n_frames 0: not yet written */
	uint32_t frame, n_frames;
};
struct session_stack {
	uint32_t id, first, n; /* of row */
};
struct session_stacks {
	struct {
		VEC(struct session_place)
	} places;
	struct map by_place;
	struct {
		VEC(struct session_stack)
	} all;
	struct {
		VEC(uint32_t)
	} row;
	size_t n_written; /* of all */
	uint32_t next_frame;
	struct map loops_of; /* hash of dso and function -> index of loops */
	struct {
		VEC(struct loops *)
	} loops;
	struct unwinder *unwinder; /* what it remembers is of this process, so many mappings ago */
	pid_t unwound_pid;
	unsigned unwound_changes;
};

void session_add_stacks(struct session *s);   /* after each drain: those met for the first time */
void session_write_stacks(struct session *s); /* those not yet written */
void session_report_stacks(
	struct session *s); /* at the end: a notice about those that are missing */
/* Unwinds a copied stack, as unwind_stack() does. */
uint32_t session_unwind(struct session *s, pid_t pid, const uint64_t *registers,
			const uint8_t *stack, size_t stack_bytes, uint64_t *frames, uint32_t room);
void session_stacks_release(struct session *s);

/* ---- addresses.c: names of addresses that were arguments ---- */

/* Arguments that are places in the data of a file. */
struct session_address {
	uint64_t value;
	struct dso *dso;
	uint64_t address; /* in the file's terms */
};

struct session_addresses {
	VEC(struct session_address)
};

void session_add_addresses(struct session *s); /* after session_add_stacks() */
void session_write_addresses(struct session *s);
void session_addresses_release(struct session *s);

/* ---- hybrid.c: the selection without -F ---- */

#define HYBRID_HOT_SHARE 0.01 /* of the samples: a candidate */
#define SCHEDULING_MOST	 0.5  /* of the budget, that recording context switches takes away */

struct hybrid {
	enum { HYBRID_SAMPLING, HYBRID_COUNTING } state;
	uint64_t state_since_ns, window_since_ns, looked_ns;
	unsigned rounds;      /* selections made */
	uint32_t first_hertz; /* of samples, before anything is chosen */
	bool seldom;	      /* they come at the low rate */
	struct sampler sampler;
	struct profile profile;
	struct probeset counting;
	size_t first_candidate;			     /* of the round, in the plan */
	unsigned tries;				     /* at counting, of the round */
	bool locks_added;			     /* the lock functions of every library */
	size_t marked_objects;			     /* so many were looked through for markers */
	uint64_t count_cpu_ns;			     /* the target's CPU time when counting began */
	double counting_cost_ns;		     /* of all rounds, estimated */
	uint64_t throttle_since_ns, throttle_cpu_ns; /* the last look at what tracing costs */
	uint64_t throttle_scheduling_ns;
	double throttle_choosing_ns; /* samples and counting until then */
	double debt_ns;		     /* cost beyond the budget, not made up for yet */
	double debt_met_ns;	     /* of it, when functions were taken out the last time */
	double spent;		     /* of the budget */
	struct {
		VEC(struct patterns *)
	} patterns;
};

int session_hybrid_open(struct session *s, struct err *err);
void session_hybrid_start(struct session *s);
/* Sets how often the first samples come, now that the cost of one is known. */
void session_hybrid_rate(struct session *s);
int session_hybrid_interval_ms(const struct session *s);     /* how long a turn may sleep */
int session_hybrid_step(struct session *s, struct err *err); /* each turn of the loop */
void session_hybrid_stop(struct session *s);
/* Chooses which planned functions a scout hands on, within room. */
void session_hybrid_pick(struct session *s, double room);
void session_hybrid_choice(struct session *s, struct session_choice *choice);
void session_hybrid_release(struct session *s);

/* ---- choose.c: which functions fit the budget ---- */

/* Whether threads slept for each other, and more often than to be joined. */
bool session_contends(const struct session *s);
/*
 * Chooses by rank the functions that fit into room; the others are no longer possible, for this
 * reason, in_turns where they would be for a part of the time. contends: locks come first. Orders
 * the array, and returns the sum of the chosen functions' costs.
 */
double session_choose(struct planned **candidates, size_t n, bool contends, double room,
		      const char *reason);
/* Begins the turn of those that are traced in turns. Returns the sum of their costs. */
double session_give_turns(struct planned **candidates, size_t n);
/*
 * Drops the functions that release locks where no function that takes such a lock is to be traced:
 * they are not possible either. Returns the sum that this gives back.
 */
double session_drop_releases(const struct session *s, struct planned **candidates, size_t n,
			     const char *reason);
/* Remembers the costs of functions, after they were counted. */
void session_remember_costs(struct planned **asked, size_t n);

/* ---- count.c: the candidates' rates, from first_candidate on in the plan ---- */

int session_count_begin(struct session *s, struct err *err);
/* The recording ends while calls are counted, which has cost the target time all the same. */
void session_count_stop(struct session *s);
/* *counted: all rates are known, and functions that do not fit are no longer possible. */
int session_count_look(struct session *s, uint64_t now, bool *counted, struct err *err);
/*
 * Returns the share of the target's CPU time that traced functions may cost: the budget without
 * what is kept for the record of switches and for wrong counts.
 */
double session_choice_room(struct session *s);

/* ---- throttle.c: the budget while functions are traced ---- */

/* Whether functions that cost more than the budget are taken out. */
bool session_keeps_budget(const struct session *s);
int session_throttle(struct session *s, uint64_t now, struct err *err);
/* Returns the part of the room that is kept to make up for earlier costs beyond the budget. */
double session_repayment(const struct session *s, double room);
/*
 * Returns the share of the target's time that traced calls take, as a mean of lately: what they
 * took when they were chosen is no longer spent by a program that has gone on to something else.
 */
double session_spent(double spent, double share_now, double elapsed_ns);

/* ---- again.c: functions that were left out for their cost ---- */

/* At the end of a window: asks for those that may fit now, from first_candidate on. */
void session_ask_again(struct session *s);
/*
 * Puts those that were asked for and fit, or have their turn, back into the sets that the throttle
 * took them out of.
 */
int session_rejoin(struct session *s, struct err *err);
/* Begins the next turn of functions that are traced in turns, once the debt is repaid. */
int session_next_turn(struct session *s, struct err *err);

/* ---- cpus.c ---- */

/* Gives the CPUs that came online since the last look their rings. */
void session_look_for_cpus(struct session *s);

/* ---- sample.c: samples beside the calls ---- */

void session_sample_open(struct session *s);
void session_sample_rate(struct session *s, uint32_t hertz); /* from now on */
void session_sample_start(struct session *s);
/* Returns the share of a thread's time that samples take which go on to the end. */
double session_sampling_share(const struct session *s);
/* Measures the cost of a sample in a process of ispot's own. The records are thrown away. */
void session_calibrate_samples(struct session *s);
void session_sample_release(struct session *s);

/* ---- burst.c: --burst ---- */

struct burst {
	bool off;
	uint64_t since_ns, until_ns; /* of the phase */
	uint64_t on_ns, random;
	unsigned n; /* times that the probes came back */
};

void session_burst_begin(struct session *s);			       /* the first burst */
int session_burst_step(struct session *s, struct err *err);	       /* each turn of the loop */
int session_burst_timeout_ms(const struct session *s, int timeout_ms); /* that a turn may sleep */
void session_burst_stop(struct session *s);

/* ---- solo.c: --solo ---- */

struct session_solo {
	struct solo windows;
	uint64_t n, cost_ns; /* of those that are over */
};

void session_solo_begin(struct session *s);
void session_solo_step(struct session *s); /* each turn of the loop */
void session_solo_stop(struct session *s);

/* ---- target.c: probes onto processes ---- */

/* Sets that were taken off the targets and are still open. */
struct retired {
	struct {
		VEC(struct probeset)
	} sets;
	bool closing;	   /* the first of them is */
	uint64_t since_ns; /* when the last one was taken off */
};

int session_open_on_process(struct session *s, struct probeset *set, pid_t pid, struct err *err);
int session_open_on_targets(struct session *s, struct probeset *set, struct err *err);
/*
 * Retires the set that a hybrid's start was calibrated by. Its end comes before that of the
 * recording, so that nobody waits for it.
 */
void session_retire_calibration(struct session *s);
/* Takes the set's probes off the targets now. */
void session_retire_set(struct session *s, struct probeset *set);
/*
 * Closes a retired set. An event with a program takes the kernel 0.1 s to close, under a lock that
 * putting probes in and taking them out needs as well: one at a time, when no others are about to.
 */
void session_close_retired(struct session *s, uint64_t now);
/* Lets threads close all sets at the same time. session_close_sets() waits for them. */
void session_close_sets_beside(struct session *s);
/* Closes all sets, and what the scheduler is watched by. */
void session_close_sets(struct session *s);
int session_watch_mappings(struct session *s, struct err *err);
/* Reads the mappings so far, then closes their rings. */
void session_unwatch_mappings(struct session *s);
void session_report_mappings(struct session *s); /* a notice where some are not known */

/* ---- follow.c: how children come by their probes ---- */

struct follow {
	bool late;		   /* processes are held one by one, not by what children inherit */
	bool carried;		   /* threads have carriers */
	uint64_t carried_from;	   /* switches of the target when they came */
	uint64_t carried_switches; /* in the times that are over */
	uint64_t look_ns, cpu_ns, scheduling_ns, switches; /* at the last look */
	double debt_ns;
	uint64_t last_fork_ns, forks_since_ns, forks; /* of processes, since then */
	uint64_t n_late, late_most_ns;		      /* children, and the longest time */
	uint64_t n_children;			      /* born in all */
};

/* Whether children inherit their parents' probes. */
bool session_inherits(const struct session *s);
void session_follow_begin(struct session *s);
/* A notice about children that are not recorded. */
void session_follow_report_born_before(struct session *s);
/* From now on threads have carriers. */
void session_follow_carried(struct session *s);
/* Returns the switches of the target's threads that had carriers. */
uint64_t session_follow_switches(const struct session *s, const struct wire_totals *now);
/* Counts the forks of the last drain. */
void session_follow_forks(struct session *s);
/* Counts a child that is held from now on, and was born then. */
void session_follow_fork(struct session *s, uint64_t born_ns);
int session_follow_look(struct session *s, uint64_t now, struct err *err);
void session_follow_end(struct session *s); /* a notice about missing calls of children */

/* ---- hold.c: processes held one by one ---- */

/* The threads by which a process is held. */
struct holding {
	pid_t tids[TARGET_QUIET];
	uint32_t n;
};

struct holds {
	struct map held; /* processes that keep their probes whatever the kernel swaps: -> all */
	struct {
		VEC(struct holding)
	} all;
	struct map watched; /* the threads that hold them */
	uint32_t n;
	uint64_t n_twins; /* forked by a process that was not held yet */
};

bool session_events_are_swapped(const struct session *s);
int session_hold(struct session *s, struct probeset *set, pid_t pid, struct err *err);
/* Holds the processes of the last drain; before session_add_stacks() takes its forks. */
int session_hold_new(struct session *s, struct err *err);
void session_hold_end(struct session *s); /* a notice about calls that may be missing */

/* ---- meta.c: what the file says about itself ---- */

/* Writes a meta line and releases it. Lines from before the begin wait for the session's own. */
void session_write_line(struct session *s, struct text *line);
/* Writes the session's line, the clocks, and the lines that have waited. pmu: the core PMU's name
 */
void session_write_head(struct session *s, const char *pmu);
/* Takes some milliseconds; NAN: no counter */
double session_cycles_per_ns(void);
void session_write_threads(struct session *s, pid_t pid);
void session_note(struct session *s, const char *code, const char *words); /* in the file only */
void session_write_notice(struct session *s, const char *code, const char *text);
void session_write_set(struct session *s, const struct probeset *set, bool on);
void session_write_set_at(struct session *s, const struct probeset *set, bool on, uint64_t time_ns);
/* With -c: calls that were not recorded, per thread and function. */
void session_write_call_counts(struct session *s);
void session_write_end(struct session *s, const struct session_result *result);

/* ---- the whole ---- */

struct session {
	struct session_options options;
	struct progress progress; /* of the start, then of the recording */
	unsigned kernel_version;  /* KERNEL_VERSION() */
	uint64_t open_ns;	  /* ready to record */
	uint64_t start_ns;	  /* recording began */
	bool begun, delayed, stopped;
	bool began_at_end; /* it ended before the delay was over */
	double cycles_per_ns;
	struct text pending; /* meta lines from before the beginning */
	struct cpus cpus;    /* online at the last look */
	uint64_t cpus_looked_ns;

	/* what to probe */
	struct dso_cache *dsos;
	struct spaces spaces;
	struct patterns *patterns;
	struct selection selection;
	struct target_traits traits;
	size_t n_left_out_said; /* of the selection's */
	struct plan plan;	/* [i] belongs to selection.chosen[i] */
	struct {
		VEC(struct session_object)
	} objects; /* index: object id in the file */
	struct {
		VEC(struct probeset)
	} sets;
	uint32_t n_probed;

	/* the kernel's side */
	struct dynevent_session *dynevents;
	struct bpfprog *programs;
	struct ringbufs rings;
	struct rings mappings; /* executable ones that any process makes */
	struct drain drain;
	struct wire_totals totals_at_start, totals_at_stop; /* calibration left out */
	bool calibrated;	  /* the first set carries the empty functions */
	struct pmu_percpu cycles; /* the cycle counter's event on every CPU; none without -k tsc */

	/* the target's */
	pid_t waiter;	    /* the programs' events are opened on it */
	bool starts_others; /* a shell: -F may mean what it starts */
	char *program;	    /* base name of what runs, wrappers left aside */
	struct launch launch;
	struct launch_inherit inherit;
	int signal_fd;
	struct ending ending;

	struct trace_writer *writer;
	uint64_t last_flush_ns;
	const char *reason;
	struct err write_error; /* the file took no more */

	/* the parts' own states */
	bool is_hybrid; /* no -F */
	struct hybrid hybrid;
	struct cputime cputime;
	struct costs costs;
	struct after after;
	struct session_counters counters;
	struct session_stacks stacks;
	struct session_addresses addresses;
	struct burst burst;
	struct session_solo solo;
	struct late late;
	struct retired retired;
	struct beside beside;
	struct follow follow;
	struct holds holds;
};

/* Functions are uprobe sessions where they can be (usession.h). */
static inline bool session_has_sessions(const struct session *s)
{
	return bpfprog_session(s->programs) >= 0;
}

/* Whether the set has points of the target's; the hybrid's first one has only ispot's own. */
static inline bool session_is_on_targets(const struct session *s, size_t k)
{
	return k || !s->is_hybrid || !s->calibrated;
}

#endif
