/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The indicators that `ispot fleet record` is asked for. Those that counters have (ipc, and events
 * per 1,000 instructions) are known by their names; those that are durations only when a trace has
 * said which functions -F chose.
 */
#ifndef ISPOT_CMD_FLEET_WANTED_H
#define ISPOT_CMD_FLEET_WANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/fleet/file.h"

struct err;
struct fleet_args;
struct fleet_header;
struct fleet_ipc;
struct ipc;
struct ipc_sample;
struct meta;

struct fleet_wanted {
	char *list;			     /* has the words */
	const char *words[FLEET_INDICATORS]; /* "duration", "ipc", "llc-misses" */
	uint32_t n;
	bool durations, counters; /* some of the words are */
	bool each;		  /* each function of -F is an indicator of its own */
	/* What the first trace said of the functions of -F, if each is one: */
	uint32_t functions[FLEET_INDICATORS]; /* ids */
	char names[FLEET_INDICATORS][64];     /* "duration of f" */
	uint32_t n_functions;		      /* 0: not known yet */
};

int fleet_wanted_init(struct fleet_wanted *w, const struct fleet_args *a, struct err *err);
void fleet_wanted_release(struct fleet_wanted *w);
/* Names the events to be opened. */
void fleet_wanted_events(const struct fleet_wanted *w, struct ipc *ipc);
/* Takes the functions from the first trace, in the order of their names. */
int fleet_wanted_functions(struct fleet_wanted *w, const struct meta *meta, struct err *err);
/* Whether each indicator has its number. Before that nothing is written: when the functions become
 * known, those after them move. */
bool fleet_wanted_known(const struct fleet_wanted *w);
/* The number of a function's indicator; UINT32_MAX: it is of none. */
uint32_t fleet_wanted_find(const struct fleet_wanted *w, uint32_t function);
/* Numbers the values of counters, once the functions are known. */
void fleet_wanted_numbers(const struct fleet_wanted *w, struct fleet_ipc *samples);
/* values: of one sample, as numbered. */
void fleet_wanted_values(const struct fleet_wanted *w, const struct ipc_sample *s,
			 uint32_t *values);
/* duration: the indicator, if only one function is. */
void fleet_wanted_describe(const struct fleet_wanted *w, const char *duration,
			   struct fleet_header *h);

#endif
