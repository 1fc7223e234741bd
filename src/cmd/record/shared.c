/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records without privilege, through probes that an administrator has registered. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/record/recorder.h"
#include "probes/inject/record.h"
#include "probes/process/program.h"
#include "probes/session/session.h"
#include "probes/shared/record.h"
#include "probes/shared/shared.h"
#include "symbol/dso/cache.h"
#include "symbol/library/closure.h"

static bool is_same(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static bool is_in(const struct shared_probe *probe, const struct dso_closure *files)
{
	for (size_t i = 0; i < files->n; i++)
		if (is_same(probe->path, files->paths[i]))
			return true;
	return false;
}

/* Returns whether a chosen probe is in the command's program or in one of its libraries. */
static bool has_own(const struct shared_probes *all, const bool *chosen, char *const *argv)
{
	struct dso_cache *cache = dso_cache_new();
	struct dso_closure files = { 0 };
	struct command_program p;
	bool any = false;

	if (!command_program_find(&p, argv, NULL)) {
		dso_closure_in(cache, p.path, p.environment, &files, NULL);
		command_program_release(&p);
	}
	for (size_t i = 0; !any && i < all->n; i++)
		any = chosen[i] && is_in(&all->data[i], &files);
	dso_closure_release(&files);
	dso_cache_free(cache);
	return any;
}

/* Returns whether the registered probes are of use for the command: they may be for other programs.
 * A wrong pattern counts as use, so that this recorder reports what is wrong with it. */
static bool can_use(const struct shared_probes *all, const struct session_options *so)
{
	bool *chosen = xcalloc(all->n + 1, sizeof(*chosen)), any = false;
	char *none = NULL;

	if (so->argv && !so->n_pids)
		any = shared_select(all, so->patterns, so->n_patterns, chosen, &none, NULL) ||
		      (!none && has_own(all, chosen, so->argv));
	free(none);
	free(chosen);
	return any;
}

static bool is_wanted(const struct record_options *o, const struct session_options *so)
{
	struct shared_probes all;
	bool any;

	if (!geteuid() || (o->engine && strcmp(o->engine, "kernel") != 0))
		return false;
	any = !shared_read(&all, NULL) && all.n;
	/* If no other engine can record either, this one reports what is missing. */
	any = any && (o->engine || !inject_is_possible() || can_use(&all, so));
	shared_release(&all);
	return any;
}

static int record(const struct record_options *o, struct session_options *so,
		  struct recorder_end *end, struct err *err)
{
	struct session_result result;
	int ret = shared_record(so, &result, err);

	(void)o;
	if (!ret)
		recorder_fill_end(end, &result);
	return ret;
}

const struct recorder recorder_shared = { RECORDER_SHARED, is_wanted, record };
