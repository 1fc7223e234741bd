/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stretch of `ispot fleet record`: who has the CPUs, and meanwhile either how long calls took,
 * which an `ispot record` in a process of its own has recorded, or samples of the instructions and
 * cycles of every CPU.
 */
#ifndef ISPOT_CMD_FLEET_WINDOW_H
#define ISPOT_CMD_FLEET_WINDOW_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmd/fleet/wanted.h"

struct applications;
struct cpus;
struct err;
struct fleet_args;
struct fleet_ipc;
struct fleet_live;
struct ipc;
struct occupancy;
struct text;

struct fleet_window {
	const struct fleet_args *args; /* functions, and the process or */
	char **command;		       /* the program; NULL-terminated */
	uint64_t on_ns;		       /* how long; 0: as the arguments say */
	struct cpus *cpus;	       /* that are watched, or were when it was open */
	bool came;		       /* some of them while recording; who heeds it clears it */
	struct applications *apps;
	sigset_t ends;	  /* signals that end the recording; are blocked */
	bool interrupted; /* by one of them */
	/* The records of the latest window: */
	uint64_t from_ns, to_ns;
	struct fleet_live *live; /* to be cleared before the next */
	char indicator[64];	 /* "duration of f"; empty: nothing was called */
	struct fleet_wanted wanted;
	int status; /* of ispot record, or of the command */
	/* of all: */
	uint64_t lost;			       /* context switches */
	uint64_t lost_samples, taken, records; /* taken: samples or calls; records: of switches */
	uint64_t throttled;		       /* times that counting stopped */
	double probes_ns; /* that calls took longer, as ispot record measured */
	bool cut;	  /* one had more context switches or calls than are kept */
	/* while it lasts: */
	struct occupancy *occupancy;
	bool open;
	uint64_t looked_ns; /* for CPUs that have come or gone */
	uint32_t function;  /* id of the one that calls are of; UINT32_MAX: none yet */
	bool several;
	/* of counters: */
	struct ipc *ipc;
	struct fleet_ipc *samples;
	pid_t child; /* the command; 0: none, or it has ended */
	bool ended;
};

int fleet_window_init(struct fleet_window *w, const struct fleet_args *args, char **command,
		      struct err *err);
/* trace: where ispot record may write; it is gone afterwards. */
int fleet_window_watch(struct fleet_window *w, const char *trace, struct err *err);
/* The same of counters: for on_ns, or until the command, which is started if need be, has ended.
 * The next one goes on where it ended, unless there was a pause. */
int fleet_window_count(struct fleet_window *w, struct err *err);
/*
 * Both kinds of windows do one turn of 20 ms at most until end_ns, and a last turn, which returns
 * when the window is over. pid: the process that gets signals as well; 0: none. Events are on the
 * CPUs that are online when they are opened; after each turn CPUs that came or went are looked for.
 */
int fleet_window_open(struct fleet_window *w, struct err *err);
void fleet_window_pause(struct fleet_window *w); /* idempotent */
int fleet_window_look(struct fleet_window *w, struct err *err);
void fleet_window_turn(struct fleet_window *w, uint64_t end_ns, pid_t pid);
uint64_t fleet_window_last(struct fleet_window *w);
/* Appends those of -p that are there, "12,34". */
void fleet_window_alive(const struct fleet_args *a, struct text *pids);
/* A process of a window's, with the signals as they were before ours were blocked; 0 or errno. */
int fleet_window_spawn(pid_t *pid, const char *program, char *const *words);
/* Between two: for ns, or until the recording is to end. */
void fleet_window_wait(struct fleet_window *w, uint64_t ns);
void fleet_window_release(struct fleet_window *w);

#endif
