/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Follows waiting along the wakeup chain. A sleeping thread is released by another thread or from
 * outside the program. The part of the sleep in which the releaser ran or wanted to run is lost
 * time. The part in which the releaser slept counts as the releaser's sleep does, along the chain.
 *
 * If a device, the network or another process ended the sleep, the thread waited for work. If a
 * clock ended it, the program paused: that is idle, too, unless others wait for the pausing thread
 * at a lock or barrier. A futex wait that timed out may be either such a pause (the thread of a
 * timer: futexes_keeps_time) or only a reason to try again (Python's lock). Waiting for the end of
 * a thread or process is idle whatever that one does, because it works in place of the waiting
 * thread. Waiting at a condition for the order to end is idle, too. Both are known only at the end
 * (wait_reconsider).
 *
 * Each thread has a history: how much it had waited for the outside by the times at which its
 * sleeps began and ended. When it releases another thread, the chain's answer is the difference
 * over that thread's sleep. A long history drops every second step; values between steps are
 * interpolated.
 */
#ifndef ISPOT_ANALYSIS_THREADS_WAKEUP_CHAIN_H
#define ISPOT_ANALYSIS_THREADS_WAKEUP_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct record;
struct thread;
struct threads;

/* Time spent waiting for something outside the program. */
struct outside {
	uint64_t work_ns;  /* for devices, the network and other processes */
	uint64_t clock_ns; /* for a time to pass */
};

struct history {
	VEC(struct history_step {
		uint64_t time_ns;
		struct outside sum; /* up to then */
	})
};

enum sleep_end {
	SLEEP_OPEN, /* not released yet, or the releaser is unknown */
	SLEEP_BY_THREAD,
	SLEEP_BY_OUTSIDE, /* an interrupt or another program */
	SLEEP_BY_TIMER,
	SLEEP_ENDS
};

#define SLEEP_NOBODY UINT32_MAX

/* A recent release by a thread. If the thread ends now, the release was the last thing that it did.
 */
#define RELEASES_KEPT 4
struct release {
	uint32_t word;
	uint64_t time_ns, off_ns; /* at the release; off_ns: the thread's time off the CPU until
				     then. time_ns 0: none */
};

/* A recent release of the thread. If the thread ends now, the release was the order to end. */
struct awoken {
	uint32_t word, tail;	   /* tail: that of the futex (futex.h); 0: none */
	uint64_t since_ns, off_ns; /* as in struct sleep */
};

/* A thread's latest sleep. */
struct sleep {
	uint64_t since_ns, woken_ns; /* 0: not yet */
	uint64_t off_ns;	     /* time off the CPU before since_ns */
	uint64_t ended_ns;	     /* when it was on a CPU again; 0: not yet */
	uint32_t kind;		     /* enum wait_kind */
	uint32_t call;		     /* number of the system call + 1; 0: none */
	uint32_t word;		     /* index of the futex; SLEEP_NOBODY: none */
	uint32_t tail;		     /* as in struct awoken */
	uint32_t for_end; /* index of the thread whose end it waits for; SLEEP_NOBODY: none known */
	uint64_t what;
	bool uninterruptible, iowait;
	bool by_call;	   /* its kind follows from the traced call, as no record tells it */
	uint32_t standard; /* enum standard_wait that was counted for its futex; 0: none */
	uint64_t stack;	   /* number of its stack + 1; 0: unknown so far */
	uint32_t side;	   /* after a sleep at a futex: the place (handout.h); 0: unknown, or the
			      futex's first place */
	enum sleep_end end;
	uint32_t waker; /* index of the releasing thread; SLEEP_NOBODY: none of the program */
	uint32_t waker_function; /* the innermost traced one of the waker; SLEEP_NOBODY: none */
	bool too_early;		 /* it timed out before anybody had released its futex */
	bool acted;		 /* after that, the thread released others */
	struct outside outside;	 /* from since_ns to woken_ns */
	uint64_t idle_ns;	 /* the part that is idle, and so not lost */
	uint64_t pause_ns;	 /* part of idle_ns in which the releasing thread let a time pass */
};

/* A thread's sleeps until a time has passed, in nanosleep() and the like. */
struct thread_naps {
	uint64_t n, ns;	 /* ns: in the reported window */
	uint64_t served; /* times that it waited for something else, and another thread gave it that
			  */
};

/* Notes that the thread may sleep since time_ns, for an unknown reason. */
void sleep_unknown(struct thread *t, uint64_t time_ns);
/* Called when the thread leaves the CPU to sleep. */
void sleep_begin(struct thread *t, const struct record *r);
/* Sets what the thread sleeps in. */
void sleep_describe(struct thread *t, const struct record *wait);
/*
 * Does the same from the standard function that the thread is in. This is for recordings of users,
 * to whom the kernel reports only that a thread slept. A later record is more precise.
 */
void sleep_describe_by_call(struct thread *t);
/* Called when the thread is woken, by r, a REC_WAKING. waker: NULL if the waking thread is unknown.
 * inside: it belongs to the program. */
void sleep_wake(struct thread *t, struct thread *waker, bool inside, const struct record *r);
/* Returns whether the waker woke the thread at that time. */
bool sleep_woken_by(const struct thread *t, const struct thread *waker, uint64_t time_ns);
/* Called when the thread gets a CPU again, or the recording ends. Adds the sleep to the thread's
 * history. */
void sleep_settle(struct thread *t, uint64_t time_ns);
/* Returns the part of the time that is idle for a sleeper at the futex, if the thread with that
 * index held it up. */
uint64_t sleep_idle_behind(const struct threads *th, uint32_t thread, uint32_t word,
			   uint64_t from_ns, uint64_t to_ns);
/* Returns the place of a timed sleep (tries.h); 0: it is not timed, or its place is unknown. */
uint32_t sleep_place(const struct thread *t);
/*
 * Returns how long the thread napped while others may have waited for it: it gets something to do
 * from others at least as often as it naps. A thread that wakes up now and then by itself does not.
 */
uint64_t sleep_naps_ns(const struct thread *t);
/* Called when the thread has ended by itself. */
void sleep_last_acts(const struct thread *t, uint64_t time_ns);
/* Returns the idle part of the sleep between from_ns and to_ns, which is at most the wakeup. */
uint64_t sleep_idle_ns(const struct thread *t, uint64_t from_ns, uint64_t to_ns);

#endif
