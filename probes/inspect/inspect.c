// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inspect/inspect.h"

#include <errno.h>
#include <linux/version.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "probes/cost/selfcost_once.h"
#include "probes/inspect/inprocess.h"
#include "probes/kernel/version.h"
#include "probes/process/program.h"
#include "probes/select/missing.h"
#include "probes/select/pattern.h"
#include "probes/session/session.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/library/closure.h"
#include "symbol/maps.h"

/* ---- objects ---- */

static void add_object(struct inspection *in, struct dso *dso, bool executable)
{
	vec_for_each (&in->objects, struct dso *, known)
		if (*known == dso)
			return;
	*vec_add(&in->objects) = dso;
	in->n_executables += executable;
	target_traits_add(&in->traits, dso, executable);
}

/*
 * Whether path is a shared object. It is not a command, but the cost of tracing it can be shown all
 * the same.
 */
static bool is_library(struct inspection *in, const char *path)
{
	struct err why = { 0 };
	struct dso *dso;
	struct stat st;

	return strchr(path, '/') && !stat(path, &st) && S_ISREG(st.st_mode) &&
	       !(st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) &&
	       !dso_get(in->dsos, path, &dso, &why) && !dso_interp(dso);
}

static int objects_of_command(struct inspection *in, char *const *argv, struct err *err)
{
	struct dso_closure closure = { 0 };
	char *program = NULL;
	struct dso *dso;
	int word, ret = 0;

	if (is_library(in, argv[0]))
		program = xstrdup(argv[0]);
	else
		ret = program_of_command(argv, &program, &word, err);
	if (!ret)
		ret = dso_closure(in->dsos, program, &closure, err);
	for (size_t i = 0; i < closure.n && !ret; i++) {
		ret = dso_get(in->dsos, closure.paths[i], &dso, err);
		if (!ret)
			add_object(in, dso, i == 0);
	}
	dso_closure_release(&closure);
	free(program);
	/* 126 and 127 are only for commands that run the program */
	if (ret && err)
		err->exit_status = 1;
	return ret;
}

static ino_t executable_inode(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* Adds a mapped file. A file that cannot be opened is left out, as when recording. */
static void add_mapping(struct inspection *in, pid_t pid, const struct mapping *m, bool executable)
{
	struct err why = { 0 };
	char path[4096];
	struct dso *dso;

	if (mapping_path(m, pid, path, sizeof(path), &why) ||
	    dso_get_of(in->dsos, dso_origin_of_process(pid), path, &dso, &why))
		log_detail("%s is left out: %s", m->path, why.text);
	else
		add_object(in, dso, executable);
}

static int objects_of_process(struct inspection *in, pid_t pid, struct err *err)
{
	struct mappings maps = { 0 };
	ino_t program = executable_inode(pid);
	int ret = mappings_read(&maps, pid, err);

	vec_for_each (&maps, struct mapping, m)
		if (m->inode == program)
			add_mapping(in, pid, m, true);
	vec_for_each (&maps, struct mapping, m)
		add_mapping(in, pid, m, false);
	mappings_release(&maps);
	if (!ret && !in->objects.n)
		ret = err_set(err, -ENOENT,
			      "process %d maps no program that can be read; is it a kernel thread?",
			      (int)pid);
	return ret;
}

/* ---- what stands in the way of the whole ---- */

static void add_notices(struct inspection *in)
{
	const struct target_traits *t = &in->traits;

	if (geteuid())
		*vec_add(&in->notices) =
			xstrdup("kernel probes need root (sudo); without it record "
				"patches what can be patched in process");
	if (t->go)
		*vec_add(&in->notices) =
			xstrdup("it is a Go program: no function of it can be traced");
	if (in->kernel_version < KERNEL_VERSION(6, 14, 0))
		*vec_add(&in->notices) = xstrdup(
			"kernels before 6.14 take locks of the whole machine at return probes: "
			"many threads make each other slower");
	if (in->objects.n && dso_machine(in->objects.data[0]) == DSO_OTHER)
		*vec_add(&in->notices) = xstrdup("it is a program for another machine");
}

static void measure(struct inspection *in)
{
	struct err why = { 0 };

	if (geteuid())
		return;
	if (selfcost_once(1, in->costs, &in->n_costs, &why)) {
		in->n_costs = 0;
		*vec_add(&in->notices) =
			xasprintf("the cost of a call could not be measured: %s", why.text);
	}
}

/* ---- the whole ---- */

static int select_and_plan(struct inspection *in, struct err *err)
{
	int ret = selection_add(&in->selection, in->patterns, in->objects.data, in->objects.n,
				in->n_executables, err);

	if (!ret)
		ret = selection_missing(&in->selection, in->patterns, in->objects.data,
					in->objects.n, err);
	if (!ret)
		plan_add(&in->plan, &in->selection, 0, &in->traits, in->kernel_version);
	return ret;
}

int inspect(struct inspection *in, const struct inspect_options *o, struct err *err)
{
	int ret;

	*in = (struct inspection){ .kernel_version = kernel_version_running(),
				   .dsos = dso_cache_new(),
				   .inprocess = xcalloc(1, sizeof(*in->inprocess)) };
	ret = patterns_parse(&in->patterns, o->patterns, o->n_patterns, err);
	if (!ret)
		ret = o->argv ? objects_of_command(in, o->argv, err)
			      : objects_of_process(in, o->pid, err);
	if (ret)
		return ret;
	add_notices(in);
	if (patterns_n(in->patterns))
		ret = select_and_plan(in, err);
	if (!ret && o->measure && in->plan.n)
		measure(in);
	return ret;
}

void inspection_release(struct inspection *in)
{
	vec_for_each (&in->notices, char *, notice)
		free(*notice);
	vec_release(&in->notices);
	plan_release(&in->plan);
	selection_release(&in->selection);
	patterns_free(in->patterns);
	vec_release(&in->objects);
	if (in->inprocess)
		inprocess_release(in->inprocess);
	free(in->inprocess);
	dso_cache_free(in->dsos);
	*in = (struct inspection){ 0 };
}

double inspection_cost_ns(const struct inspection *in, const struct planned *p)
{
	for (size_t i = 0; i < in->n_costs; i++)
		if (p->possible && planned_is_priced_by(p, &in->costs[i]))
			return in->costs[i].full_p50_ns;
	return NAN;
}
