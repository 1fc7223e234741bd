/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Without privilege: by probes that an administrator has registered. */
#include <unistd.h>

#include "cmd/common/session_args.h"
#include "cmd/record/recorder.h"
#include "probes/session/session.h"
#include "probes/shared/record.h"
#include "probes/shared/shared.h"

static bool is_wanted(const struct record_options *o)
{
	struct shared_probes all;
	bool any = geteuid() && !shared_read(&all, NULL) && all.n;

	(void)o;
	if (geteuid())
		shared_release(&all);
	return any;
}

static int run(const struct record_options *o, struct session_options *so, int *status,
	       struct err *err)
{
	const struct shared_recording r = { .patterns = so->patterns,
					    .n_patterns = so->n_patterns,
					    .argv = so->argv,
					    .output = so->output,
					    .command = so->command,
					    .options = so->options,
					    .version = so->version,
					    .max_bytes = so->max_bytes,
					    .ring_bytes = so->ring_bytes,
					    .duration_ns = so->duration_ns,
					    .inherit = so->inherit };
	struct shared_result result;
	int ret;

	ret = recorder_check(RECORDER_SHARED, o, so->argv != NULL, err);
	if (!ret)
		ret = shared_record(&r, &result, err);
	if (ret)
		return ret;
	recorder_report_end(&(struct recorder_end){ .calls = result.calls,
						    .functions = result.functions,
						    .lost = result.lost,
						    .unit = "function",
						    .output = so->output,
						    .reason = result.reason });
	*status = session_args_status(result.reason, result.exit_status);
	return 0;
}

const struct recorder recorder_shared = { RECORDER_SHARED, is_wanted, run };
