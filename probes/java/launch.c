// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Starts the command of a recording so that its Java machines load the agent. A machine does not
 * start if an option names an agent that it cannot load. So only a java of ispot's own architecture
 * and loader that is the command itself gets the option; probes/java/preload informs the others.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/identity.h"
#include "base/mem.h"
#include "probes/java/launch.h"
#include "probes/java/pauses.h"
#include "probes/java/place.h"
#include "probes/java/preload/preload.h"
#include "probes/process/program.h"
#include "probes/process/target.h"
#include "probes/recording/options.h"
#include "probes/select/select.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"

/* A text that is added to a variable of the command's environment. */
struct addition {
	const char *name, *between;
	char *value, *before; /* before: the old value to restore; NULL: not set */
};

bool java_find_program(const char *program, char path[PATH_MAX])
{
	int unused;
	char *file = strchr(program, '/') ? xstrdup(program)
					  : program_in_path(program, environ, &unused);
	bool found = file && realpath(file, path);

	free(file);
	return found;
}

static bool is_named_java(const char *program)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, "java");
}

static bool is_same_kind(const struct dso *a, const struct dso *b)
{
	return dso_machine(a) == dso_machine(b) && dso_interp(a) && dso_interp(b) &&
	       !strcmp(dso_interp(a), dso_interp(b));
}

/*
 * Whether the program is for this processor and uses the same loader as ispot, and so as the agent.
 */
static bool loads_what_ispot_loads(const char *program)
{
	struct dso_cache *cache = dso_cache_new();
	struct dso *its, *own;
	char path[PATH_MAX];
	bool loads = java_find_program(program, path) && !dso_get(cache, path, &its, NULL) &&
		     !dso_get(cache, "/proc/self/exe", &own, NULL) && is_same_kind(its, own);

	dso_cache_free(cache);
	return loads;
}

static void add_to_environment(struct addition *a)
{
	const char *before = getenv(a->name);
	char *all = before && *before ? xasprintf("%s%s%s", before, a->between, a->value)
				      : xstrdup(a->value);

	a->before = before ? xstrdup(before) : NULL;
	setenv(a->name, all, 1);
	free(all);
}

static void restore_environment(struct addition *a)
{
	if (a->before)
		setenv(a->name, a->before, 1);
	else
		unsetenv(a->name);
	free(a->before);
	free(a->value);
}

/*
 * Returns argv with the options after its first word. The caller frees the array, but not the
 * words.
 */
static char **with_options(char *const *argv, char *const *options, size_t n_options)
{
	size_t n = 0;
	char **words;

	while (argv[n])
		n++;
	words = xcalloc(n + n_options + 1, sizeof(*words));
	words[0] = argv[0];
	memcpy(words + 1, options, n_options * sizeof(*words));
	memcpy(words + 1 + n_options, argv + 1, (n - 1) * sizeof(*words));
	return words;
}

static int start(struct launch *l, char *const *words, const struct java_launching *how,
		 struct err *err)
{
	int ret = launch_start(l, words, how->inherit, err);

	if (ret)
		return ret;
	*how->start_ns = clock_now_ns();
	ret = how->held(how->ctx, l->pid, err);
	return ret ? ret : launch_exec(l, words, err);
}

static int start_java(struct launch *l, const struct session_options *o, const char *directory,
		      const struct java_launching *how, struct err *err)
{
	char *options[] = { xasprintf("-agentpath:%s/../" JAVA_AGENT "=%s", directory, directory),
			    java_pauses_option(o->argv[0], directory) };
	char **words = with_options(o->argv, options, options[1] ? 2 : 1);
	int ret = start(l, words, how, err);

	free(words);
	free(options[0]);
	free(options[1]);
	return ret;
}

/*
 * Starts a command of unknown kind. Programs with AddressSanitizer end if anything is loaded before
 * it, unless an option says otherwise.
 */
static int start_any(struct launch *l, const struct session_options *o, const char *directory,
		     const struct java_launching *how, struct err *err)
{
	struct addition additions[] = {
		{ .name = "LD_PRELOAD",
		  .between = ":",
		  .value = xasprintf("%s/../" JAVA_PRELOAD, directory) },
		{ .name = JAVA_PLACE, .between = "", .value = xstrdup(directory) },
		{ .name = "ASAN_OPTIONS",
		  .between = ":",
		  .value = xstrdup("verify_asan_link_order=0") },
	};
	const size_t n = sizeof(additions) / sizeof(additions[0]);
	int ret;

	unsetenv(JAVA_PLACE); /* set by a recorder that records this one */
	for (size_t i = 0; i < n; i++)
		add_to_environment(&additions[i]);
	ret = start(l, o->argv, how, err);
	for (size_t i = 0; i < n; i++)
		restore_environment(&additions[i]);
	return ret;
}

int java_launch(struct launch *l, const struct session_options *o, const char *place,
		const struct java_launching *how, struct err *err)
{
	bool by_option = is_named_java(o->argv[0]) && loads_what_ispot_loads(o->argv[0]);
	char *directory = java_place_of(place, o->user ? o->user->uid : geteuid());
	int ret = (by_option ? start_java : start_any)(l, o, directory, how, err);

	free(directory);
	return ret;
}
