// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inspect/perf_script.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/place.h"
#include "base/text.h"
#include "probes/inspect/inspect.h"
#include "symbol/dso/dso.h"

#define NAME_ROOM	48 /* of the kernel's limit of 64, leaving room for __return */
#define VALUE_NAME_ROOM 32

static const char *const head =
	"#!/bin/sh\n"
	"# Records these functions with perf alone, as root; `ispot report -i perf.data` reads it,\n"
	"# there or elsewhere. The offsets are of the very files that ispot check was shown.\n"
	"set -e\n"
	"tracing=/sys/kernel/tracing\n"
	"[ -e $tracing/uprobe_events ] || tracing=/sys/kernel/debug/tracing\n"
	"group=ispot_perf_$$\n"
	"events=\n"
	"probe() { # probe KIND NAME PATH:OFFSET VALUE...\n"
	"\tprintf '%s\\n' \"$1:$group/$2 $3 $4\" >>$tracing/uprobe_events && events=\"$events $2\"\n"
	"}\n"
	"remove() {\n"
	"\tfor e in $events; do echo \"-:$group/$e\" >>$tracing/uprobe_events; done\n"
	"}\n"
	"trap remove EXIT\n";

/* Makes a unique name that the kernel accepts for an event. */
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

/* fetched: what the kernel should read; NULL: nothing. */
static void probe(const char *kind, const char *name, const char *suffix, const char *path,
		  uint64_t offset, const char *fetched, struct text *out)
{
	char where[32];

	text_printf(out, "probe %s %s%s ", kind, name, suffix);
	text_shell_word(out, path);
	snprintf(where, sizeof(where), ":0x%" PRIx64, offset);
	text_add(out, where);
	if (fetched)
		text_add(out, " ");
	if (fetched)
		text_shell_word(out, fetched);
	text_add(out, "\n");
}

static const char *register_name(const struct dso *dso, uint32_t n)
{
	static const char *const x86[] = { "di", "si", "dx", "cx", "r8", "r9" };
	static const char *const arm64[] = { "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7" };

	if (dso_machine(dso) == DSO_AARCH64)
		return n < sizeof(arm64) / sizeof(*arm64) ? arm64[n] : NULL;
	return n < sizeof(x86) / sizeof(*x86) ? x86[n] : NULL;
}

/* Whether the kernel accepts a name for a value. */
static bool is_value_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return n && n < VALUE_NAME_ROOM && !isdigit((unsigned char)name[0]) &&
	       strncmp(name, "common_", strlen("common_")) != 0;
}

/* Adds "size=%di:u64": the name of a value, its source, its sign and width. */
static void fetch(const struct arguments *a, const struct meta_argument *one, const char *from,
		  struct text *out)
{
	if (from && is_value_name(one->name))
		text_printf(out, "%s%s=%s:%c%u", out->n ? " " : "", one->name, from,
			    one->is_signed ? 's' : 'u', 8u * a->bytes[one->bit]);
}

/*
 * Writes the arguments of an entry. Occasional values are left out, because only some of them are
 * recorded.
 */
static void fetch_arguments(const struct planned *p, struct text *out)
{
	const struct arguments *a = &p->arguments;

	for (uint32_t i = 0; i < a->n && !p->what.marker; i++) {
		const struct meta_argument *one = &a->all[i];
		char from[8] = "%";

		if (one->occasional || one->bit >= ARG_CALLER ||
		    !register_name(p->what.dso, one->bit))
			continue;
		strcat(from, register_name(p->what.dso, one->bit));
		fetch(a, one, from, out);
	}
}

static void fetch_result(const struct planned *p, bool is_return, struct text *out)
{
	const struct arguments *a = &p->arguments;
	const char *site = dso_machine(p->what.dso) == DSO_AARCH64 ? "%x0" : "%ax";

	for (uint32_t i = 0; i < a->n; i++)
		if (a->all[i].bit == ARG_RETURN)
			fetch(a, &a->all[i], is_return ? "$retval" : site, out);
}

/*
 * Adds a comment. A symbol may hold anything that the program's file says, and must not break out
 * of the comment.
 */
static void print_refused(const char *symbol, struct text *out)
{
	char *printable = text_printable_new(symbol);

	text_printf(out, "# %s: the kernel takes no probes in a file of such a name\n", printable);
	free(printable);
}

static void print_planned(struct strtab *names, const struct planned *p, struct text *out)
{
	const struct dso_function *f = p->what.function;
	char path[PATH_MAX];
	char name[NAME_ROOM + 16], suffix[32];
	struct text fetched = { 0 };

	if (!realpath(dso_path(p->what.dso), path) || !place_is_plain(path)) {
		print_refused(f->symbol, out);
		return;
	}
	event_name(names, f->symbol, name);
	fetch_arguments(p, &fetched);
	probe("p", name, "", path, f->file_offset + p->place.entry_offset, fetched.s, out);
	fetched.n = 0;
	fetch_result(p, p->exit.mech == EXIT_RETURN, &fetched);
	if (p->exit.mech == EXIT_RETURN)
		probe("r", name, "__return", path, f->file_offset + p->place.return_offset,
		      fetched.n ? fetched.s : NULL, out);
	for (uint32_t i = 0; p->exit.mech == EXIT_RET_SITES && i < p->place.n_ret_sites; i++) {
		snprintf(suffix, sizeof(suffix), "__ret%u", i);
		probe("p", name, suffix, path, f->file_offset + (uint64_t)p->place.ret_sites[i],
		      fetched.n ? fetched.s : NULL, out);
	}
	text_release(&fetched);
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
