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

/* What a thread was released from of late: if it ends now, it was told to. */
struct awoken {
	uint32_t word, tail;	   /* of the word's releases; tail 0: none */
	uint64_t since_ns, off_ns; /* as in struct sleep */
};

/* A thread's latest sleep. */
struct sleep {
	uint64_t since_ns, woken_ns; /* 0: not yet */
	uint64_t off_ns;	     /* off the CPU before since_ns */
	uint64_t ended_ns;	     /* on a CPU again; 0: not yet */
	uint32_t kind;		     /* enum wait_kind */
	uint32_t call;		     /* system call's number + 1, 0: none */
	uint32_t word;		     /* of threads' words; SLEEP_NOBODY: no futex */
	uint32_t tail;		     /* of the word's releases: which one it was; 0: none */
	uint32_t for_end; /* index of the thread whose end it waits for; SLEEP_NOBODY: none known */
	uint64_t what;
	bool uninterruptible, iowait;
	bool by_call;	   /* its kind is the innermost traced call's, as no record says it */
	uint32_t standard; /* enum standard_wait: what its futex was told; 0: nothing */
	uint64_t stack;	   /* its number + 1; 0: none yet */
	uint32_t side;	   /* at a futex, once it is ended: the place (handout.h); 0: not known, or
			      the first one where threads waited there */
	enum sleep_end end;
	uint32_t waker;		 /* index of the thread; SLEEP_NOBODY: none of the program */
	uint32_t waker_function; /* the innermost traced one it was in; SLEEP_NOBODY: none */
	bool too_early;		 /* its time was over before anybody had released its futex */
	bool acted;		 /* and then it made others go on */
	struct outside outside;	 /* of since to woken */
	uint64_t idle_ns;	 /* what of it is idle: not lost */
	uint64_t pause_ns;	 /* of that: the thread that ended it let a time pass */
};

/* The thread sleeps since time_ns, if it sleeps; what it waits for is not known. */
void sleep_unknown(struct thread *t, uint64_t time_ns);
/* A thread left the CPU to sleep. */
void sleep_begin(struct thread *t, const struct record *r);
/* What it sleeps in. */
void sleep_describe(struct thread *t, const struct record *wait);
/* The same as far as the standard function tells that the thread is in: in recordings of users, for
 * whom the kernel says only that a thread slept. A record that follows says it better. */
void sleep_describe_by_call(struct thread *t);
/* It was woken by r, a REC_WAKING; waker NULL: a thread not known; inside: of the program. */
void sleep_wake(struct thread *t, struct thread *waker, bool inside, const struct record *r);
/* That record was its wakeup, and the waker's doing. */
bool sleep_woken_by(const struct thread *t, const struct thread *waker, uint64_t time_ns);
/* It got a CPU again, or the recording ends: the sleep joins its history. */
void sleep_settle(struct thread *t, uint64_t time_ns);
/* Of that time, if the thread with that index held up a sleeper at the futex: what is idle. */
uint64_t sleep_idle_behind(const struct threads *th, uint32_t thread, uint32_t word,
			   uint64_t from_ns, uint64_t to_ns);
/* The number of the place of a timed sleep (tries.h), 0: it is none, or none is known. */
uint32_t sleep_place(const struct thread *t);
/* It ended by itself. */
void sleep_last_acts(const struct thread *t, uint64_t time_ns);
/* Of the part of the sleep from from_ns to to_ns, at most the wakeup: what is idle. */
uint64_t sleep_idle_ns(const struct thread *t, uint64_t from_ns, uint64_t to_ns);

#endif
