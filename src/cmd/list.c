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
#include "pmu/listing.h"
#include "probes/inspect/support.h"
#include "probes/kernel/version.h"
#include "probes/session/session.h"

struct list_options {
	struct screen_options screen;
	bool json;
};

static const struct option_row options[] = {
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
	support_kernel(&f->kernel, kernel_version_running(), !strcmp(f->host.machine, "x86_64"));
	counter_list_find(&f->counters);
}

static void release(struct findings *f)
{
	vec_release(&f->mechanisms);
	vec_release(&f->kernel);
	counter_list_release(&f->counters);
}

static const char *const states[] = {
	[SUPPORT_YES] = "yes",
	[SUPPORT_NO] = "no",
	[SUPPORT_NOTE] = "but",
};

static void print_supports(const char *title, const struct support_list *list)
{
	printf("\n%s\n", title);
	vec_for_each (list, const struct support, s)
		printf("  %-4s %-24s %s\n", states[s->state], s->name, s->detail);
}

static void print_text(const struct findings *f)
{
	struct text out = { 0 };

	printf("Linux %s, %s, %u CPUs, %s\n", f->host.release, f->host.machine, f->cpus.n,
	       geteuid() ? "not root" : "root");
	print_supports("probes", &f->mechanisms);
	print_supports("this kernel", &f->kernel);
	counter_list_print(&f->counters, &out);
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
		json_set_string(o, "state", states[s->state]);
		json_set_string(o, "detail", s->detail);
		json_add_take(arr, o);
	}
	return arr;
}

static void print_json(const struct findings *f)
{
	struct json *root = json_new_object();
	struct text text = { 0 };

	json_set_u64(root, "version", 1);
	json_set_string(root, "kernel", f->host.release);
	json_set_string(root, "machine", f->host.machine);
	json_set_u64(root, "cpus", f->cpus.n);
	json_set_bool(root, "root", !geteuid());
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
	if (screen_begin(&o.screen, err))
		return err->code;
	find_out(&f);
	if (o.json)
		print_json(&f);
	else
		print_text(&f);
	release(&f);
	return 0;
}

const struct command cmd_list = {
	.name = "list",
	.summary = "list usable probes and counters, and why others are not",
	.usage = "ispot list [--json] [--no-pager]",
	.examples = examples,
	.options = options,
	.run = run_list,
};
