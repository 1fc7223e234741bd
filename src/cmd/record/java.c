/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By an agent inside of the Java machines. */
#include "base/log.h"
#include "cmd/record/recorder.h"
#include "pmu/group.h"
#include "probes/java/counted.h"
#include "probes/java/record.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "probes/session/session.h"

static bool is_wanted(const struct record_options *o, const struct session_options *so)
{
	(void)so;
	return o->java;
}

static int record(const struct record_options *o, struct session_options *so,
		  struct recorder_end *end, struct err *err)
{
	struct java_recording r = { .argv = so->argv,
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
				    .keep_slower_ns = so->keep_slower_ns,
				    .slow_stack_ns = so->slow_stack_ns };
	struct pattern_words words = { 0 };
	struct pmu_list counted;
	struct java_result result;
	int ret = 0;

	(void)o;
	if (!ret) /* the agent inside of the machine reads no files of patterns */
		ret = pattern_words_expand(&words, so->patterns, so->n_patterns, err);
	if (!ret)
		ret = java_counted_choose(&counted, so->events, err);
	if (!ret) {
		r.counted = &counted;
		r.patterns = (const char *const *)words.data;
		r.n_patterns = words.n;
		ret = java_record(&r, &result, err);
	}
	pattern_words_release(&words);
	if (ret)
		return ret;
	if (!result.calls && result.machines)
		log_notice("no calls were seen: %s",
			   so->n_patterns ? "no method that -F matches ran; give names as "
					    "com.example.Store.get, with * for anything"
					  : "no synchronized method of the program ran; name "
					    "others with -F");
	*end = (struct recorder_end){ .calls = result.calls,
				      .functions = result.functions,
				      .lost = result.lost,
				      .file_bytes = result.file_bytes,
				      .unit = "method",
				      .reason = result.reason,
				      .exit_status = result.exit_status };
	return 0;
}

const struct recorder recorder_java = { RECORDER_JAVA, is_wanted, record };
