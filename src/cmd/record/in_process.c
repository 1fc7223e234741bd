// SPDX-License-Identifier: GPL-3.0-or-later
/* By code that is put into the program, next to its own. */
#include <string.h>

#include "base/log.h"
#include "cmd/record/recorder.h"
#include "probes/inject/record.h"
#include "probes/session/session.h"

static bool is_wanted(const struct record_options *o)
{
	return o->engine && !strcmp(o->engine, "in-process");
}

static int record(const struct record_options *o, struct session_options *so,
		  struct recorder_end *end, struct err *err)
{
	const struct inject_recording r = { .patterns = so->patterns,
					    .n_patterns = so->n_patterns,
					    .argv = so->argv,
					    .pids = so->pids,
					    .n_pids = so->n_pids,
					    .output = so->output,
					    .command = so->command,
					    .options = so->options,
					    .version = so->version,
					    .user = so->user,
					    .max_bytes = so->max_bytes,
					    .duration_ns = so->duration_ns,
					    .ring_bytes = so->ring_bytes,
					    .period = so->period,
					    .keep_slower_ns = so->keep_slower_ns };
	struct inject_result result;
	int ret = inject_record(&r, &result, err);

	(void)o;
	if (ret)
		return ret;
	if (!result.calls)
		log_notice("no calls were seen: none of the patched functions ran meanwhile");
	*end = (struct recorder_end){ .calls = result.calls,
				      .functions = result.functions,
				      .lost = result.lost,
				      .file_bytes = result.file_bytes,
				      .reason = result.reason,
				      .exit_status = result.exit_status };
	return 0;
}

const struct recorder recorder_in_process = { RECORDER_IN_PROCESS, is_wanted, record };
