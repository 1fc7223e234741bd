/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/valgrind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "probes/process/spawned.h"

struct words {
	VEC(char *)
};

static void add(struct words *w, char *word)
{
	*vec_add(w) = word;
}

static void add_dumps(struct words *w, const char *when, const char *const *functions)
{
	for (; *functions; functions++)
		add(w, xasprintf("--dump-%s=%s", when, *functions));
}

static void command_line(struct words *w, char *const *argv, const struct valgrind_options *o)
{
	static const char *const fixed[] = { "valgrind",
					     "-q",
					     "--tool=callgrind",
					     "--separate-threads=yes",
					     "--dump-instr=yes",
					     "--collect-jumps=yes",
					     "--compress-pos=no",
					     "--compress-strings=no",
					     NULL };

	for (const char *const *f = fixed; *f; f++)
		add(w, xstrdup(*f));
	add(w, xasprintf("--callgrind-out-file=%s/cg", o->dir));
	add(w, xasprintf("--log-file=%s/log", o->dir));
	if (o->caches)
		add(w, xstrdup("--cache-sim=yes"));
	for (const char *const *const *list = o->before; *list; list++)
		add_dumps(w, "before", *list);
	add_dumps(w, "after", o->after);
	for (; *argv; argv++)
		add(w, xstrdup(*argv));
	vec_add(w);
}

/*
 * Symbols are bound at the start, so that the work does not fall to the thread that is first to
 * call a function.
 */
static const char *const environment[] = { "LD_BIND_NOW=1", NULL };

int valgrind_run(char *const *argv, const struct valgrind_options *o, int *status, struct err *err)
{
	struct words words = { 0 };
	int rc;

	command_line(&words, argv, o);
	rc = spawned_run(words.data, environment, status);
	vec_for_each (&words, char *, w)
		free(*w);
	vec_release(&words);
	if (rc == -ENOENT) {
		err_set(err, rc,
			"counting needs valgrind, which is not here; install the package "
			"valgrind");
		err->exit_status = 127;
		return rc;
	}
	return rc ? err_set(err, rc, "valgrind: %s; does it run by itself?", strerror(-rc)) : 0;
}
