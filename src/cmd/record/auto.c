// SPDX-License-Identifier: GPL-3.0-or-later
/* Records with the kernel's probes, and in process the functions for which they cost too much. */
#include <string.h>

#include "cmd/common/engine.h"
#include "cmd/record/recorder.h"
#include "probes/inject/beside.h"
#include "probes/recording/options.h"

/* A command can be patched before its first instruction. A running process would be stopped for it,
 * so it is patched only if the user asks for that. */
static bool is_wanted(const struct record_options *o, const struct session_options *so)
{
	return o->engine ? !strcmp(o->engine, "auto") : so->argv && !so->n_pids;
}

static int record(const struct record_options *o, struct session_options *so,
		  struct recorder_end *end, struct err *err)
{
	char option[512];
	const bool is_kernels = recorder_needs_probes(o, so, option, sizeof(option));
	struct inject_beside *b = engine_add_in_process(so, is_kernels ? option : NULL, o->engine);
	int ret = recorder_kernel.record(o, so, end, err);

	inject_beside_free(b);
	return ret;
}

const struct recorder recorder_auto = { RECORDER_AUTO, is_wanted, record };
