/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls by the values of their arguments: a rule for keyed.h (the paper's feedback: a function
 * whose work depends on an argument is several blocks). Without being asked, functions are split
 * by the arguments of which their meta line says so (key); `--key` chooses others, `--no-key` none.
 * How values are told apart is the argument's class: an address by the symbol that it is in and
 * the offset there, where the recording has that, a size by its power of two.
 */
#ifndef ISPOT_ANALYSIS_GROUP_ARGKEY_H
#define ISPOT_ANALYSIS_GROUP_ARGKEY_H

#include <stdint.h>

#include "analysis/score/keyed.h"
#include "base/hash.h"
#include "base/vec.h"
#include "trace/format.h"

struct err;
struct meta_argument;

#define ARGKEY_TUPLES 65536 /* combinations of several arguments that are told apart */

struct argkey_values {
	uint64_t values[ARG_BITS];
};

struct argkeys {
	const struct meta *meta;
	struct argkey_function {
		uint32_t n, mask;
		bool asked; /* by --key */
		const struct meta_argument *by[ARG_BITS];
	} * functions;	     /* [function id]; n 0: not split */
	struct strtab names; /* of addresses: places in memory */
	struct map place_of; /* address -> number in names; those without a name are not in it */
	struct {
		VEC(struct argkey_values)
	} tuples;
	struct map tuple_of; /* hash, probed upwards -> tuple */
	uint32_t n_split;    /* functions */
};

/*
 * keys: "FUNC@ARG[,ARG...][,FUNC@ARG...]", FUNC a name or glob, ARG a recorded argument's name,
 * argN or ret. no_keys: names or globs of functions that are not split. -EINVAL: malformed;
 * -ENOENT: no such function, or its argument was not recorded; says how to record it.
 */
int argkeys_init(struct argkeys *a, const struct meta *meta, const char *const *keys, size_t n_keys,
		 const char *const *no_keys, size_t n_no_keys, struct err *err);
struct keyed_rule argkeys_rule(struct argkeys *a);
/*
 * After keyed_build(): a function whose calls all had one key gets that key, and its group goes;
 * one that has several is marked as split,
 * and as alike where none of many has half of what it loses, or none can be judged and all have,
 * or each thread has a place in memory of its own; not so where one can be judged and the whole
 * cannot.
 */
void argkeys_finish(const struct argkeys *a, const struct keyed *k, struct blocks *functions,
		    struct blocks *groups);
void argkeys_release(struct argkeys *a);

/* "locks+0x28", "0x7f12…": a place in memory as people read it, valid while a is. */
const char *argkeys_place(const struct argkeys *a, uint64_t address, char hex[24]);
/* The same number for all addresses of one such name. */
uint64_t argkeys_place_id(const struct argkeys *a, uint64_t address);

#endif
