/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words that options of `ispot record` take, as what they ask of a session. */
#ifndef ISPOT_CMD_COMMON_SESSION_ARGS_H
#define ISPOT_CMD_COMMON_SESSION_ARGS_H

struct err;
struct session_options;

/* -g: NULL is the default. With so->slow_stack_ns or stack_period set stacks are needed. */
int session_args_call_graph(const char *how, struct session_options *so, struct err *err);
/* --burst: "100ms/1s"; after the patterns are set. */
int session_args_burst(const char *word, struct session_options *so, struct err *err);
/* Returns ispot's exit status: the command's own, but 0 where -d ended the recording as asked. */
int session_args_status(const char *reason, int exit_status);
/*
 * Sets the exit status of a failure, as env(1) does: 126 and 127 are the command's, 2 is the
 * command line's, all other failures are 125.
 */
void session_args_failed(int ret, struct err *err);

#endif
