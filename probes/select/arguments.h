/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chooses the arguments of a function's calls that are recorded: those that its pattern names
 * behind '@' ("arg1,arg3", "fd,count", "ret") and those in the table of known_args.c. The DWARF
 * prototype gives the names, and tells whether an argument is in an integer register at all.
 * Without a prototype, "argN" is the N-th integer register of the calling convention.
 */
#ifndef ISPOT_PROBES_SELECT_ARGUMENTS_H
#define ISPOT_PROBES_SELECT_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/bpf/wire.h"
#include "trace/meta/known_args.h"
#include "symbol/dso/dso.h"
#include "trace/format.h"
#include "trace/meta/meta.h"

struct err;

#define ARGUMENTS_NAMED_MAX (DSO_PARAMETERS_MAX + KNOWN_ARGS_MAX + 1) /* and the return value */

struct arguments {
	uint64_t parameters; /* of the function; META_UNKNOWN without debug information */
	uint32_t n;	     /* how many are recorded */
	struct meta_argument all[ARG_BITS];
	uint8_t bytes[ARG_BITS]; /* [bit]: size of the value; 0: not recorded */
	uint32_t registers;	 /* bit i: integer register i is read at the entry */
	uint32_t addresses;	 /* bit i: an address, whose name is looked up */
	bool occasional;	 /* at one entry in WIRE_OCCASION, and only values that may count */
	bool returns;		 /* the return value is read at the exit */
	bool caller; /* the return address is read at the entry, in process: kernel probes always do
		      */
	/*
	 * The parameters that a pattern could name, and whether they could be recorded; none
	 * without a prototype.
	 */
	uint32_t n_prototype;
	struct meta_parameter prototype[ARGUMENTS_NAMED_MAX];
	char names[ARG_BITS][16]; /* "arg1" */
};

/* The names of --no-key, "*" means every function. */
struct no_key {
	const char *const *names;
	size_t n;
};

bool no_key_means(const char *name, struct dso *dso, const struct dso_function *f);

/*
 * Chooses the arguments of f. words: the text behind the '@' of the pattern, or "". If the function
 * lacks an argument, or has it in no integer register, the error has exit status 2 and shows the
 * prototype. some: a glob chose the function, so such arguments are skipped; then err is set, but
 * the result is 0.
 */
int arguments_choose(struct arguments *a, const char *words, bool some, struct dso *dso,
		     const struct dso_function *f, const struct no_key *no_key, struct err *err);

/*
 * If nothing else is recorded, adds arguments that may tell that a call has more work: the first
 * integer arguments that are no pointers and are still in their registers where the probe sits
 * (intact, bit i: argument i). Without a prototype, any of the first three may be such an argument.
 */
void arguments_add_occasional(struct arguments *a, struct dso *dso, const struct dso_function *f,
			      uint32_t intact, const struct no_key *no_key);

/* Has the callers of functions recorded in which threads wait: where a lock is taken tells more
 * than that it is. */
void arguments_add_caller(struct arguments *a, const struct dso_function *f);

/* Removes the arguments whose registers are written before they are read: intact has a bit for each
 * argument that is still there. returns: the returned value can be read. Returns whether nothing is
 * removed. */
bool arguments_keep_intact(struct arguments *a, uint32_t intact, bool returns);

/* Whether an occasional value may be a count of work: it is neither an address nor negative. */
bool argument_may_count(uint64_t value);

/* Returns the value in a register, converted to the width and sign of its type. */
uint64_t argument_value(const struct arguments *a, uint32_t bit, uint64_t raw);

/*
 * Stores the values of a REC_ARGS at an entry: the mask of the recorded arguments, then their
 * values. Returns how many values these are; 0: no argument is worth recording.
 */
uint32_t arguments_values(const struct arguments *a, const struct wire_args *entry,
			  uint64_t values[WIRE_ARGS_MAX + 1]);

#endif
