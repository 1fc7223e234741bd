/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The indicators that the user wants of `ispot fleet record`. Those of counters (ipc, and events
 * per 1,000 instructions) are known from their names. Durations are known only once a trace shows
 * which functions -F chose.
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
	/* The functions of -F in the first trace, if each is an indicator: */
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
/* Returns whether each indicator has its number. Nothing is written before that, because the
 * indicators after the functions move when these become known. */
bool fleet_wanted_known(const struct fleet_wanted *w);
/* Returns the number of a function's indicator, or UINT32_MAX if it has none. */
uint32_t fleet_wanted_find(const struct fleet_wanted *w, uint32_t function);
/* Numbers the values of counters, once the functions are known. */
void fleet_wanted_numbers(const struct fleet_wanted *w, struct fleet_ipc *samples);
/* Sets the values of one sample, by the numbers of the indicators. */
void fleet_wanted_values(const struct fleet_wanted *w, const struct ipc_sample *s,
			 uint32_t *values);
/* Fills in the header. duration: the name of the indicator, if only one function is one. */
void fleet_wanted_describe(const struct fleet_wanted *w, const char *duration,
			   struct fleet_header *h);

#endif
