/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns words that options of `ispot record` take into options of a session. */
#ifndef ISPOT_CMD_COMMON_SESSION_ARGS_H
#define ISPOT_CMD_COMMON_SESSION_ARGS_H

struct err;
struct session_options;

/* Sets the call graph of -g; how: NULL for the default. Call it after so->slow_stack_ns and
 * so->stack_period are set, which need call stacks. */
int session_args_call_graph(const char *how, struct session_options *so, struct err *err);
/* Sets the bursts of --burst: "100ms/1s". Call it after the patterns are set. */
int session_args_burst(const char *word, struct session_options *so, struct err *err);
/* Returns ispot's exit status: the command's own, or 0 if -d ended the recording. */
int session_args_status(const char *reason, int exit_status);
/*
 * Sets the exit status of a failure, as env(1) does: 126 and 127 are the command's, 2 is the
 * command line's, all other failures are 125.
 */
void session_args_failed(int ret, struct err *err);

#endif
