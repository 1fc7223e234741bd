/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Groups calls by the values of their arguments: a rule for keyed.h (the paper's feedback: a
 * function whose work depends on an argument is several blocks). By default, functions are split by
 * the arguments that their meta line marks as keys; `--key` selects others, `--no-key` none. The
 * class of an argument decides which values belong together: addresses by symbol and offset, if the
 * recording has these; sizes by their power of two.
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

#define ARGKEY_TUPLES 65536 /* combinations of several arguments that are kept apart */

struct argkey_values {
	uint64_t values[ARG_BITS];
};

struct argkeys {
	const struct meta *meta;
	struct argkey_function {
		uint32_t n, mask;
		bool asked; /* split because of --key */
		const struct meta_argument *by[ARG_BITS];
	} * functions;	     /* [function id]; n 0: not split */
	struct strtab names; /* names of addresses */
	struct map place_of; /* address -> index of names, for addresses that have a name */
	struct {
		VEC(struct argkey_values)
	} tuples;
	struct map tuple_of; /* hash -> tuple; the next free key on a collision */
	uint32_t n_split;    /* functions that are split */
};

/*
 * keys: "FUNC@ARG[,ARG...][,FUNC@ARG...]", where FUNC is a name or glob, and ARG the name of a
 * recorded argument, argN or ret. no_keys: names or globs of functions that are not split. Returns
 * -EINVAL if a key is malformed, or -ENOENT if there is no such function or its argument was not
 * recorded; err then says how to record it.
 */
int argkeys_init(struct argkeys *a, const struct meta *meta, const char *const *keys, size_t n_keys,
		 const char *const *no_keys, size_t n_no_keys, struct err *err);
struct keyed_rule argkeys_rule(struct argkeys *a);
/*
 * Called after keyed_build(). A function whose calls all have one key gets that key, and its group
 * is removed. A function with several keys is marked as split. It is also marked as alike if
 * reports need not show its keys: none of many keys has half of the lost time; or the keys that can
 * be judged have less than a quarter of it; or none can be judged, and all have half of it
 * together; or each thread uses an address of its own. It is not alike if some key can be judged
 * and the function as a whole cannot.
 */
void argkeys_finish(const struct argkeys *a, const struct keyed *k, struct blocks *functions,
		    struct blocks *groups);
void argkeys_release(struct argkeys *a);

/* Returns a printable name of an address, "locks+0x28" or "0x7f12…", valid as long as a and hex
 * are. */
const char *argkeys_place(const struct argkeys *a, uint64_t address, char hex[24]);
/* Returns a number that is the same for all addresses with the same name. */
uint64_t argkeys_place_id(const struct argkeys *a, uint64_t address);

#endif
