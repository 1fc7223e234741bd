/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option --engine, for all commands that have it: what times the calls. */
#ifndef ISPOT_CMD_COMMON_ENGINE_H
#define ISPOT_CMD_COMMON_ENGINE_H

#include <stdbool.h>

struct err;
struct inject_beside;
struct session_options;

enum engine { ENGINE_KERNEL, ENGINE_IN_PROCESS, ENGINE_AUTO };

/* word: NULL if the option was not given, which means ENGINE_KERNEL. */
int engine_parse(const char *word, enum engine *engine, struct err *err);
/* Returns whether ispot record times calls in process alone unless told otherwise. That needs no
 * privilege, so users get it who may not set kernel probes. */
bool engine_is_in_process(void);
/* Refuses the option for a command that reads recordings: their engine was chosen by `ispot
 * record`. word: NULL if the option was not given, which is no error. */
int engine_refuse(const char *word, const char *command, struct err *err);
/*
 * Lets the session hand over, to be timed in process, what is too costly for kernel probes.
 * why_not: a clause, if anything that was asked for takes kernel probes; NULL: nothing. is_asked:
 * the user has asked for it, and is told if it cannot be; else that is a detail. Returns what is
 * freed when the session has been; NULL: kernel probes time all calls.
 */
struct inject_beside *engine_add_in_process(struct session_options *so, const char *why_not,
					    bool is_asked);

#endif
