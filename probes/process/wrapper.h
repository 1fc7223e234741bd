/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that run another program: each wrapper is a row. All of them take their options before
 * the command, as POSIX requires of such programs.
 */
#ifndef ISPOT_PROBES_PROCESS_WRAPPER_H
#define ISPOT_PROBES_PROCESS_WRAPPER_H

#include <stdbool.h>
#include <stddef.h>

enum {
	TAKES_ASSIGNMENTS = 1, /* A=1 before the command */
	NUMBER_OPTION = 2,     /* nice -5 */
	ARCH_OPERAND = 4,      /* setarch x86_64 -R app: an operand only if it is an architecture */
	SHELL = 8,	       /* -c 'command' */
	DROPS_LOADER = 16,     /* takes LD_* out of the environment */
	SPLITS = 32,	       /* -S 'words of a command' */
	FORKS = 64,	       /* the command is, or may be, a child of the wrapper */
};

struct wrapper {
	const char *name;    /* a glob for the base name */
	const char *letters; /* letters of the options whose value is the next word */
	/* long options whose value is the next word, with blanks around each */
	const char *names;
	unsigned operands; /* operands before the command */
	unsigned flags;
	const char *other; /* letters of the options with which no command runs, or none by name */
};

const struct wrapper *wrapper_find(const char *word); /* NULL: not a wrapper */
/* Returns how many words lead from the wrapper to its command, or 0 if it runs none. */
int wrapper_skip(const struct wrapper *w, char *const *argv);
/*
 * Returns the command string of `sh -c`, also of `bash -ec`, or NULL if the shell runs a script or
 * reads commands.
 */
const char *wrapper_string(const struct wrapper *w, char *const *argv);
/* Where `env -i -S 'words' more`, also written as `-iSwords`, is split. */
struct wrapper_split {
	int at;		/* index in argv of the word with the option */
	size_t letters; /* bytes of this word before the option, such as `-i`; 0: none */
	const char *string;
	int rest; /* index in argv of the word after the string */
};
bool wrapper_split(const struct wrapper *w, char *const *argv, struct wrapper_split *split);
bool word_is_assignment(const char *word); /* true for A=1 */

#endif
