// SPDX-License-Identifier: GPL-3.0-or-later
/* By the kernel's probes, and in process where those would cost too much. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "cmd/record/recorder.h"
#include "probes/inject/beside.h"
#include "probes/inject/record.h"
#include "probes/select/pattern.h"
#include "probes/session/beside.h"
#include "probes/session/engine.h"
#include "probes/session/options.h"

#define SHARE_IN_PROCESS 0.5 /* of the budget, where ispot chooses the functions */

static bool is_wanted(const struct record_options *o, const struct session_options *so)
{
	(void)so;
	return o->engine && !strcmp(o->engine, "auto");
}

static void say(const struct err *why)
{
	char words[sizeof(why->text) + 64];

	session_beside_refusal(why, words, sizeof(words));
	log_notice("%s", words);
}

static bool is_chosen(const struct session_options *so)
{
	return !patterns_only_exclude(so->patterns, so->n_patterns);
}

static struct inject_beside *new_beside(const struct record_options *o, struct session_options *so)
{
	const struct inject_recording r = { .argv = so->n_pids ? NULL : so->argv,
					    .pids = so->pids,
					    .n_pids = so->n_pids,
					    .ring_bytes = so->ring_bytes,
					    .period = so->period,
					    .overhead = is_chosen(so)
								? 0
								: SHARE_IN_PROCESS * so->overhead };
	struct inject_beside *b = NULL;
	struct err why = { 0 };
	char option[512];

	if (recorder_needs_probes(o, so, option, sizeof(option)))
		err_set(&why, -ENOTSUP, "%s", option);
	else
		inject_beside_new(&b, &r, &why);
	if (!b)
		say(&why);
	return b;
}

static int record(const struct record_options *o, struct session_options *so,
		  struct recorder_end *end, struct err *err)
{
	struct inject_beside *b = new_beside(o, so);
	int ret;

	if (b) {
		so->beside = inject_beside_get(b);
		if (!is_chosen(so)) {
			so->overhead_beside = SHARE_IN_PROCESS * so->overhead;
			so->overhead -= so->overhead_beside;
		}
	}
	ret = recorder_kernel.record(o, so, end, err);
	inject_beside_free(b);
	return ret;
}

const struct recorder recorder_auto = { RECORDER_AUTO, is_wanted, record };
