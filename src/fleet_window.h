/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stretch of `ispot fleet record`: who has the CPUs from the start to the end of an `ispot
 * record` in a process of its own, and how long the calls took that this one has recorded.
 */
#ifndef ISPOT_FLEET_WINDOW_H
#define ISPOT_FLEET_WINDOW_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct applications;
struct cpus;
struct err;
struct fleet_args;
struct fleet_live;
struct occupancy;

struct fleet_window {
	const struct fleet_args *args; /* functions, and the process or */
	char **command;		       /* the program; NULL-terminated */
	uint64_t on_ns;		       /* how long; 0: as the arguments say */
	struct applications *apps;
	sigset_t ends;	  /* signals that end the recording; are blocked */
	bool interrupted; /* by one of them */
	/* What was seen, of the latest window: */
	uint64_t from_ns, to_ns;
	struct fleet_live *live; /* to be cleared before the next */
	char indicator[64];	 /* "duration of f"; empty: nothing was called */
	int status;		 /* of ispot record */
	/* of all: */
	uint64_t lost; /* context switches */
	bool cut;      /* one had more context switches or calls than are kept */
	/* while it lasts: */
	struct occupancy *occupancy;
	uint32_t function; /* id of the one that calls are of; UINT32_MAX: none yet */
	bool several;
};

int fleet_window_init(struct fleet_window *w, const struct fleet_args *args, char **command,
		      struct err *err);
/* trace: where ispot record may write; it is gone afterwards. */
int fleet_window_watch(struct fleet_window *w, const struct cpus *cpus, const char *trace,
		       struct err *err);
/* Between two: for ns, or until the recording is to end. */
void fleet_window_wait(struct fleet_window *w, uint64_t ns);
void fleet_window_release(struct fleet_window *w);

#endif
