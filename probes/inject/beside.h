/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times some functions of a recording by the kernel's probes in the process instead. It implements
 * struct session_beside (probes/session/engine.h). */
#ifndef ISPOT_PROBES_INJECT_BESIDE_H
#define ISPOT_PROBES_INJECT_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct inject_beside;
struct session_options;
struct patch_function;
struct planned;
struct session_beside;

/*
 * Returns whether the kernel's probes keep a function that the user chose: one in which threads
 * wait, unless it takes a lock or its probe would be single-stepped. Such functions are called
 * rarely, and the kernel's probes record some of their stacks.
 */
bool inject_beside_is_for_kernel(const struct planned *p);

#define INJECT_ARGUMENTS_GONE "has arguments that are gone where it can be patched"
/* Returns whether the arguments that the user asked for can be recorded where the function is
 * patched. Otherwise INJECT_ARGUMENTS_GONE. */
bool inject_beside_records_arguments(const struct planned *p, const struct patch_function *f);

/*
 * Returns 0, or -errno (-ENOTSUP, -EPERM, …) with a sentence in err if functions cannot be timed in
 * the process. o->overhead is the share of the program's time that these calls may cost, or 0 for
 * no limit.
 */
int inject_beside_new(struct inject_beside **b, const struct session_options *o, struct err *err);
const struct session_beside *inject_beside_get(const struct inject_beside *b);
void inject_beside_free(struct inject_beside *b);

#endif
