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

/* -p, "12,34" and repeated options alike; *pids is the caller's to free. */
int target_pids(const struct arg_list *words, pid_t **pids, size_t *n, struct err *err);
/* Words as a shell would have to be given them. */
void target_words(struct text *out, char *const *words, int n);
/* --user; no_command: there is none to run as that user. */
int target_user(struct identity *user, const char *word, bool no_command, struct err *err);

#endif
