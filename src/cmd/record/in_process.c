// SPDX-License-Identifier: GPL-3.0-or-later
/* Records with code that is put into the program. */
#include <string.h>

#include "base/log.h"
#include "cmd/common/engine.h"
#include "cmd/record/recorder.h"
#include "probes/inject/record.h"
#include "probes/session/session.h"

static bool is_wanted(const struct record_options *o, const struct session_options *so)
{
	(void)so;
	if (o->engine && strcmp(o->engine, "auto") != 0)
		return !strcmp(o->engine, "in-process");
	return engine_is_in_process();
}

static int record(const struct record_options *o, struct session_options *so,
		  struct recorder_end *end, struct err *err)
{
	struct session_result result;
	int ret;

	if (!o->engine)
		log_notice("calls are timed in the process, as kernel probes need root");
	ret = inject_record(so, &result, err);
	if (ret)
		return ret;
	if (!result.calls)
		log_notice("no calls were seen: none of the patched functions ran meanwhile");
	recorder_fill_end(end, &result);
	return 0;
}

const struct recorder recorder_in_process = { RECORDER_IN_PROCESS, is_wanted, record };
