/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/help.h"

#include <string.h>

#include "base/text.h"
#include "cli/command.h"

#define WIDTH	    80
#define HELP_COLUMN 26

void help_overview(struct text *out)
{
	text_add(out, "usage: ispot COMMAND [OPTION]... [--] [ARGUMENT]...\n\n"
		      "Finds the functions in which a multithreaded program loses thread time to\n"
		      "interference, and says how much and why.\n\n"
		      "commands:\n");
	for (const struct command *const *c = command_all(); *c; c++)
		text_printf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
	text_add(out, "\n"
		      "examples:\n"
		      "  sudo ispot record ./app     run ./app and record it to ispot.data\n"
		      "  ispot report                show where time is lost, and why\n"
		      "  ispot help report           show the options and examples of a command\n\n"
		      "'ispot --version' prints the version. See man ispot.\n");
}

/* Returns the length up to where a usage line may be broken next: a blank outside of brackets. */
static size_t piece(const char *s)
{
	int depth = 0;
	size_t n;

	for (n = 0; s[n] && s[n] != '\n' && (s[n] != ' ' || depth); n++)
		depth += s[n] == '[' || s[n] == '(' ? 1 : s[n] == ']' || s[n] == ')' ? -1 : 0;
	return n;
}

/* Skips the blanks of a line that continues the form before it. */
static const char *skip_blanks(const char *s)
{
	while (*s == ' ' || (*s == '\n' && s[1] == ' '))
		s++;
	return s;
}

/*
 * Appends one form of the usage, its lines wrapped to start behind its first two words. Returns the
 * next form.
 */
static const char *add_form(const char *usage, struct text *out)
{
	size_t column = 7, indent = 7, n;

	for (unsigned words = 1; *usage && *usage != '\n'; words++) {
		n = piece(usage);
		if (words > 1 && column + 1 + n > WIDTH) {
			text_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (words > 1) {
			text_add(out, " ");
			column++;
		}
		text_addn(out, usage, n);
		column += n;
		if (words == 2)
			indent = column + 1;
		usage = skip_blanks(usage + n);
	}
	text_add(out, "\n");
	return usage + (*usage == '\n');
}

static void add_usage(const char *usage, struct text *out)
{
	text_add(out, "usage: ");
	for (usage = add_form(usage, out); *usage; usage = add_form(usage, out))
		text_add(out, "       ");
}

static void add_spelling(void *ctx, const char *spelling)
{
	struct text *t = ctx;

	text_printf(t, "%s%s", t->n ? ", " : "", spelling);
}

/* Appends the help text, wrapped, starting at HELP_COLUMN. */
static void add_wrapped(struct text *out, const char *words, size_t column)
{
	for (size_t n; *words; words += n + strspn(words + n, " ")) {
		n = strcspn(words, " ");
		if (column > HELP_COLUMN && column + 1 + n > WIDTH) {
			text_printf(out, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (column > HELP_COLUMN) {
			text_add(out, " ");
			column++;
		}
		text_addn(out, words, n);
		column += n;
	}
	text_add(out, "\n");
}

static void add_option(const struct option_row *row, struct text *out)
{
	struct text left = { 0 };

	option_spellings(row, add_spelling, &left);
	if (row->value)
		text_printf(&left, " %s", row->value);
	if (2 + left.n + 2 > HELP_COLUMN)
		text_printf(out, "  %s\n%*s", left.s, HELP_COLUMN, "");
	else
		text_printf(out, "  %-*s", HELP_COLUMN - 2, left.s);
	add_wrapped(out, row->help, HELP_COLUMN);
	text_release(&left);
}

static const struct option_row help_row = {
	.letter = 'h',
	.name = "help",
	.help = "show this help",
};

void help_command(const struct command *command, struct text *out)
{
	const struct option_row *row = command->options;
	const char *const *example = command->examples;

	add_usage(command->usage, out);
	text_printf(out, "\n%s\n\noptions:\n", command->summary);
	for (; row && !option_row_ends(row); row++)
		add_option(row, out);
	add_option(&help_row, out);
	if (example && *example)
		text_add(out, "\nexamples:\n");
	for (; example && example[0] && example[1]; example += 2)
		text_printf(out, "  %s\n      %s\n", example[0], example[1]);
}
