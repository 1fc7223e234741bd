/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Probes that an administrator registers for users without privilege. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/command.h"
#include "probes/inspect/inspect.h"
#include "probes/shared/shared.h"

struct probe_options {
	struct arg_list patterns;
	const char *pid;
	bool json;
};

static const struct option_row options[] = {
	{ 'F', "function", "PATTERN", ARG_LIST, offsetof(struct probe_options, patterns),
	  "select functions that match [object:]name (repeatable)", NULL },
	{ 'p', "pid", "PID", ARG_STRING, offsetof(struct probe_options, pid),
	  "add: those of a running process", NULL },
	{ 0, "json", NULL, ARG_FLAG, offsetof(struct probe_options, json), "list: print JSON",
	  NULL },
	{ 0 },
};

static const char *const examples[] = {
	"sudo ispot probe add -F 'cache_*' ./app",
	"let users record app's cache functions",
	"ispot record -F cache_get ./app",
	"which they do as always",
	"sudo ispot probe remove",
	"take all of them out again",
	NULL,
};

static int add(const struct probe_options *o, char **words, struct err *err)
{
	struct inspect_options io = { .patterns = o->patterns.data, .n_patterns = o->patterns.n };
	struct inspection in = { 0 };
	char functions[TEXT_COUNTED];
	uint64_t pid = 0;
	size_t added = 0;
	int ret;

	if (!o->patterns.n)
		return args_refuse(err, "nothing to register; name functions with -F");
	if (!o->pid == !*words)
		return args_refuse(
			err,
			"no program whose functions are meant; give a command, or a process: -p PID");
	if (o->pid && (text_parse_u64(o->pid, &pid) || !pid || pid > 1u << 30))
		return args_refuse(err, "-p takes a process id; give a number: -p 1234");
	io.argv = o->pid ? NULL : words;
	io.pid = (pid_t)pid;
	ret = inspect(&in, &io, err);
	if (!ret)
		ret = shared_add(&in, &added, err);
	inspection_release(&in);
	if (!ret)
		log_notice("%s registered for everybody",
			   text_counted(functions, added, "function"));
	return ret;
}

static void list_json(const struct shared_probes *all, const bool *wanted)
{
	struct json *root = json_new_object(), *rows = json_new_array();
	struct text out = { 0 };

	vec_for_each (all, const struct shared_probe, p) {
		struct json *o;

		if (!wanted[p - all->data])
			continue;
		o = json_new_object();
		json_set_string(o, "function", p->symbol);
		json_set_string(o, "object", p->path);
		json_set_string(o, "event", p->event);
		json_set_string(o, "kind",
				p->kind == SHARED_ENTRY	   ? "entry"
				: p->kind == SHARED_RETURN ? "return"
							   : "exit");
		json_set_u64(o, "file_offset", p->offset);
		json_add_take(rows, o);
	}
	json_set_u64(root, "version", 1);
	json_set_take(root, "probes", rows);
	json_print(root, &out, true);
	puts(out.s);
	text_release(&out);
	json_free(root);
}

static int list(const struct probe_options *o, struct err *err)
{
	struct shared_probes all;
	int ret = shared_read(&all, err);
	bool *wanted = xcalloc(all.n + 1, sizeof(*wanted));
	char *none = NULL;

	if (!ret)
		ret = shared_select(&all, o->patterns.data, o->patterns.n, wanted, &none, err);
	if (!ret && o->json)
		list_json(&all, wanted);
	else if (!ret && !all.n)
		printf("no probes are registered; sudo ispot probe add -F FUNCTION CMD\n");
	for (size_t i = 0; !ret && !o->json && i < all.n; i++) {
		char name[512];

		if (wanted[i] && all.data[i].kind == SHARED_ENTRY)
			printf("%s  (%s)\n", text_printable(name, sizeof(name), all.data[i].symbol),
			       all.data[i].path);
	}
	free(none);
	free(wanted);
	shared_release(&all);
	return ret;
}

static int remove_probes(const struct probe_options *o, struct err *err)
{
	char probes[TEXT_COUNTED], left[TEXT_COUNTED];
	size_t removed, busy;
	int ret = shared_remove(o->patterns.data, o->patterns.n, &removed, &busy, err);

	if (ret)
		return ret;
	log_notice("%s removed", text_counted(probes, removed, "probe"));
	if (busy)
		return err_set(err, -EBUSY,
			       "%s in use by a recording; remove them when it has ended",
			       text_counted(left, busy, "probe"));
	return 0;
}

static int run_probe(int argc, char **argv, struct err *err)
{
	struct probe_options o = { 0 };
	int first, ret = args_parse(options, &o, ARGS_STOP_AT_WORD, argc, argv, &first, err);
	const char *verb = ret || first == argc ? "" : argv[first];
	char **rest = argv + first;
	int n = 0;

	if (!ret && *verb) /* options may follow the verb, too */
		ret = args_parse(options, &o, ARGS_STOP_AT_WORD, argc - first, rest, &n, err);
	if (ret)
		;
	else if (!strcmp(verb, "add"))
		ret = add(&o, rest + n, err);
	else if (!strcmp(verb, "list"))
		ret = list(&o, err);
	else if (!strcmp(verb, "remove"))
		ret = remove_probes(&o, err);
	else
		ret = args_refuse(err, "%s%s; give add, list or remove",
				  *verb ? verb : "nothing to do", *verb ? ": no such command" : "");
	vec_release(&o.patterns);
	return ret;
}

const struct command cmd_probe = {
	.name = "probe",
	.summary = "register probes for users without root",
	.usage = "ispot probe add -F PATTERN... (CMD | -p PID)\n"
		 "ispot probe list [-F PATTERN]... [--json]\n"
		 "ispot probe remove [-F PATTERN]...",
	.examples = examples,
	.options = options,
	.run = run_probe,
};
