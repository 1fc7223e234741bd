/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command is one row and one file: src/cmd/NAME.c or NAME/NAME.c defines `const struct command
 * cmd_NAME`, its only non-static symbol, and src/cli/command.c lists it. Help, shell completion and
 * the check that man page and -h agree derive from the row.
 */
#ifndef ISPOT_CLI_COMMAND_H
#define ISPOT_CLI_COMMAND_H

#include "cli/args.h"

struct err;

enum command_needs {
	CMD_READS_TRACE = 1, /* reads recordings, which may be hostile: memory is bounded */
	CMD_NEEDS_ROOT = 4,  /* probes, BPF */
};

/* All words that the value of an option may be, a blank between two. Completion offers them. */
struct option_choices {
	const char *name; /* the option's long name */
	const char *words;
};

struct command {
	const char *name, *alias;    /* alias: NULL or a second name ("script" for dump) */
	const char *summary;	     /* one clause, lower case, no full stop */
	const char *usage;	     /* "ispot report [-i FILE] …": the man page's SYNOPSIS */
	const char *const *examples; /* pairs "ispot report -s calls", "what it does", …, NULL */
	const struct option_row *options;     /* ends with a zero row; help derives from it */
	const struct option_choices *choices; /* NULL, or ends with a zero row */
	unsigned needs;
	/*
	 * argv[0] is the command's name. Returns the process's exit status; on failure it has
	 * filled err and returns a negative errno: main prints the sentence and exits with
	 * err->exit_status, or 1, or 2 where the code is -EINVAL from args_parse.
	 */
	int (*run)(int argc, char **argv, struct err *err);
};

const struct command *command_find(const char *name); /* NULL: none */
const struct command *const *command_all(void);	      /* NULL-terminated, in the order of help */
extern const char *const ispot_version;

#endif
