/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/completion.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/command.h"

/*
 * Whether a value is a file, by its name in the help: FILE, also in FILE,...; --from-text TEXT; -o
 * OUT.
 */
static bool is_file(const char *value)
{
	return strstr(value, "FILE") || !strcmp(value, "TEXT") || !strcmp(value, "OUT");
}

/* Whether words behind the options are a program and its arguments, not files. */
static bool takes_program(const struct command *c)
{
	return strstr(c->usage, "CMD");
}

/*
 * Appends s for use within single quotes, with a backslash in front of each character of escaped;
 * quote is how the shell writes a single quote there.
 */
static void add_quoted(struct text *out, const char *s, const char *escaped, const char *quote)
{
	for (; *s; s++) {
		if (*s == '\'') {
			text_add(out, quote);
			continue;
		}
		if (strchr(escaped, *s))
			text_add(out, "\\");
		text_addn(out, s, 1);
	}
}

/* Returns the words of which the option takes one, or NULL. */
static const char *choices_of(const struct command *c, const struct option_row *row)
{
	for (const struct option_choices *x = c->choices; x && x->name && row->name; x++)
		if (!strcmp(x->name, row->name))
			return x->words;
	return NULL;
}

/* ---- bash ---- */

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

/* Adds the words of which an option takes one. */
static void add_choices(const struct command *c, struct text *out)
{
	struct text patterns = { 0 };

	for (const struct option_row *row = c->options; row && !option_row_ends(row); row++) {
		if (!choices_of(c, row))
			continue;
		option_spellings(row, add_pattern, &patterns);
		text_printf(out, "\t\tcase $previous in %s) mode=choice options='%s' ;; esac\n",
			    patterns.s, choices_of(c, row));
		text_release(&patterns);
	}
}

/*
 * Adds the values that may follow an option: a file's name, or something that only the user knows.
 */
static void add_values(const struct command *c, bool file, struct text *out)
{
	struct text patterns = { 0 };

	for (const struct option_row *row = c->options; row && !option_row_ends(row); row++)
		if (row->value && !choices_of(c, row) && is_file(row->value) == file)
			option_spellings(row, add_pattern, &patterns);
	if (patterns.n)
		text_printf(out, "\t\tcase $previous in %s) mode=%s ;; esac\n", patterns.s,
			    file ? "file" : "value");
	text_release(&patterns);
}

static void add_bash_command(const struct command *c, struct text *out)
{
	text_printf(out, "\t%s%s%s)\n", c->name, c->alias ? "|" : "", c->alias ? c->alias : "");
	add_options(c, out);
	if (takes_program(c))
		text_add(out, "\t\tmode=program\n");
	add_values(c, false, out);
	add_values(c, true, out);
	add_choices(c, out);
	text_add(out, "\t\t;;\n");
}

static void print_bash(struct text *out)
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
		add_bash_command(*c, out);
	text_add(
		out,
		"\t*) return ;;\n\tesac\n"
		"\tcase $mode:$current in\n"
		"\tvalue:*) ;;\n"
		"\tchoice:*|*:-*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\") ;;\n"
		"\tfile:*) mapfile -t COMPREPLY < <(compgen -f -- \"$current\") ;;\n"
		"\tprogram:*) mapfile -t COMPREPLY < <(compgen -cf -- \"$current\") ;;\n"
		"\tesac\n}\n"
		"complete -o filenames -F _ispot ispot\n");
}

/* ---- zsh ---- */

#define ZSH_QUOTE "'\\''"

struct zsh_option {
	const struct command *command;
	const struct option_row *row;
	struct text *out;
};

/* One specification of _arguments: `--name=[what it does]:VALUE:_files`. */
static void add_zsh_spelling(void *ctx, const char *spelling)
{
	const struct zsh_option *o = ctx;
	const struct option_row *row = o->row;
	bool again = row->kind == ARG_LIST || row->kind == ARG_COUNT;

	text_printf(o->out, " \\\n\t\t'%s%s", again ? "*" : "", spelling);
	if (row->value)
		text_add(o->out, spelling[1] == '-' ? "=" : "+");
	text_add(o->out, "[");
	add_quoted(o->out, row->help, "[]:\\", ZSH_QUOTE);
	text_add(o->out, "]");
	if (row->value) {
		text_add(o->out, ":");
		add_quoted(o->out, row->value, "[]:\\", ZSH_QUOTE);
		if (choices_of(o->command, row))
			text_printf(o->out, ":(%s)", choices_of(o->command, row));
		else
			text_add(o->out, is_file(row->value) ? ":_files" : ": ");
	}
	text_add(o->out, "'");
}

static void add_zsh_command(const struct command *c, struct text *out)
{
	text_printf(out, "\t%s%s%s)\n\t\t_arguments -s", c->name, c->alias ? "|" : "",
		    c->alias ? c->alias : "");
	for (const struct option_row *row = c->options; row && !option_row_ends(row); row++) {
		struct zsh_option o = { c, row, out };

		option_spellings(row, add_zsh_spelling, &o);
	}
	text_printf(out, " \\\n\t\t'(- *)'{-h,--help}'[print help]' \\\n\t\t'%s'\n\t\t;;\n",
		    takes_program(c) ? "*::program:_normal" : "*:file:_files");
}

static void print_zsh(struct text *out)
{
	text_add(out,
		 "#compdef ispot\n# zsh completion of ispot; made by `ispot --completion zsh`\n"
		 "_ispot()\n{\n\tlocal -a commands=(\n");
	for (const struct command *const *c = command_all(); *c; c++) {
		text_printf(out, "\t\t'%s:", (*c)->name);
		add_quoted(out, (*c)->summary, ":\\", ZSH_QUOTE);
		text_add(out, "'\n");
	}
	text_add(out,
		 "\t\t'help:print help'\n\t)\n"
		 "\tif (( CURRENT == 2 )) || { (( CURRENT == 3 )) && [[ $words[2] == help ]] }; "
		 "then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
		 "\tshift words\n\t(( CURRENT-- ))\n\tcase $words[1] in\n");
	for (const struct command *const *c = command_all(); *c; c++)
		add_zsh_command(*c, out);
	text_add(out, "\tesac\n}\n"
		      "if [[ $funcstack[1] == _ispot ]]; then\n\t_ispot \"$@\"\nelse\n"
		      "\tcompdef _ispot ispot\nfi\n");
}

/* ---- fish ---- */

#define FISH_QUOTE "\\'"

static void add_fish_spelling(void *ctx, const char *spelling)
{
	text_printf(ctx, " -%c %s", spelling[1] == '-' ? 'l' : 's',
		    spelling + (spelling[1] == '-' ? 2 : 1));
}

static void add_fish_option(const struct command *c, const struct option_row *row, struct text *out)
{
	text_printf(out, "complete -c ispot -n '__fish_seen_subcommand_from %s%s%s'", c->name,
		    c->alias ? " " : "", c->alias ? c->alias : "");
	option_spellings(row, add_fish_spelling, out);
	text_printf(out, "%s", !row->value ? "" : is_file(row->value) ? " -r -F" : " -x");
	if (choices_of(c, row))
		text_printf(out, " -a '%s'", choices_of(c, row));
	text_add(out, " -d '");
	add_quoted(out, row->help, "\\", FISH_QUOTE);
	text_add(out, "'\n");
}

static void add_fish_command(const struct command *c, struct text *out)
{
	static const struct option_row help = { .letter = 'h',
						.name = "help",
						.help = "print help" };

	text_printf(out, "complete -c ispot -n __fish_use_subcommand -a %s -d '", c->name);
	add_quoted(out, c->summary, "\\", FISH_QUOTE);
	text_add(out, "'\n");
	for (const struct option_row *row = c->options; row && !option_row_ends(row); row++)
		add_fish_option(c, row, out);
	add_fish_option(c, &help, out);
	text_printf(out, "complete -c ispot -n '__fish_seen_subcommand_from %s' %s\n", c->name,
		    takes_program(c) ? "-a '(__fish_complete_subcommand)'" : "-F");
}

static void print_fish(struct text *out)
{
	text_add(out, "# fish completion of ispot; made by `ispot --completion fish`\n"
		      "complete -c ispot -f\n"
		      "complete -c ispot -n __fish_use_subcommand -a help -d 'print help'\n"
		      "complete -c ispot -n '__fish_seen_subcommand_from help' -a '");
	for (const struct command *const *c = command_all(); *c; c++)
		text_printf(out, "%s%s", c == command_all() ? "" : " ", (*c)->name);
	text_add(out, "'\n");
	for (const struct command *const *c = command_all(); *c; c++)
		add_fish_command(*c, out);
}

static const struct {
	const char *name;
	void (*print)(struct text *out);
} shells[] = { { "bash", print_bash }, { "fish", print_fish }, { "zsh", print_zsh } };

int completion_print(const char *shell, struct text *out, struct err *err)
{
	for (size_t i = 0; shell && i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!strcmp(shell, shells[i].name)) {
			shells[i].print(out);
			return 0;
		}
	err_set(err, -EINVAL, "--completion: this shell is not known; name bash, fish or zsh");
	err->exit_status = 2;
	return -EINVAL;
}
