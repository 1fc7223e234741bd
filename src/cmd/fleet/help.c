/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The help of one verb, out of that of `ispot fleet`. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cmd/fleet/internal.h"

/* Returns whether the verb is one of those before the colon of "push, report: what it does". */
static bool is_of(const char *verb, const char *clause, size_t n)
{
	for (size_t at = 0, end; at < n; at = end + strspn(clause + end, ", ")) {
		end = at + strcspn(clause + at, ",:");
		if (end - at == strlen(verb) && !strncmp(clause + at, verb, end - at))
			return true;
	}
	return false;
}

/* Adds the clause of help that is the verb's: "record: A; push, report: B" has one for three. */
static void add_clause(const char *help, const char *verb, struct text *out)
{
	for (const char *clause = help, *end; clause; clause = end ? end + 2 : NULL) {
		const char *colon = strstr(clause, ": ");

		end = strstr(clause, "; ");
		if (!colon || !is_of(verb, clause, (size_t)(colon - clause)))
			continue;
		clause = colon + 2;
		text_addn(out, clause, end ? (size_t)(end - clause) : strlen(clause));
		return;
	}
	text_add(out, help);
}

/* Adds the form of usage that begins with "ispot fleet VERB". */
static void add_form(const char *usage, const char *start, struct text *out)
{
	const char *form = strstr(usage, start);

	if (form)
		text_addn(out, form, strcspn(form, "\n"));
}

void fleet_help(const struct command *fleet, const char *verb, const char *summary,
		struct option_row *own)
{
	struct command c = *fleet;
	struct text usage = { 0 }, out = { 0 }, start = { 0 };
	const char *examples[64] = { NULL };
	struct text helps[64] = { 0 };
	size_t n = 0;

	text_printf(&start, "ispot fleet %s", verb);
	add_form(fleet->usage, start.s, &usage);
	for (const char *const *e = fleet->examples; *e && n + 2 < 64; e += 2)
		if (strstr(e[0], start.s)) {
			examples[n++] = e[0];
			examples[n++] = e[1];
		}
	for (size_t i = 0; i < 64 && !option_row_ends(&own[i]); i++) {
		add_clause(own[i].help, verb, &helps[i]);
		own[i].help = helps[i].s;
	}
	c.summary = summary;
	c.usage = usage.s;
	c.examples = examples;
	c.options = own;
	help_command(&c, &out);
	fputs(out.s, stdout);
	for (size_t i = 0; i < 64; i++)
		text_release(&helps[i]);
	text_release(&start);
	text_release(&usage);
	text_release(&out);
}
