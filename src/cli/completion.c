/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bash completion of help.h, generated from the option rows. */
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"

static void add_word(void *ctx, const char *spelling)
{
	text_printf(ctx, "%s ", spelling);
}

static void add_pattern(void *ctx, const char *spelling)
{
	struct text *t = ctx;

	text_printf(t, "%s%s", t->n ? "|" : "", spelling);
}

static void add_options(const struct command *c, struct text *out)
{
	text_add(out, "\t\toptions='");
	for (const struct option_row *row = c->options; row && !option_row_ends(row); row++)
		option_spellings(row, add_word, out);
	text_add(out, "-h --help'\n");
}

/* By the word that help has for the value: FILE, also in FILE,...; --from-text TEXT; -o OUT. */
static bool is_file(const char *value)
{
	return strstr(value, "FILE") || !strcmp(value, "TEXT") || !strcmp(value, "OUT");
}

/* What may follow an option that takes a value: a file's name, or something only the user knows. */
static void add_values(const struct command *c, bool file, struct text *out)
{
	struct text patterns = { 0 };

	for (const struct option_row *row = c->options; row && !option_row_ends(row); row++)
		if (row->value && is_file(row->value) == file)
			option_spellings(row, add_pattern, &patterns);
	if (patterns.n)
		text_printf(out, "\t\tcase $previous in %s) mode=%s ;; esac\n", patterns.s,
			    file ? "file" : "value");
	text_release(&patterns);
}

static void add_command(const struct command *c, struct text *out)
{
	text_printf(out, "\t%s%s%s)\n", c->name, c->alias ? "|" : "", c->alias ? c->alias : "");
	add_options(c, out);
	if (strstr(c->usage, "CMD"))
		text_add(out, "\t\tmode=program\n");
	add_values(c, false, out);
	add_values(c, true, out);
	text_add(out, "\t\t;;\n");
}

void help_completion_bash(struct text *out)
{
	text_add(out,
		 "# bash completion of ispot; made by `ispot --completion bash`\n"
		 "_ispot()\n{\n"
		 "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
		 "\tlocal options mode=file\n"
		 "\tCOMPREPLY=()\n"
		 "\tif [ \"$COMP_CWORD\" -eq 1 ] || { [ \"$COMP_CWORD\" -eq 2 ] && "
		 "[ \"$previous\" = help ]; }; then\n"
		 "\t\tmapfile -t COMPREPLY < <(compgen -W 'help ");
	for (const struct command *const *c = command_all(); *c; c++)
		text_printf(out, "%s ", (*c)->name);
	text_add(out, "--help --version' -- \"$current\")\n\t\treturn\n\tfi\n"
		      "\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *const *c = command_all(); *c; c++)
		add_command(*c, out);
	text_add(out,
		 "\t*) return ;;\n\tesac\n"
		 "\tcase $mode:$current in\n"
		 "\tvalue:*) ;;\n"
		 "\t*:-*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\") ;;\n"
		 "\tfile:*) mapfile -t COMPREPLY < <(compgen -f -- \"$current\") ;;\n"
		 "\tprogram:*) mapfile -t COMPREPLY < <(compgen -cf -- \"$current\") ;;\n"
		 "\tesac\n}\n"
		 "complete -o filenames -F _ispot ispot\n");
}
