/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The threads of a trace: when each lived, how long it was observed, and what its time off the CPU
 * was.
 *
 * A thread's observed time (T_t of the SCI) is the time in which it was alive and a set's probes
 * were on, without the stretches in which its records may be missing. A set that no REC_SET_ON
 * names was on from the start. A tid that is seen again after its thread ended is a new thread.
 *
 * The time off the CPU comes from the switch records. Preempted means runnable without a CPU; with
 * waking records, this includes the wait between wakeup and CPU. The rest is sleep. With waking
 * records, sleep is idle as far as waiting along the wakeup chain (wakeup_chain.h) ends outside the
 * program; otherwise it is blocked. Without waking records, no sleep is idle.
 */
#ifndef ISPOT_ANALYSIS_THREADS_THREADS_H
#define ISPOT_ANALYSIS_THREADS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/threads/behind.h"
#include "analysis/threads/futex.h"
#include "analysis/threads/handout.h"
#include "analysis/threads/oversubscription.h"
#include "analysis/threads/takers.h"
#include "analysis/threads/tries.h"
#include "analysis/threads/wakeup_chain.h"
#include "base/hash.h"
#include "base/likely.h"
#include "base/mem.h"
#include "base/vec.h"

struct call;
struct meta;
struct record;

#define THREAD_COMM 32

struct offcpu {
	uint64_t preempted_ns, blocked_ns, idle_ns;
	uint64_t recorder_ns;	    /* part of preempted: the CPU went to ispot's recorder */
	uint64_t oversubscribed_ns; /* part of preempted: the program has more to run than CPUs */
	uint64_t yielded_ns;	    /* part of preempted: the thread had given the CPU up itself */
	uint64_t woken_ns; /* part of preempted: after a wakeup, so nothing was interrupted */
	uint64_t sleeps;   /* how often the thread left the CPU to sleep */
	uint64_t wakes;	   /* number of sleepers of the program that the thread released */
};

/* Returns all time off the CPU. */
static inline uint64_t offcpu_ns(const struct offcpu *x)
{
	return x->preempted_ns + x->blocked_ns + x->idle_ns;
}

/* Returns the part of a time that was on a CPU. */
static inline uint64_t offcpu_running_ns(uint64_t ns, const struct offcpu *off)
{
	return ns > offcpu_ns(off) ? ns - offcpu_ns(off) : 0;
}

static inline bool offcpu_any(const struct offcpu *x)
{
	return x->preempted_ns | x->blocked_ns | x->idle_ns | x->sleeps | x->wakes;
}

/* Adds x to the sum. Most calls never leave the CPU, and this does not touch the cache lines of
 * their sums. */
static inline void offcpu_add(struct offcpu *sum, const struct offcpu *x)
{
	if (!offcpu_any(x))
		return;
	sum->preempted_ns += x->preempted_ns;
	sum->blocked_ns += x->blocked_ns;
	sum->idle_ns += x->idle_ns;
	sum->recorder_ns += x->recorder_ns;
	sum->oversubscribed_ns += x->oversubscribed_ns;
	sum->yielded_ns += x->yielded_ns;
	sum->woken_ns += x->woken_ns;
	sum->sleeps += x->sleeps;
	sum->wakes += x->wakes;
}

static inline struct offcpu offcpu_between(const struct offcpu *from, const struct offcpu *to)
{
	return (struct offcpu){
		.preempted_ns = to->preempted_ns - from->preempted_ns,
		.blocked_ns = to->blocked_ns - from->blocked_ns,
		.idle_ns = to->idle_ns - from->idle_ns,
		.recorder_ns = to->recorder_ns - from->recorder_ns,
		.oversubscribed_ns = to->oversubscribed_ns - from->oversubscribed_ns,
		.yielded_ns = to->yielded_ns - from->yielded_ns,
		.woken_ns = to->woken_ns - from->woken_ns,
		.sleeps = to->sleeps - from->sleeps,
		.wakes = to->wakes - from->wakes,
	};
}

/* Moves up to ns from idle to blocked time, or below 0 from blocked to idle time. Returns what
 * there was too little of. */
static inline int64_t offcpu_shift(struct offcpu *off, int64_t ns)
{
	int64_t idle = (int64_t)off->idle_ns, blocked = (int64_t)off->blocked_ns;
	int64_t moved = ns > idle ? idle : ns < -blocked ? -blocked : ns;

	off->idle_ns = (uint64_t)(idle - moved);
	off->blocked_ns = (uint64_t)(blocked + moved);
	return ns - moved;
}

enum thread_state {
	THREAD_UNKNOWN, /* the thread exists, but has no record yet */
	THREAD_RUNNING,
	THREAD_PREEMPTED,
	THREAD_SLEEPING,
	THREAD_BLOCKED,
};

struct thread {
	uint32_t index; /* from 0, in order of appearance */
	uint32_t tid, tgid;
	uint32_t cpu; /* of its latest record */
	enum thread_state state;
	bool dead;
	bool vacant; /* its sums are with those of the rest, and a new thread may get its place */
	uint64_t born_ns, end_ns; /* end_ns: valid once dead, or after threads_end() */
	uint64_t first_ns;	  /* when it was born, even if the reported window begins later */
	uint64_t since_ns;   /* since when it is in this state; off is complete up to this time */
	struct threads *all; /* those it is one of */
	uint32_t parent;     /* index of the thread that created it; UINT32_MAX: unknown */
	bool awaited;	     /* another thread has slept until it ends */
	struct sleep sleep;  /* its present or latest sleep */
	struct past_sleep before; /* the one before that */
	struct release releases[RELEASES_KEPT];
	struct awoken awoken[RELEASES_KEPT];
	uint32_t n_releases, n_awoken; /* ever */
	struct history history;	       /* what it has waited for so far */
	struct thread_depth depth;     /* of its waits */
	struct thread_naps naps;
	struct oversubscription_member oversubscription;
	bool yielded;	    /* it is preempted, and has given the CPU up itself */
	bool recorder_took; /* it is preempted, and the CPU went to the recorder */
	uint64_t ready_ns;  /* its time in the run queue that no taker has been charged with yet */
	bool found_idle;    /* it is getting a CPU that was idle */
	uint64_t held_ns;   /* part of off.blocked_ns that a thread of the program ended */
	struct offcpu off;
	uint32_t off_changes; /* number of changes of off; there is none in most calls */
	/* off at its latest entry or exit, and the number of changes until then. */
	struct offcpu off_at_call;
	uint32_t changes_at_call;
	bool has_called;
	uint64_t lost_ns, lost_until_ns;
	struct thread_gap *gaps; /* the stretches of lost_ns, latest first */
	uint64_t unseen_ns;	 /* since when its records may be missing; 0: none is */
	uint64_t switches;  /* the kernel's count of its switches at its latest one; 0: unknown */
	bool doubtful;	    /* it slept before an unwatched stretch, and may have run in it */
	uint64_t *watch_ns; /* [set]: observed time, valid after the thread's end */
	uint32_t **slots;   /* [id / THREAD_SLOTS]: pages of slot numbers */
	/* For analysis/calls: the open calls of the thread, the outermost first. */
	struct call *open;
	uint32_t n_open, room_open;
	uint32_t open_markers; /* of n_open */
	bool after_exit;
	bool inner;   /* the next entry is inside a call that was not recorded */
	bool returns; /* the next exit has return_value */
	uint64_t return_value;
	uint32_t exit_stack; /* stack of the call that the next exit ends; 0: none */
	bool entered; /* the latest record is an entry, whose call is the innermost open one */
	uint64_t exit_sp;
	uint64_t covered_ns; /* inside any traced call */
	struct offcpu covered_off;
	char comm[THREAD_COMM];
};

/* A stretch of time in which the thread's records may be missing. */
struct thread_gap {
	struct thread_gap *before;
	uint64_t from_ns, to_ns;
};

#define THREAD_SLOTS	 64
#define THREAD_CPU_CACHE 256

/* A pair of a thread and a function that it called. Its number is the index in arrays of visitors.
 */
struct slot {
	uint32_t thread, id;
};

struct set_out {
	uint32_t id;
	uint64_t from_ns, to_ns; /* UINT64_MAX: to the end */
};

/* A time in which a set was off, between two in which it was on. */
struct set_pause {
	uint32_t clock; /* index */
	uint64_t from_ns, to_ns;
};

/* Stretches in which switches have no records (unwatched.h). */
struct unwatched {
	bool now;	   /* in a stretch */
	uint64_t since_ns; /* when the present or latest stretch began */
	uint64_t until_ns; /* when the latest stretch ended; 0: none has */
	uint64_t n;
	uint64_t ns;	   /* total time of the stretches that have ended */
	uint64_t switches; /* how often threads left a CPU in these stretches */
	uint64_t *of_set;  /* [set]: part of ns in which the set was on; NULL: no stretch yet */
};

struct threads {
	const struct meta *meta;
	struct arena arena;
	struct {
		VEC(struct thread *)
	} all;
	struct map by_tid;
	struct oversubscription oversubscription;
	struct takers takers;	    /* takers of the CPUs that the threads waited for */
	struct futexes futexes;	    /* futexes that threads waited on */
	struct handouts handouts;   /* who waited for whom, and where */
	struct behind behind;	    /* who waited behind whom */
	struct tries tries;	    /* timed sleeps, by function */
	struct map standard_stacks; /* stack -> enum standard_wait */
	struct thread *recent[THREAD_CPU_CACHE]; /* the latest thread of each CPU */
	struct {
		VEC(struct slot)
	} slots; /* number 0 is not used */
	uint32_t n_alive;
	/* The number that stands for the CPUs of calls that are timed in process, which is that of
	 * no CPU; UINT32_MAX: no such calls. */
	uint32_t no_cpu;
	uint64_t start_ns;
	/* Threads that have ended are summed up (analysis/calls/ended.h). */
	bool sums_up;
	uint64_t part_ns; /* begin of the part that is analysed alone; 0: none is */
	struct {
		VEC(struct thread *)
	} ended, vacant;     /* ended: the oldest first; vacant: places for new threads */
	size_t ended_full;   /* number of ended threads at which they are examined again */
	struct thread *rest; /* stands for the threads that were summed up; NULL: none was */
	uint64_t n_rest;     /* number of threads that were summed up */
	bool have_switch, have_waking, have_wait;
	struct unwatched unwatched;
	uint32_t n_sets;
	uint32_t *set_of; /* [function id]: index of its set */
	struct {
		VEC(struct set_out)
	} outs;		      /* functions that were without probes while their sets had theirs */
	struct map set_index; /* set id -> index */
	struct {
		VEC(struct set_clock)
	} clocks;
	struct {
		VEC(struct set_pause)
	} pauses;	      /* pauses of sets from which functions were removed */
	struct map clock_of;  /* set index, tgid -> clock */
	struct map processes; /* tgids seen */
	struct {
		VEC(const struct meta_thread *)
	} known; /* threads of the meta lines that are not born yet, the latest first */
};

/* start_ns: begin of the recording, or of the part that is analysed. meta must outlive th. */
void threads_init(struct threads *th, const struct meta *meta, uint64_t start_ns);
void threads_release(struct threads *th);

/* Returns the living thread with that tid. If there is none, makes one that was born at time_ns. */
struct thread *threads_find(struct threads *th, uint32_t tid, uint32_t tgid, uint64_t time_ns);

static inline struct thread *threads_of(struct threads *th, uint32_t cpu, uint32_t tid,
					uint32_t tgid, uint64_t time_ns)
{
	struct thread **recent = &th->recent[cpu % THREAD_CPU_CACHE];

	if (unlikely(!*recent || (*recent)->tid != tid || (*recent)->dead))
		*recent = threads_find(th, tid, tgid, time_ns);
	return *recent;
}

/*
 * Handles any record but entries, exits and losses. Returns the thread that it is about, or NULL. A
 * record that does not show a thread alive makes none.
 */
struct thread *threads_record(struct threads *th, const struct record *r);

/* Return the living thread with that tid, or NULL. If none is alive, threads_latest() returns the
 * last one that had the tid. */
struct thread *threads_alive(const struct threads *th, uint32_t tid);
struct thread *threads_latest(const struct threads *th, uint32_t tid);

static inline bool thread_sleeps(const struct thread *t)
{
	return t->state == THREAD_SLEEPING || t->state == THREAD_BLOCKED;
}

/* Complete the thread's off-CPU time up to time_ns. With thread_settle() its state stays; with
 * thread_runs() it runs from then on. */
void thread_settle(struct thread *t, uint64_t time_ns);
void thread_runs(struct thread *t, uint64_t time_ns);

/*
 * Note that records of the thread may be missing since since_ns, until a record at time_ns shows
 * its state again. What it did in between is unknown, and it was not observed.
 */
void thread_unseen(struct thread *t, uint64_t since_ns);
void thread_seen(struct threads *th, struct thread *t, uint64_t time_ns);

/*
 * Removes the time from from_ns to to_ns, which is now, from the thread's observed time. A part
 * that was removed before is not removed again.
 */
void thread_not_observed(struct threads *th, struct thread *t, uint64_t from_ns, uint64_t to_ns);

/* Returns the thread that stands for those that were summed up. Makes it if there is none. */
struct thread *threads_rest(struct threads *th);

/* Drops all times before time_ns, where a window of the recording begins. */
void threads_restart(struct threads *th, uint64_t time_ns);
/* Called once at the recording's end: completes the off-CPU and observed times of all threads. */
void threads_end(struct threads *th, uint64_t time_ns);

/* Returns the number of the pair, from 1. Makes it if there is none. */
uint32_t threads_slot_slow(struct threads *th, struct thread *t, uint32_t id);
static inline uint32_t threads_slot(struct threads *th, struct thread *t, uint32_t id)
{
	uint32_t *page = likely(t->slots) ? t->slots[id / THREAD_SLOTS] : NULL;
	uint32_t slot = likely(page) ? page[id % THREAD_SLOTS] : 0;

	return likely(slot) ? slot : threads_slot_slow(th, t, id);
}

/* After threads_end(), return the observed time T_t: for a function's set, and the longest of all
 * sets. */
uint64_t thread_observed_ns(const struct threads *th, const struct thread *t, uint32_t id);
uint64_t thread_watched_ns(const struct threads *th, const struct thread *t);
/* Returns the part of the watched time in which no thread of the program held this thread up. */
uint64_t thread_free_ns(const struct threads *th, const struct thread *t);
/* Returns the part of thread_free_ns() in which the thread ran or waited for a CPU. */
uint64_t thread_asked_ns(const struct threads *th, const struct thread *t);

#endif
