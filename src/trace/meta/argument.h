/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How recorded arguments are counted: "arg1" is the first parameter, number 0 what is returned. */
#ifndef ISPOT_TRACE_META_ARGUMENT_H
#define ISPOT_TRACE_META_ARGUMENT_H

#include <stdint.h>

struct meta_function;

/* Numbers from here on: the value has a name, but whether it is the first parameter or another is
 * not known, as in what perf has recorded. */
#define ARGUMENT_UNPLACED 1001u

/* Returns N of the name "argN", or 0 if it is no such name. */
uint64_t meta_argument_number(const char *name);

/* Returns the number of the parameter that was recorded in integer register bit, 0 for ARG_RETURN.
 */
uint32_t meta_argument_of_bit(const struct meta_function *f, uint32_t bit);

#endif
