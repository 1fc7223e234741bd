/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPU samples added up by function: those of the function itself (it was the innermost frame) and
 * inclusive ones (it was anywhere on the call chain, counted once per sample). A function is hot by
 * the current window or by all samples, but never by very few samples, because each function that
 * runs once when a program starts or ends may have one.
 */
#ifndef ISPOT_PROBES_SAMPLE_PROFILE_H
#define ISPOT_PROBES_SAMPLE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/vec.h"

struct dso;
struct dso_function;
struct sample;
struct spaces;

struct profile_function {
	struct dso *dso;
	const struct dso_function *function;
	char *path;		  /* a path through which ispot can open the file */
	uint64_t self, inclusive; /* samples in the current window */
	uint64_t all;		  /* inclusive samples in all windows */
	uint64_t seen_in;	  /* number of the last sample that counted the function */
};

/* Samples whose innermost address is in no function with a symbol. */
struct profile_object {
	const struct dso *dso;
	double time_ns;
};

struct profile {
	struct spaces *spaces;
	/* time that a sample stands for, set by the owner; 0: no times are added up */
	double period_ns;
	double total_ns; /* time of all samples */
	struct {
		VEC(struct profile_object)
	} unnamed;
	struct {
		VEC(struct profile_function)
	} functions;
	struct map by_function; /* address of the dso_function -> index */
	uint64_t samples;	/* samples in the current window */
	uint64_t total_samples;
};

#define PROFILE_HOT_SAMPLES   5	  /* fewer samples may be chance */
#define PROFILE_SHARE_SAMPLES 100 /* fewer samples are too few for a share */

void profile_init(struct profile *p, struct spaces *spaces);
void profile_add(struct profile *p, const struct sample *s);
/*
 * Whether at least that share of the samples, in the current window or in all, have the function on
 * their chain.
 */
bool profile_is_hot(const struct profile *p, const struct profile_function *f, double share);
bool profile_is_hot_overall(const struct profile *p, const struct dso_function *f, double share);
/*
 * Returns the larger of the function's two shares, or NAN if there are too few samples or none of
 * the function.
 */
double profile_share(const struct profile *p, const struct dso_function *f);
/* Returns the object with the most time in functions without a symbol, or NULL. */
const struct profile_object *profile_most_unnamed(const struct profile *p);
void profile_begin_window(struct profile *p); /* restarts the shares of the window at zero */
void profile_release(struct profile *p);

#endif
