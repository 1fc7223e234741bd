/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that run another: a wrapper is a row. All of them take their options before the command,
 * as POSIX asks of programs that run another.
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
	FORKS = 64,	       /* the command is, or may be, a child of its */
};

struct wrapper {
	const char *name;    /* base name, a glob */
	const char *letters; /* options whose value is the next word */
	const char *names;   /* long options whose value is the next word, blanks around each */
	unsigned operands;   /* before the command */
	unsigned flags;
	const char *other; /* options with which no command is run, or not by name */
};

const struct wrapper *wrapper_find(const char *word); /* NULL: it is none */
/* Words to skip from the wrapper to its command; 0: it runs none. */
int wrapper_skip(const struct wrapper *w, char *const *argv);
/* The command string of `sh -c`, also in `bash -ec`; NULL: it runs a script or reads commands. */
const char *wrapper_string(const struct wrapper *w, char *const *argv);
/* `env -i -S 'words' more`, also as `-iSwords`. */
struct wrapper_split {
	int at;		/* the option's word in argv */
	size_t letters; /* of it that stand before the option, `-i`; 0: none */
	const char *string;
	int rest; /* the word in argv behind it */
};
bool wrapper_split(const struct wrapper *w, char *const *argv, struct wrapper_split *split);
bool word_is_assignment(const char *word); /* A=1 */

#endif
