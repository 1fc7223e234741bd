/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options by which commands name the target that they run or attach to. */
#ifndef ISPOT_CLI_TARGET_ARGS_H
#define ISPOT_CLI_TARGET_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct arg_list;
struct err;
struct identity;
struct text;

/* Parses the values of -p, as "12,34" or as repeated options. The caller frees *pids. */
int target_pids(const struct arg_list *words, pid_t **pids, size_t *n, struct err *err);
/* Appends the words, quoted for a shell. */
void target_words(struct text *out, char *const *words, int n);
/*
 * Finds the user of --user. no_command: there is no command to run as that user, which is an error.
 */
int target_user(struct identity *user, const char *word, bool no_command, struct err *err);

#endif
