/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPU samples summed up by function: the share of a function itself (it was the innermost frame)
 * and inclusive (it was anywhere on the chain, counted once a sample). What is hot is said of
 * the present window and of all samples, and never by a handful of them: each function that runs
 * once, when a program starts or ends, may have one.
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
	char *path;		  /* opens the file from here */
	uint64_t self, inclusive; /* samples in the present window */
	uint64_t all;		  /* inclusive, of all windows */
	uint64_t seen_in;	  /* number of the last sample that counted it */
};

/* Samples whose innermost place is in a function that no symbol names. */
struct profile_object {
	const struct dso *dso;
	double time_ns;
};

struct profile {
	struct spaces *spaces;
	double period_ns; /* that a sample stands for, the owner's to set; 0: nothing is summed up
			   */
	double total_ns;  /* of all samples */
	struct {
		VEC(struct profile_object)
	} unnamed;
	struct {
		VEC(struct profile_function)
	} functions;
	struct map by_function; /* address of the dso_function -> index */
	uint64_t samples;	/* in the present window */
	uint64_t total_samples;
};

#define PROFILE_HOT_SAMPLES   5	  /* fewer may be chance */
#define PROFILE_SHARE_SAMPLES 100 /* of fewer no share can be told */

void profile_init(struct profile *p, struct spaces *spaces);
void profile_add(struct profile *p, const struct sample *s);
/* At least that share of the samples, of the window or of all, has it on its chain. */
bool profile_is_hot(const struct profile *p, const struct profile_function *f, double share);
bool profile_is_hot_overall(const struct profile *p, const struct dso_function *f, double share);
/* The larger of the two shares; NAN: too few samples, or the function has none. */
double profile_share(const struct profile *p, const struct dso_function *f);
/* The object with the most time in functions without a name; NULL: none. */
const struct profile_object *profile_most_unnamed(const struct profile *p);
void profile_begin_window(struct profile *p); /* shares start from zero */
void profile_release(struct profile *p);

#endif
