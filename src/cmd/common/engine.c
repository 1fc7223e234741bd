// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmd/common/engine.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "cli/args.h"
#include "probes/inject/beside.h"
#include "probes/inject/record.h"
#include "probes/kernel/tracing.h"
#include "probes/select/pattern.h"
#include "probes/session/beside.h"
#include "probes/recording/options.h"

/* Part of the budget, if ispot chooses the functions. Calls in process are cheap, and functions
 * that are called too often for it are removed. Kernel probes also pay for context switches. */
#define SHARE_IN_PROCESS 0.5

int engine_parse(const char *word, enum engine *engine, struct err *err)
{
	static const char *const names[] = { [ENGINE_KERNEL] = "kernel",
					     [ENGINE_IN_PROCESS] = "in-process",
					     [ENGINE_AUTO] = "auto" };

	*engine = ENGINE_KERNEL;
	if (!word)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(word, names[i])) {
			*engine = (enum engine)i;
			return 0;
		}
	return args_refuse(err, "--engine %s: no engine; give kernel, in-process or auto", word);
}

/* Those who can open the kernel's list of probes may set some. */
static bool may_probe(void)
{
	int fd = tracing_control();

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool engine_is_in_process(void)
{
	return geteuid() && !may_probe() && inject_is_possible();
}

int engine_refuse(const char *word, const char *command, struct err *err)
{
	enum engine engine;

	if (engine_parse(word, &engine, err))
		return err->code;
	return word ? args_refuse(
			      err,
			      "--engine %s: %s reads what was recorded; give it to ispot record",
			      word, command)
		    : 0;
}

static void report(const struct err *why, bool is_asked)
{
	char words[sizeof(why->text) + 64];

	session_beside_refusal(why, words, sizeof(words));
	if (is_asked)
		log_notice("%s", words);
	else
		log_detail("%s", words);
}

static bool is_chosen(const struct session_options *so)
{
	return !patterns_only_exclude(so->patterns, so->n_patterns);
}

static void share_budget(struct session_options *so)
{
	so->overhead_beside = SHARE_IN_PROCESS * so->overhead;
	so->overhead -= so->overhead_beside;
}

struct inject_beside *engine_add_in_process(struct session_options *so, const char *why_not,
					    bool is_asked)
{
	const struct session_options r = { .argv = so->n_pids ? NULL : so->argv,
					   .pids = so->pids,
					   .n_pids = so->n_pids,
					   .ring_bytes = so->ring_bytes,
					   .period = so->period,
					   .beside_is_asked = is_asked,
					   .overhead = is_chosen(so)
							       ? 0
							       : SHARE_IN_PROCESS * so->overhead };
	struct inject_beside *b = NULL;
	struct err why = { 0 };

	if (why_not)
		err_set(&why, -ENOTSUP, "%s", why_not);
	else
		inject_beside_new(&b, &r, &why);
	if (!b) {
		report(&why, is_asked);
		return NULL;
	}
	so->beside = inject_beside_get(b);
	so->beside_is_asked = is_asked;
	if (!is_chosen(so))
		share_budget(so);
	return b;
}
