/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First version: names and globs, with or without an object. */
#include "probes/select.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "symbol/dso.h"

struct pattern {
	char *word, *object, *name;
	bool matched;
};

struct patterns {
	VEC(struct pattern)
};

int patterns_parse(struct patterns **out, const char *const *words, size_t n, struct err *err)
{
	struct patterns *p = xcalloc(1, sizeof(*p));

	(void)err;
	for (size_t i = 0; i < n; i++) {
		const char *colon = strchr(words[i], ':');
		struct pattern *one = vec_add(p);

		one->word = xstrdup(words[i]);
		if (colon && colon[1] != ':') {
			one->object = xstrndup(words[i], colon - words[i]);
			one->name = xstrdup(colon + 1);
		} else {
			one->name = xstrdup(words[i]);
		}
	}
	*out = p;
	return 0;
}

void patterns_free(struct patterns *p)
{
	if (!p)
		return;
	vec_for_each (p, struct pattern, one) {
		free(one->word);
		free(one->object);
		free(one->name);
	}
	vec_release(p);
	free(p);
}

size_t patterns_n(const struct patterns *p)
{
	return p->n;
}

static bool object_matches(const struct pattern *p, const struct dso *dso)
{
	const char *path = dso_path(dso), *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return !p->object || !strcmp(p->object, path) || !fnmatch(p->object, base, 0) ||
	       (!strncmp(p->object, base, strlen(p->object)) &&
		!strncmp(base + strlen(p->object), ".so", 3));
}

static bool name_matches(const struct pattern *p, struct dso *dso, const struct dso_function *f)
{
	return !fnmatch(p->name, f->symbol, 0) ||
	       (f->symbol[0] == '_' && f->symbol[1] == 'Z' &&
		(!fnmatch(p->name, dso_function_bare_name(dso, f), 0) ||
		 !fnmatch(p->name, dso_function_name(dso, f), 0)));
}

static bool already(const struct selection *s, const struct dso *dso, uint64_t offset)
{
	vec_for_each (&s->chosen, struct selected, c)
		if (c->dso == dso && c->function->file_offset == offset)
			return true;
	return false;
}

static bool match_in(struct selection *s, struct pattern *p, struct dso *dso)
{
	const struct dso_function *f;
	size_t n = dso_functions(dso, &f);
	bool any = false;

	if (!object_matches(p, dso))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct selected *c;

		if (!f[i].default_version || !name_matches(p, dso, &f[i]))
			continue;
		any = p->matched = true;
		if (already(s, dso, f[i].file_offset))
			continue;
		dso_function_name(dso, &f[i]);
		c = vec_add(&s->chosen);
		*c = (struct selected){ dso, &f[i], p->word, "" };
	}
	return any;
}

int selection_add(struct selection *s, struct patterns *p, struct dso *const *dsos, size_t n,
		  size_t n_executables, struct err *err)
{
	(void)err;
	vec_for_each (p, struct pattern, one) {
		bool any = false;

		for (size_t i = 0; i < n; i++)
			if (i < n_executables || one->object || !any)
				any |= match_in(s, one, dsos[i]);
	}
	return 0;
}

int selection_missing(const struct selection *s, struct patterns *p, struct dso *const *dsos,
		      size_t n, struct err *err)
{
	(void)s;
	(void)dsos;
	vec_for_each (p, struct pattern, one)
		if (!one->matched)
			return err_set(err, -ENOENT,
				       "no function '%s' in the program or its %zu libraries",
				       one->word, n ? n - 1 : 0);
	return 0;
}

void selection_release(struct selection *s)
{
	vec_release(&s->chosen);
	vec_release(&s->left_out);
}

int program_of_command(char *const *argv, char **program, int *word, struct err *err)
{
	char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin"), *rest = path, *dir;

	*program = NULL;
	*word = 0;
	if (strchr(argv[0], '/'))
		*program = xstrdup(argv[0]);
	while (!*program && (dir = strsep(&rest, ":"))) {
		char *file = xasprintf("%s/%s", *dir ? dir : ".", argv[0]);

		if (!access(file, X_OK))
			*program = file;
		else
			free(file);
	}
	free(path);
	if (*program && !access(*program, X_OK))
		return 0;
	err_set(err, -ENOENT, "there is no command '%s'", argv[0]);
	err->exit_status = *program && errno == EACCES ? 126 : 127;
	free(*program);
	*program = NULL;
	return -ENOENT;
}
