/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records with the kernel's probes, as root. */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/common/session_args.h"
#include "cmd/record/recorder.h"
#include "probes/session/open.h"
#include "probes/session/session.h"
#include "trace/meta/meta.h"

/* Says why there are no calls: of an idle program it is not the choice of functions. */
static void no_calls_notice(const struct session_result *r, const struct session_options *so)
{
	char functions[TEXT_COUNTED];

	if (meta_hardly_runs((double)r->target_cpu_ns, 0, (double)r->duration_ns)) {
		log_notice("no calls were seen: the recorded processes hardly ran; "
			   "record them while they are busy");
		return;
	}
	log_notice("no calls were seen: %s probed, none ran in a traced process meanwhile; "
		   "run ispot check to see what %s matches, or %s",
		   text_counted(functions, r->functions, "function"),
		   so->n_patterns ? "-F" : "a -F",
		   so->n_patterns ? "record without -F to see what runs"
				  : "ispot report to see what else is hot");
}

static void fill_end(struct recorder_end *end, const struct session_result *r,
		     const struct session_options *so)
{
	char calls[TEXT_COUNTED];

	/* If nothing was probed, the session has reported why. */
	if (!r->calls && r->trapped_calls)
		log_notice("none of the %s was recorded, as one in %llu was to be; record with a "
			   "smaller -c",
			   text_counted(calls, r->trapped_calls, "call"),
			   (unsigned long long)so->period);
	else if (!r->calls && !r->cut_short && !r->began_at_end && r->functions)
		no_calls_notice(r, so);
	recorder_fill_end(end, r);
}

/* Runs one session. choice: for a scout, the functions that it would trace; NULL otherwise. */
static int run_session(const struct session_options *so, struct session_result *result,
		       struct session_choice *choice, struct err *err)
{
	struct session *s = NULL;
	int ret = session_open(&s, so, err);

	if (!ret)
		ret = session_run(s, result, err);
	if (!ret && choice)
		session_choice(s, choice);
	session_free(s);
	return ret;
}

/* Runs the command once to see what is hot, and once more to trace that within the budget. */
static int run_twice(const struct session_options *so, struct recorder_end *end, struct err *err)
{
	struct session_result result = { 0 };
	struct session_options first = *so, second = *so;
	struct session_choice choice = { 0 };
	char n[TEXT_COUNTED];
	int ret;

	first.scout = true;
	first.output = "/dev/null";
	log_notice("first pass: looking for what is hot");
	ret = run_session(&first, &result, &choice, err);
	if (!ret && result.interrupted) {
		log_notice("ended in the first pass, nothing is recorded");
		end->exit_status = session_args_status(result.reason, result.exit_status);
	} else if (!ret && !choice.patterns.n) {
		ret = err_set(err, -ENODATA,
			      "the first pass found nothing to trace; name functions with -F");
	}
	if (!ret && !result.interrupted) {
		second.keep_budget = true;
		second.patterns = choice.patterns.data;
		second.n_patterns = choice.patterns.n;
		second.cpu_shares = choice.shares.data;
		second.left_out = choice.left_out.data;
		second.n_left_out = choice.left_out.n;
		log_notice("second pass: tracing %s",
			   text_counted(n, choice.patterns.n, "function"));
		ret = run_session(&second, &result, NULL, err);
		if (!ret)
			fill_end(end, &result, &second);
	}
	session_choice_release(&choice);
	return ret;
}

static bool is_wanted(const struct record_options *o, const struct session_options *so)
{
	(void)o, (void)so;
	return true;
}

static int record(const struct record_options *o, struct session_options *so,
		  struct recorder_end *end, struct err *err)
{
	struct session_result result = { 0 };
	int ret;

	if (o->two_pass)
		return run_twice(so, end, err);
	ret = run_session(so, &result, NULL, err);
	if (!ret)
		fill_end(end, &result, so);
	return ret;
}

const struct recorder recorder_kernel = { RECORDER_KERNEL, is_wanted, record };
