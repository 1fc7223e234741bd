/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/group/argkey_find.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "trace/format.h"
#include "trace/meta/argument.h"
#include "trace/meta/meta.h"

/* Whether name means the parameter. "ret" and "arg1" always mean the result and the first argument,
 * even if a declaration uses them as parameter names. */
static bool is_called(const struct meta_parameter *p, const char *name)
{
	uint64_t n = meta_argument_number(name);

	if (n || !strcmp(name, "ret"))
		return p->number == n;
	return !strcmp(p->name, name);
}

/* A parameter may have several names: libc's own declaration calls the count of read "nbytes". */
static bool is_parameter(const struct meta_function *f, const struct meta_argument *a,
			 uint32_t number)
{
	if (!number || a->bit == ARG_RETURN)
		return !number && a->bit == ARG_RETURN;
	for (uint32_t i = 0; i < f->n_prototype; i++)
		if (f->prototype[i].number == number && !strcmp(f->prototype[i].name, a->name))
			return true;
	return meta_argument_number(a->name) == number;
}

/*
 * Whether name means the recorded argument. Only the prototype shows which register has parameter
 * N, because floating-point parameters use other registers. Without a prototype, argument N is in
 * register N.
 */
static bool is_meant(const struct meta_function *f, const struct meta_argument *a, const char *name)
{
	uint64_t n = meta_argument_number(name);

	if (!f->n_prototype && (n || !strcmp(name, "ret")))
		return a->bit == (n ? n - 1 : ARG_RETURN);
	if (!f->n_prototype)
		return !strcmp(a->name, name);
	for (uint32_t i = 0; i < f->n_prototype; i++)
		if (is_called(&f->prototype[i], name) && is_parameter(f, a, f->prototype[i].number))
			return true;
	return false;
}

const struct meta_argument *argkey_find(const struct meta_function *f, const char *name,
					bool occasional)
{
	for (uint32_t i = 0; i < f->n_arguments; i++)
		if (f->arguments[i].occasional == occasional && is_meant(f, &f->arguments[i], name))
			return &f->arguments[i];
	return NULL;
}

#define REGISTERS_X86	6
#define REGISTERS_ARM64 8

/* Returns how many integer arguments are in registers. Markers can have 8 on all machines. */
static uint64_t recordable(const struct meta *meta, const struct meta_function *f)
{
	const char *machine = meta->session.machine;

	return !strcmp(f->block, "marker") || (machine && !strcmp(machine, "aarch64"))
		       ? REGISTERS_ARM64
		       : REGISTERS_X86;
}

/* Whether an earlier parameter of the prototype has the same name, so that it is listed only
 * once. */
static bool is_repeated(const struct meta_function *f, uint32_t parameter)
{
	for (uint32_t i = 0; i < parameter; i++)
		if (!strcmp(f->prototype[i].name, f->prototype[parameter].name))
			return true;
	return false;
}

/* The words can be pasted, whatever the recording calls its functions. */
static void report_pattern(const char *function, const char *arg, struct text *out)
{
	char *pattern = xasprintf("%s@%s", function, arg);

	text_add(out, "record it with -F ");
	text_shell_quoted(out, pattern);
	free(pattern);
}

/* Reports what the prototype shows, as the recorder did: why the argument cannot be recorded, or
 * how it can. */
static void report_as_recorder(const struct meta_function *f, const char *arg, struct text *out)
{
	for (uint32_t i = 0; i < f->n_prototype; i++) {
		const struct meta_parameter *p = &f->prototype[i];

		if (!is_called(p, arg))
			continue;
		if (*p->why)
			text_printf(out, "%s cannot be recorded: %s", arg, p->why);
		else
			report_pattern(f->symbol, arg, out);
		return;
	}
	text_add(out, "it has no argument of that name, but");
	for (uint32_t i = 0, n = 0; i < f->n_prototype; i++)
		if (*f->prototype[i].name && !is_repeated(f, i))
			text_printf(out, "%s %s", n++ ? "," : "", f->prototype[i].name);
}

/* For imported recordings: the prototype has only the arguments that perf's probes fetched, so the
 * function's real arguments are not known. */
static void report_to_perf(const struct meta *meta, const struct meta_function *f, const char *arg,
			   struct text *out)
{
	const char *file = meta_object(meta, f->object)->path;
	char *fetched = !strcmp(arg, "ret")	    ? xasprintf("%s%%return ret=$retval", f->symbol)
			: meta_argument_number(arg) ? xasprintf("%s %s=%%REGISTER", f->symbol, arg)
						    : xasprintf("%s %s", f->symbol, arg);

	text_add(out, "have perf fetch it: perf probe -x ");
	text_shell_word(out, file && *file ? file : "FILE");
	text_add(out, " ");
	text_shell_quoted(out, fetched);
	free(fetched);
}

/* Appends why the argument cannot be recorded, or how to record it. */
static void report_how(const struct meta *meta, const struct meta_function *f, const char *arg,
		       struct text *out)
{
	bool is_marker = !strcmp(f->block, "marker"), is_return = !strcmp(arg, "ret"), is_number;
	bool is_known = is_return || argkey_find(f, arg, true);
	uint64_t n = 0;

	is_number = !strncmp(arg, "arg", 3) && !text_parse_u64(arg + 3, &n);
	if (meta->session.producer && !strcmp(meta->session.producer, "import"))
		report_to_perf(meta, f, arg, out);
	else if (is_marker && is_return)
		text_add(out, "a marker returns nothing");
	else if (!is_return && !f->parameters)
		text_add(out, "it has none");
	else if (is_marker && !is_number)
		text_add(out, "a marker's are called arg1, arg2, …");
	else if (is_number && !n)
		text_add(out, "arguments count from 1");
	else if (is_number && f->parameters != META_UNKNOWN && n > f->parameters)
		text_printf(out, "it has %" PRIu64 " argument%s", f->parameters,
			    f->parameters == 1 ? "" : "s");
	else if (is_number && (is_marker || !f->n_prototype) && n > recordable(meta, f))
		text_printf(out, "only the first %" PRIu64 " can be recorded", recordable(meta, f));
	else if (f->n_prototype)
		report_as_recorder(f, arg, out);
	else {
		report_pattern(f->symbol, arg, out);
		text_add(out, is_number || is_known ? "" : ", if ispot check with that finds one");
	}
}

int argkey_not_recorded(const struct meta *meta, const struct meta_function *f, const char *arg,
			struct err *err)
{
	struct text had = { 0 }, how = { 0 };

	for (uint32_t i = 0; i < f->n_arguments; i++)
		if (!f->arguments[i].occasional)
			text_printf(&had, "%s%s", had.n ? ", " : "", f->arguments[i].name);
	report_how(meta, f, arg, &how);
	if (had.n)
		err_set(err, -ENOENT, "%s was recorded with %s, not with its %s; %s", f->name,
			had.s, arg, how.s);
	else
		err_set(err, -ENOENT, "%s was recorded without its arguments; %s", f->name, how.s);
	text_release(&how);
	text_release(&had);
	return -ENOENT;
}

#define NEAR_EDITS 3

const char *argkey_nearest(const struct meta *meta, const char *function)
{
	unsigned least = NEAR_EDITS + 1;
	const char *near = NULL;

	for (uint32_t id = 0; id < meta->functions.n; id++) {
		const struct meta_function *f = meta_function(meta, id);
		unsigned edits = f ? text_distance(f->name, function, NEAR_EDITS) : least;

		if (edits < least) {
			least = edits;
			near = f->name;
		}
	}
	return near;
}

static bool was_not_traced(const struct meta *meta, const char *function)
{
	vec_for_each (&meta->not_traced, const struct meta_not_traced, n)
		if (n->name && !strcmp(n->name, function))
			return true;
	return false;
}

int argkey_no_function(const struct meta *meta, const char *function, const char *arg,
		       struct err *err)
{
	const char *near = argkey_nearest(meta, function);
	struct text how = { 0 };

	report_pattern(function, arg, &how);
	if (was_not_traced(meta, function))
		err_set(err, -ENOENT, "--key %s@%s: it was not traced; %s", function, arg, how.s);
	else if (near)
		err_set(err, -ENOENT,
			"--key %s@%s: the recording has no function of that name; did you mean %s?",
			function, arg, near);
	else
		err_set(err, -ENOENT,
			"--key %s@%s: the recording has no function of that name; %s, if the program "
			"has it",
			function, arg, how.s);
	text_release(&how);
	return -ENOENT;
}
