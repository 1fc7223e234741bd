// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inspect/perf_script.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "probes/inspect/inspect.h"
#include "symbol/dso/dso.h"

#define NAME_ROOM 48 /* of the kernel's 64, without __return */

static const char *const head =
	"#!/bin/sh\n"
	"# Records these functions with perf alone, as root; `ispot report -i perf.data` reads it,\n"
	"# there or elsewhere. The offsets are of the very files that ispot check was shown.\n"
	"set -e\n"
	"tracing=/sys/kernel/tracing\n"
	"[ -e $tracing/uprobe_events ] || tracing=/sys/kernel/debug/tracing\n"
	"group=ispot_perf_$$\n"
	"events=\n"
	"probe() { # probe KIND NAME PATH:OFFSET\n"
	"\techo \"$1:$group/$2 $3\" >>$tracing/uprobe_events && events=\"$events $2\"\n"
	"}\n"
	"remove() {\n"
	"\tfor e in $events; do echo \"-:$group/$e\" >>$tracing/uprobe_events; done\n"
	"}\n"
	"trap remove EXIT\n";

/* As the kernel takes it for an event, and no two alike. */
static void event_name(struct strtab *names, const char *symbol, char name[NAME_ROOM + 16])
{
	size_t n = 0;

	for (; symbol[n] && n < NAME_ROOM; n++)
		name[n] = isalnum((unsigned char)symbol[n]) ? symbol[n] : '_';
	name[n] = '\0';
	if (isdigit((unsigned char)name[0]))
		name[0] = '_';
	for (unsigned k = 2; strtab_find(names, name) != MAP_NONE; k++)
		snprintf(name + n, 16, "_x%u", k);
	strtab_add(names, name);
}

static void probe(const char *kind, const char *name, const char *suffix, const char *path,
		  uint64_t offset, struct text *out)
{
	char where[32];

	text_printf(out, "probe %s %s%s ", kind, name, suffix);
	text_shell_word(out, path);
	snprintf(where, sizeof(where), ":0x%" PRIx64, offset);
	text_printf(out, "%s\n", where);
}

static void print_planned(struct strtab *names, const struct planned *p, struct text *out)
{
	const struct dso_function *f = p->what.function;
	char path[PATH_MAX];
	char name[NAME_ROOM + 16], suffix[32];

	if (!realpath(dso_path(p->what.dso), path) || strpbrk(path, " \t\n:")) {
		text_printf(out, "# %s: the kernel takes no probes in a file of such a name\n",
			    f->symbol);
		return;
	}
	event_name(names, f->symbol, name);
	probe("p", name, "", path, f->file_offset + p->place.entry_offset, out);
	if (p->exit.mech == EXIT_RETURN)
		probe("r", name, "__return", path, f->file_offset + p->place.return_offset, out);
	for (uint32_t i = 0; p->exit.mech == EXIT_RET_SITES && i < p->place.n_ret_sites; i++) {
		snprintf(suffix, sizeof(suffix), "__ret%u", i);
		probe("p", name, suffix, path, f->file_offset + (uint64_t)p->place.ret_sites[i],
		      out);
	}
}

void perf_script_print(const struct inspection *in, char *const *words, long pid, struct text *out)
{
	struct strtab names = { 0 };

	text_add(out, head);
	for (size_t i = 0; i < in->plan.n; i++)
		if (in->plan.data[i]->possible)
			print_planned(&names, in->plan.data[i], out);
	text_printf(
		out,
		"perf record -m 8M -o perf.data -e \"$group:*\" --user-regs=sp --switch-events");
	if (!words)
		text_printf(out, " -p %ld", pid);
	else
		text_printf(out, " --");
	for (; words && *words; words++) {
		text_add(out, " ");
		text_shell_word(out, *words);
	}
	text_printf(out, "\n");
	strtab_release(&names);
}
