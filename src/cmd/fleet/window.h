/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A window of `ispot fleet record`: a time in which it watches which programs have the CPUs.
 * Meanwhile either an `ispot record` in a process of its own records how long calls take, or the
 * instructions and cycles of every CPU are sampled.
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
	const struct fleet_args *args; /* has the functions, and the process or … */
	char **command;		       /* … the command; NULL-terminated */
	uint64_t on_ns;		       /* length; 0: as the arguments say */
	struct cpus *cpus;	       /* the watched CPUs */
	bool came; /* CPUs came meanwhile; whoever reads their topology clears it */
	struct applications *apps;
	sigset_t ends;	  /* signals that end the recording, which are blocked */
	bool interrupted; /* by one of them */
	/* The latest window: */
	uint64_t from_ns, to_ns;
	struct fleet_live *live; /* cleared before the next window */
	char indicator[64];	 /* "duration of f"; "": nothing was called */
	struct fleet_wanted wanted;
	int status; /* exit status of ispot record, or of the command */
	/* of all: */
	uint64_t lost;			       /* context switches */
	uint64_t lost_samples, taken, records; /* taken: samples or calls; records: of switches */
	uint64_t throttled;		       /* times that counting stopped */
	double probes_ns; /* time that probes added to calls, as ispot record measured it */
	bool cut;	  /* a window had more context switches or calls than are kept */
	/* while it lasts: */
	struct occupancy *occupancy;
	bool open;
	uint64_t looked_ns; /* when CPUs that came or went were looked for last */
	uint32_t function;  /* id of the called function; UINT32_MAX: none yet */
	bool several;
	/* of counters: */
	struct ipc *ipc;
	struct fleet_ipc *samples;
	pid_t child; /* the command; 0: there is none, or it has ended */
	bool ended;
};

int fleet_window_init(struct fleet_window *w, const struct fleet_args *args, char **command,
		      struct err *err);
/* Records calls in a window. trace: path for the file of ispot record, which is removed afterwards.
 */
int fleet_window_watch(struct fleet_window *w, const char *trace, struct err *err);
/*
 * Samples counters in a window of on_ns, or until the command has ended, which the first window
 * starts. The next window continues where this one ended, unless there was a pause.
 */
int fleet_window_count(struct fleet_window *w, struct err *err);
/*
 * The parts of both kinds of windows: turns of at most 20 ms until end_ns, and a last one, which
 * returns the end of the window. pid: a process to pass signals on to; 0: none. Events are opened
 * on the CPUs that are online; CPUs that come or go are looked for after each turn.
 */
int fleet_window_open(struct fleet_window *w, struct err *err);
void fleet_window_pause(struct fleet_window *w); /* idempotent */
int fleet_window_look(struct fleet_window *w, struct err *err);
void fleet_window_turn(struct fleet_window *w, uint64_t end_ns, pid_t pid);
uint64_t fleet_window_last(struct fleet_window *w);
/* Appends the processes of -p that are alive: "12,34". */
void fleet_window_alive(const struct fleet_args *a, struct text *pids);
/* Starts a process of a window, without the signals that ispot blocks. Returns 0 or errno. */
int fleet_window_spawn(pid_t *pid, const char *program, char *const *words);
/* Waits between two windows, or until the recording is to end. */
void fleet_window_wait(struct fleet_window *w, uint64_t ns);
void fleet_window_release(struct fleet_window *w);

#endif
