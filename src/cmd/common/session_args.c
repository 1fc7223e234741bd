/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/session_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/args.h"
#include "base/text.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "probes/session/session.h"

#define BURST_LEAST_NS 10000000ull

int session_args_call_graph(const char *how, struct session_options *so, struct err *err)
{
	static const char *const names[] = {
		[CALL_GRAPH_FP] = "fp", [CALL_GRAPH_DWARF] = "dwarf", [CALL_GRAPH_NONE] = "none"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (how && !strcmp(how, names[i])) {
			so->call_graph = i;
			how = NULL;
		}
	if (how)
		return args_refuse(err, "-g %s: no way to take call stacks; give fp, dwarf or none",
				   how);
	if (so->slow_stack_ns && so->call_graph == CALL_GRAPH_NONE)
		return args_refuse(err, "--slow-stacks takes call stacks; leave out -g none");
	if (so->stack_period && so->call_graph == CALL_GRAPH_NONE)
		return args_refuse(err, "--stack-period is of call stacks; leave out -g none");
	return 0;
}

int session_args_status(const char *reason, int exit_status)
{
	return reason && !strcmp(reason, "duration") ? 0 : exit_status;
}

void session_args_failed(int ret, struct err *err)
{
	if (ret < 0 && err->exit_status != 2 && err->exit_status != 126 && err->exit_status != 127)
		err->exit_status = 125;
}

int session_args_burst(const char *word, struct session_options *so, struct err *err)
{
	const char *slash = strchr(word, '/');
	char *on = xstrndup(word, slash ? (size_t)(slash - word) : strlen(word));
	bool bad = !slash || text_parse_time(on, 1000000000, &so->burst_on_ns) ||
		   text_parse_time(slash + 1, 1000000000, &so->burst_period_ns);

	free(on);
	if (bad)
		return args_refuse(
			err, "--burst %s: not ON/PERIOD; give two times, such as 100ms/1s", word);
	if (so->burst_on_ns < BURST_LEAST_NS)
		return args_refuse(err, "--burst: ON is below 10 ms; give more");
	if (so->burst_period_ns < so->burst_on_ns + BURST_LEAST_NS)
		return args_refuse(
			err, "--burst: the period must be longer than the time that the probes "
			     "are in, by 10 ms at least; leave --burst out to have them in always");
	if (patterns_only_exclude(so->patterns, so->n_patterns))
		return args_refuse(err, "--burst needs functions to trace; name them with -F");
	return 0;
}
