/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Without privilege: by probes that an administrator has registered. */
#include <unistd.h>

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

static int record(const struct record_options *o, struct session_options *so,
		  struct recorder_end *end, struct err *err)
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
	int ret = shared_record(&r, &result, err);

	(void)o;
	if (ret)
		return ret;
	*end = (struct recorder_end){ .calls = result.calls,
				      .functions = result.functions,
				      .lost = result.lost,
				      .reason = result.reason,
				      .exit_status = result.exit_status };
	return 0;
}

const struct recorder recorder_shared = { RECORDER_SHARED, is_wanted, record };
