/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of where the traced program is, at a low rate, in every recording. They show what differs
 * inside slow calls, and whether these spin. Without -F they also show which functions are hot
 * (hybrid.c).
 */
#ifndef ISPOT_PROBES_SESSION_SAMPLE_H
#define ISPOT_PROBES_SESSION_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/sample/sample.h"

struct costs;
struct err;
struct recording;

#define SAMPLE_HERTZ 97 /* of every recording; divides no usual period of programs */

struct sampling {
	/* parts that it asks */
	struct costs *costs;
	struct sampler sampler;
};

/* Opens the sampler of a recording with -F. */
void session_sample_open(struct sampling *sm, const struct recording *r);
/* Without -F: opens the sampler at this rate, with copies of the stack. */
int session_sample_open_at(struct sampling *sm, const struct recording *r, uint32_t hertz,
			   uint32_t copy_bytes, struct err *err);
/* Returns whether the sampler could be opened. */
bool session_takes_samples(const struct sampling *sm);
/* Sets the sampler's rate. */
void session_sample_set_rate(struct sampling *sm, uint32_t hertz);
/* With -F: sets the rate of the recording again, after the calibration had its own. */
void session_sample_restore(struct sampling *sm, const struct recording *r);
/* Tells the reader of the rings the rate from now on. */
void session_sample_rate(struct recording *r, uint32_t hertz);
/* Keeps samples from now on. */
void session_sample_start(struct recording *r);
void session_sample_read(struct sampling *sm, void (*visit)(void *ctx, const struct sample *sample),
			 void *ctx);
/* Returns how many samples found no room in the rings. */
uint64_t session_samples_lost(struct sampling *sm);
/* Returns the share of a thread's time that the samples which last until the end take. */
double session_sampling_share(const struct costs *costs);
/* Measures the cost of a sample in a process of ispot's own. The records are dropped. */
void session_calibrate_samples(struct sampling *sm, struct recording *r);
void session_sample_release(struct sampling *sm);

#endif
