/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which arguments of a function's calls are recorded: those that its pattern names behind '@'
 * ("arg1,arg3", "fd,count", "ret") and those of the table of known_args.c. A name, and whether the
 * argument is in an integer register at all, come from the DWARF prototype; without one "argN" is
 * the N-th integer register of the calling convention.
 */
#ifndef ISPOT_PROBES_SELECT_ARGUMENTS_H
#define ISPOT_PROBES_SELECT_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/meta/known_args.h"
#include "symbol/dso/dso.h"
#include "trace/format.h"
#include "trace/meta/meta.h"

struct err;

#define ARGUMENTS_NAMED_MAX (DSO_PARAMETERS_MAX + KNOWN_ARGS_MAX + 1) /* and what it returns */

struct arguments {
	uint64_t parameters; /* that the function has; META_UNKNOWN without debug information */
	uint32_t n;	     /* recorded */
	struct meta_argument all[ARG_BITS];
	uint8_t bytes[ARG_BITS]; /* [bit]: of the value in its register; 0: not recorded */
	uint32_t registers;	 /* bit i: integer register i is read at the entry */
	uint32_t addresses;	 /* bit i: it is one, and a name is looked for */
	bool occasional;	 /* at one entry in WIRE_OCCASION, and only values that may count */
	bool returns;		 /* the return value is read at the exit */
	/*
	 * The parameters that could be named, and whether they could be recorded; none without a
	 * prototype.
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
 * words: behind the '@' of the pattern, "" none. Exit status 2 for an argument that the function
 * does not have, or has in no integer register; the sentence shows the prototype. some: as a glob
 * chose it, such arguments are left out; then the sentence is there, and it returns 0.
 */
int arguments_choose(struct arguments *a, const char *words, bool some, struct dso *dso,
		     const struct dso_function *f, const struct no_key *no_key, struct err *err);

/*
 * Adds arguments that may tell that a call has more to do, where nothing else is recorded: the
 * first integer arguments that are no pointers, of those still in their registers (intact, bit i:
 * argument i) where the probe sits. Without a prototype any of the first three may be one.
 */
void arguments_add_occasional(struct arguments *a, struct dso *dso, const struct dso_function *f,
			      uint32_t intact, const struct no_key *no_key);

/* An occasional value that is no address, nor negative: one that work may follow. */
bool argument_may_count(uint64_t value);

/* The value that a register holds, by the width and sign of its type. */
uint64_t argument_value(const struct arguments *a, uint32_t bit, uint64_t raw);

#endif
