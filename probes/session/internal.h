/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of a session, for the files of this folder only: the state and the functions of each
 * file, and at the end the session that contains them all.
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
#include "probes/recording/cputime.h"
#include "probes/recording/meta.h"
#include "probes/recording/objects.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/recording/addresses.h"
#include "probes/recording/stacks.h"
#include "probes/recording/counters.h"
#include "probes/recording/solo.h"
#include "probes/recording/costs.h"
#include "probes/recording/after.h"
#include "probes/recording/mappings.h"
#include "probes/recording/cpus.h"
#include "probes/session/follow.h"
#include "probes/session/hold.h"
#include "probes/session/attach.h"
#include "probes/session/burst.h"
#include "probes/session/engine.h"
#include "probes/recording/options.h"
#include "probes/cost/switchcost.h"
#include "probes/process/target.h"
#include "trace/meta/meta.h"

#define DRAIN_INTERVAL_MS 100
#define STACK_PERIOD	  10000 /* calls of a function on a CPU between two stacks: the paper's N */
#define SAMPLE_HERTZ	  97	/* of every recording; divides no usual period of programs */

struct session;

/* ---- open.c ---- */

/* Adds advice to an error if no descriptor was left. Callers add none. */
void session_report_descriptors(int code, struct err *err);
/* Returns -EMFILE if a running recording could not open its files, which would fail silently in
 * places. */
int session_need_descriptors(struct err *err);

/* ---- select.c: which functions ---- */

/* Objects with functions that processes mapped during the recording. */
struct late {
	uint64_t joined_ns; /* time spent on reading such mappings */
	bool waits;	    /* some were mapped that may not be read yet */
	unsigned objects;
	const char *path;    /* path of the first of them */
	uint64_t most_ns;    /* the longest time from a mapping to its probes */
	bool unknown;	     /* that time is unknown for one of them */
	bool has_executable; /* one of them is an executable */
};

int session_select(struct session *s, struct err *err);
/*
 * Adds a set with the chosen functions of objects that processes have mapped since the last call. A
 * notice names functions that cannot be traced.
 */
void session_join_mapped(struct session *s);
/* Writes a notice if the first calls of such objects are missing. */
void session_report_late(struct session *s);
/* Returns whether a function of that name is one of options.regions. */
bool session_is_region(const struct session *s, const char *symbol);
/* Writes a notice, at the end, about names of --no-key that matched nothing. */
void session_report_no_keys(struct session *s);

/* ---- set.c: sets of probes ---- */

/* The reasons of functions that are skipped for their cost: before, and after they were traced. */
extern const char session_over_budget[], session_over_budget_traced[];
/*
 * Builds a set of the planned functions from index first on, and describes it in the file. *set is
 * NULL if the set is empty.
 */
int session_build_set(struct session *s, size_t first, struct probeset **set, struct err *err);
/* Removes the probes of the touched sets (one flag each). */
void session_quiet_sets(struct session *s, const bool *touched);
/*
 * Rebuilds the touched sets (one flag each) without the functions that are no longer possible. The
 * sets must be quiet.
 */
int session_rebuild_sets(struct session *s, const bool *touched, struct err *err);
/* traced_until_ns: when the function's probes were removed, or 0 if it had none. */
void session_describe_left_out(struct session *s, const struct planned *p,
			       uint64_t traced_until_ns);
/* Writes that the throttle removed the function's probes at the first time, and that they returned
 * at the second. */
void session_describe_again(struct session *s, const struct planned *p, uint64_t traced_until_ns,
			    uint64_t traced_again_ns);
struct meta_not_traced session_left_out(const struct planned *p); /* borrows the names */
/* Writes the functions that the first of two passes skipped. */
void session_write_left_out(struct session *s);
/* For probeset_create(): notes that the kernel refused a probe. ctx is the session. */
void session_point_refused(void *ctx, uint32_t function_id, int errnum);

/* ---- beside.c: functions that are not timed by probes ---- */

struct beside {
	size_t n;   /* functions that the processes' own code times */
	bool tried; /* patching processes for them was tried, which happens once */
	bool is_stopped;
	/* what processes map later than that is not patched yet */
	uint64_t patched_ns;
	/* but for the command, which was patched at some time before this */
	uint64_t launched_ns;
	struct {
		VEC(struct newcomer)
	} newcomers;
	uint64_t n_later, n_ended, n_refused; /* of those: patched, not any more, not at all */
	uint64_t n_loaded; /* processes that loaded a library after they were patched */
	struct {
		VEC(struct patched_newcomer)
	} patched;
	uint64_t late_most_ns, later_ns; /* until they were; for all of them */
	struct err refused;		 /* why the first was */
};

/* A process that has mapped files of these functions since. */
struct newcomer {
	pid_t pid;
	uint64_t since_ns, ready_ns; /* the first of its mappings; when it is to be patched */
	bool may_be_patched;	     /* it is the command, which may have patches already */
	bool has_file;		     /* it has mapped a file of these functions */
};

struct patched_newcomer {
	pid_t pid;
	uint64_t time_ns; /* when it was patched */
};

/* Offers the planned functions from index first on. */
void session_beside_offer(struct session *s, size_t first);
/* Offers the functions that do not fit into the budget. Returns how many of all keep the kernel's
 * probes; those come first in the array. */
size_t session_beside_offer_dear(struct session *s, struct planned **all, size_t n);
void session_beside_begin(struct session *s);
/* Executes the command with its offered functions patched, or patches the running processes. */
int session_beside_launch(struct session *s, struct err *err);
int session_beside_attach(struct session *s, struct err *err);
/* Returns the time until the next call. */
uint64_t session_beside_drain(struct session *s);
void session_beside_stop(struct session *s);
void session_beside_let_go(const struct session *s); /* called while the command is waited for */
void session_beside_sums(const struct session *s, struct session_beside_sums *sums);

/* ---- newcomers.c: processes that need patches later ---- */

/* Notes what was mapped, before session_join_mapped() forgets it. */
void session_newcomers_note(struct session *s);
void session_newcomers_patch(struct session *s);
/* How long the loop may wait. */
uint64_t session_newcomers_wait_ns(const struct session *s);
void session_newcomers_report(struct session *s);

/* ---- overhead.c: what the probes cost so far ---- */

struct overhead {
	/* The sums at the last check. */
	uint64_t look_ns, cpu_ns;
	double cost_ns;
	bool warned; /* the user was warned that the probes exceed the budget */
};

/* Returns the cost of everything so far: calls, counting, switches, samples. */
uint64_t session_probes_cost_ns(const struct session *s);
/* Returns the number of calls, with those that sampling (-c) left out. */
uint64_t session_trapped_calls(const struct session *s);
/* Returns the cost of calls whose records were dropped, given the cost of those that were read. */
double session_dropped_cost_ns(double read_cost_ns, uint64_t read, uint64_t dropped);
/*
 * Writes a notice if the probes exceed the budget: in the first second, and in any later stretch of
 * some seconds with twice the reported cost (the load came later). At the end, the notice is on the
 * whole recording and in the file, too; now_ns is then the recording's end.
 */
void session_warn_cost(struct session *s, uint64_t now_ns, bool at_end);

/* ---- hybrid.c: the selection without -F ---- */

#define HYBRID_HOT_SHARE 0.01 /* of the samples: from here on a function is a candidate */
#define SCHEDULING_MOST	 0.5  /* of the budget: what recording context switches may use */

struct hybrid {
	enum { HYBRID_SAMPLING, HYBRID_COUNTING } state;
	uint64_t state_since_ns, window_since_ns, looked_ns;
	unsigned rounds;      /* selections made so far */
	uint32_t first_hertz; /* rate of samples before anything is chosen */
	bool seldom;	      /* samples come at the low rate */
	struct sampler sampler;
	struct profile profile;
	struct probeset counting;
	size_t first_candidate;	 /* index in the plan of the round's first candidate */
	unsigned tries;		 /* attempts to count in this round */
	bool locks_added;	 /* the lock functions of every library were added */
	size_t marked_objects;	 /* objects that were searched for markers */
	uint64_t count_cpu_ns;	 /* the target's CPU time when counting began */
	double counting_cost_ns; /* estimate for all rounds */
	uint64_t throttle_since_ns, throttle_cpu_ns; /* at the last check of the cost of tracing */
	uint64_t throttle_scheduling_ns;
	double throttle_choosing_ns; /* cost of samples and counting until then */
	double debt_ns;		     /* cost beyond the budget that is not repaid yet */
	double debt_met_ns;	     /* the debt when functions were last removed */
	double spent;		     /* spent share of the budget */
	struct {
		VEC(struct patterns *)
	} patterns;
};

int session_hybrid_open(struct session *s, struct err *err);
void session_hybrid_start(struct session *s);
/* Sets the rate of the first samples, once the cost of a sample is known. */
void session_hybrid_rate(struct session *s);
int session_hybrid_interval_ms(const struct session *s);     /* how long a turn may sleep */
int session_hybrid_step(struct session *s, struct err *err); /* in each turn of the loop */
void session_hybrid_stop(struct session *s);
/* Chooses which planned functions a scout passes on, within room. */
void session_hybrid_pick(struct session *s, double room);
void session_hybrid_choice(struct session *s, struct session_choice *choice);
void session_hybrid_release(struct session *s);

/* ---- choose.c: which functions fit the budget ---- */

/* Returns whether threads waited for each other, beyond joining threads. */
bool session_contends(const struct session *s);
/*
 * Chooses, by rank, the functions that fit into room. The others become impossible for this reason,
 * or in_turns if they fit for a part of the time. contends: locks come first. Sorts the array and
 * returns the sum of the chosen functions' costs.
 */
double session_choose(struct planned **candidates, size_t n, bool contends, double room,
		      const char *reason);
/* Begins the turn of the functions that are traced in turns. Returns the sum of their costs. */
double session_give_turns(struct planned **candidates, size_t n);
/*
 * Drops functions that release locks if no function that takes such a lock is traced. Returns the
 * sum of their costs.
 */
double session_drop_releases(const struct session *s, struct planned **candidates, size_t n,
			     const char *reason);
/* Stores the costs of functions after they were counted. */
void session_remember_costs(struct planned **asked, size_t n);

/* ---- count.c: the candidates' rates, from first_candidate on in the plan ---- */

int session_count_begin(struct session *s, struct err *err);
/* Adds the cost of counting if the recording ends while calls are counted. */
void session_count_stop(struct session *s);
/* *counted: all rates are known, and functions that do not fit are no longer possible. */
int session_count_look(struct session *s, uint64_t now, bool *counted, struct err *err);
/*
 * Returns the share of the target's CPU time that traced functions may cost: the budget without the
 * reserves for recording switches and for wrong counts.
 */
double session_choice_room(struct session *s);

/* ---- throttle.c: the budget while functions are traced ---- */

/* Returns whether functions that exceed the budget are removed. */
bool session_keeps_budget(const struct session *s);
int session_throttle(struct session *s, uint64_t now, struct err *err);
/* Returns the part of the room that is reserved to repay earlier costs beyond the budget. */
double session_repayment(const struct session *s, double room);
/*
 * Returns the recent mean share of the target's time that traced calls take. Older shares do not
 * count, because the program may have moved on to something else.
 */
double session_spent(double spent, double share_now, double elapsed_ns);

/* ---- again.c: functions that were left out for their cost ---- */

/* Called at the end of a window: marks the functions that may fit now to be counted, from
 * first_candidate on. */
void session_ask_again(struct session *s);
/*
 * Returns functions that were counted and fit, or whose turn it is, to the sets from which the
 * throttle removed them.
 */
int session_rejoin(struct session *s, struct err *err);
/* Begins the next turn of functions that are traced in turns, once the debt is repaid. */
int session_next_turn(struct session *s, struct err *err);

/* ---- sample.c: samples beside the calls ---- */

void session_sample_open(struct session *s);
void session_sample_rate(struct session *s, uint32_t hertz); /* sets the rate from now on */
void session_sample_start(struct session *s);
/* Returns the share of a thread's time that the samples which last until the end take. */
double session_sampling_share(const struct session *s);
/* Measures the cost of a sample in a process of ispot's own. The records are dropped. */
void session_calibrate_samples(struct session *s);
void session_sample_release(struct session *s);

/* ---- the whole ---- */

struct session {
	struct session_options options;
	struct recording r;
	struct progress progress; /* of the preparation, then of the recording */
	bool delayed;
	bool began_at_end; /* the recording ended before the delay did */
	double cycles_per_ns;
	struct session_cpus cpus;

	/* what to probe */
	struct selection selection;
	size_t n_left_out_said;	  /* of the selection's */
	struct pmu_percpu cycles; /* the cycle counter's event on every CPU; none without -k tsc */

	/* the target's */
	bool starts_others; /* the command is a shell: -F may mean programs that it starts */
	char *program;	    /* base name of the program that runs, without wrappers */
	struct launch_inherit inherit;
	int signal_fd;
	struct ending ending;

	uint64_t last_flush_ns;
	const char *reason;
	struct err write_error; /* why the file could not grow */

	/* the parts' own states */
	struct hybrid hybrid;
	struct cputime cputime;
	struct costs costs;
	struct overhead overhead;
	struct after after;
	struct session_counters counters;
	struct session_stacks stacks;
	struct session_addresses addresses;
	struct burst burst;
	struct session_solo solo;
	struct late late;
	struct attach attach;
	struct beside beside;
	struct follow follow;
	struct holds holds;
};

#endif
