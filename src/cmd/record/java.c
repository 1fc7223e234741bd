/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records with an agent inside the Java machines. */
#include "cmd/record/recorder.h"
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
	struct session_options own = *so;
	struct pattern_words words = { 0 };
	struct session_result result;
	int ret;

	(void)o;
	/* The agent inside the machine reads no files of patterns. */
	ret = pattern_words_expand(&words, so->patterns, so->n_patterns, err);
	if (!ret) {
		own.patterns = (const char *const *)words.data;
		own.n_patterns = words.n;
		ret = java_record(&own, &result, err);
	}
	pattern_words_release(&words);
	if (!ret)
		recorder_fill_end(end, &result);
	end->unit = "method";
	return ret;
}

const struct recorder recorder_java = { RECORDER_JAVA, is_wanted, record };
