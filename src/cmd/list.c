/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists what ispot can use here, and why not the rest. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/screen.h"
#include "cmd/common/engine.h"
#include "pmu/listing.h"
#include "probes/inject/refusal.h"
#include "probes/inspect/support.h"
#include "probes/kernel/version.h"
#include "probes/session/session.h"
#include "report/table/wrap.h"

#define DETAIL_INDENT 26

struct list_options {
	struct screen_options screen;
	const char *engine;
	bool json;
	int verbose;
};

static const struct option_row options[] = {
	{ 'v', "verbose", NULL, ARG_COUNT, offsetof(struct list_options, verbose),
	  "show each counter on a line of its own, with the reason", NULL },
	{ 0, "engine", "ENGINE", ARG_STRING, offsetof(struct list_options, engine),
	  "say whether recording by ENGINE works: kernel (default), in-process or auto", NULL },
	{ 0, "json", NULL, ARG_FLAG, offsetof(struct list_options, json), "print JSON", NULL },
	SCREEN_PAGER_ROW(struct list_options, screen),
	{ 0 },
};

static const char *const examples[] = {
	"sudo ispot list",
	"what recording can use",
	"ispot list --json | jq -r '.counters[] | select(.usable) | .name'",
	"the counters that can be had",
	NULL,
};

struct findings {
	enum engine engine;
	struct err not_in_process; /* code 0: it can be */
	struct utsname host;
	struct cpus cpus;
	struct support_list mechanisms, kernel;
	struct counter_list counters;
};

static void find_out(struct findings *f)
{
	uname(&f->host);
	if (cpus_read(&f->cpus))
		f->cpus.n = 0;
	support_mechanisms(&f->mechanisms);
	refusal_of_machine(&f->not_in_process);
	support_kernel(&f->kernel, kernel_version_running(), !strcmp(f->host.machine, "x86_64"));
	counter_list_find(&f->counters);
}

static void release(struct findings *f)
{
	vec_release(&f->mechanisms);
	vec_release(&f->kernel);
	counter_list_release(&f->counters);
}

/* The words on the screen were changed later. Scripts read those of the JSON, so they stay. */
static const struct {
	const char *shown, *json;
} states[] = {
	[SUPPORT_YES] = { "yes", "yes" },
	[SUPPORT_NO] = { "no", "no" },
	[SUPPORT_NOTE] = { "limited", "but" },
};

/* Wraps the detail at the width of the screen, with further lines below the first one. */
static void print_support(const struct support *s, unsigned width, struct text *out)
{
	struct text lines = { 0 };

	text_wrap(s->detail, width > DETAIL_INDENT + 20 ? width - DETAIL_INDENT : 20, &lines);
	text_printf(out, "  %-7s %-15s ", states[s->state].shown, s->name);
	for (const char *l = lines.s; l && *l; l += strcspn(l, "\n") + 1)
		text_printf(out, "%*s%.*s\n", l == lines.s ? 0 : DETAIL_INDENT, "",
			    (int)strcspn(l, "\n"), l);
	text_release(&lines);
}

static void print_supports(const char *title, const struct support_list *list, struct text *out)
{
	text_printf(out, "\n%s\n", title);
	vec_for_each (list, const struct support, s)
		print_support(s, screen_width(), out);
}

static const struct support *first_missing(const struct support_list *list)
{
	vec_for_each (list, const struct support, s)
		if (s->state == SUPPORT_NO)
			return s;
	return NULL;
}

static void describe_kernel(const struct support *missing, struct text *out)
{
	if (missing && geteuid())
		text_add(out, "Without root ispot records probes that root has registered (ispot "
			      "probe),\nJava programs (--java), and own programs in process "
			      "(--engine in-process);\nrun with sudo for all others.\n");
	else if (missing)
		text_printf(out, "ispot record does not work here: %s: %s\n", missing->name,
			    missing->detail);
	else
		text_add(out, "ispot record works here.\n");
}

/* Returns the length of the reason without the hint, which would be to use the other engine. */
static int reason_length(const struct err *why)
{
	return (int)(why->hint ? why->hint - 2 : strlen(why->text));
}

static void describe_in_process(const struct err *why, struct text *out)
{
	if (why->code)
		text_printf(out, "ispot record --engine in-process does not work here: %.*s\n",
			    reason_length(why), why->text);
	else
		text_printf(out, "ispot record --engine in-process works here%s.\n",
			    geteuid() ? ", for your own programs" : "");
}

static void describe_auto(const struct support *missing, const struct err *why, struct text *out)
{
	if (!missing && !why->code)
		text_add(out, "ispot record --engine auto works here, by both engines.\n");
	else if (!missing)
		text_printf(out,
			    "ispot record --engine auto records by kernel probes alone: %.*s\n",
			    reason_length(why), why->text);
	else if (geteuid() && !why->code)
		text_add(out,
			 "ispot record --engine auto records in process, as kernel probes need "
			 "root.\n");
	else
		text_printf(out, "ispot record --engine auto does not work here: %s: %s\n",
			    missing->name, missing->detail);
}

static void describe_engines(const struct findings *f, struct text *out)
{
	const struct support *missing = first_missing(&f->mechanisms);

	if (f->engine == ENGINE_IN_PROCESS)
		describe_in_process(&f->not_in_process, out);
	else if (f->engine == ENGINE_AUTO)
		describe_auto(missing, &f->not_in_process, out);
	else
		describe_kernel(missing, out);
}

static void print_text(const struct findings *f, bool each)
{
	struct text out = { 0 };

	text_printf(&out, "Linux %s, %s, %s, %s\n", f->host.release, f->host.machine,
		    text_counted((char[TEXT_COUNTED]){ 0 }, f->cpus.n, "CPU"),
		    geteuid() ? "not root" : "root");
	describe_engines(f, &out);
	print_supports("probes", &f->mechanisms, &out);
	print_supports("this kernel", &f->kernel, &out);
	counter_list_print(&f->counters, each, &out);
	fputs(out.s, stdout);
	text_release(&out);
}

static struct json *json_of_supports(const struct support_list *list)
{
	struct json *arr = json_new_array();

	vec_for_each (list, const struct support, s) {
		struct json *o = json_new_object();

		json_set_string(o, "name", s->name);
		json_set_bool(o, "usable", s->state != SUPPORT_NO);
		json_set_string(o, "state", states[s->state].json);
		json_set_string(o, "detail", s->detail);
		json_add_take(arr, o);
	}
	return arr;
}

static void print_json(const struct findings *f)
{
	struct json *root = json_new_object(), *in_process = json_new_object();
	struct text text = { 0 };

	json_set_u64(root, "version", 1);
	json_set_string(root, "kernel", f->host.release);
	json_set_string(root, "machine", f->host.machine);
	json_set_u64(root, "cpus", f->cpus.n);
	json_set_bool(root, "root", !geteuid());
	json_set_bool(in_process, "usable", !f->not_in_process.code);
	json_set_string(in_process, "detail",
			f->not_in_process.code ? f->not_in_process.text : NULL);
	json_set_take(root, "in_process", in_process);
	json_set_take(root, "probes", json_of_supports(&f->mechanisms));
	json_set_take(root, "kernel_facts", json_of_supports(&f->kernel));
	counter_list_json(&f->counters, root);
	json_print(root, &text, true);
	puts(text.s);
	text_release(&text);
	json_free(root);
}

static int run_list(int argc, char **argv, struct err *err)
{
	struct list_options o = { 0 };
	struct findings f = { 0 };
	int first, rc = args_parse(options, &o, 0, argc, argv, &first, err);

	if (rc)
		return rc;
	if (first < argc)
		return args_refuse(err, "%s: list takes no arguments; leave it out", argv[first]);
	if (engine_parse(o.engine, &f.engine, err) || screen_begin(&o.screen, err))
		return err->code;
	find_out(&f);
	if (o.json)
		print_json(&f);
	else
		print_text(&f, o.verbose > 0);
	release(&f);
	return 0;
}

static const struct option_choices choices[] = {
	{ "engine", "kernel in-process auto" },
	{ 0 },
};

const struct command cmd_list = {
	.name = "list",
	.summary = "list usable probes and counters, and why others are not",
	.usage = "ispot list [-v | --json] [--engine ENGINE] [--no-pager]",
	.examples = examples,
	.options = options,
	.choices = choices,
	.run = run_list,
};
