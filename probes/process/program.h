/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which program a command line means: `env A=1 taskset -c 0 ./app` means app. */
#ifndef ISPOT_PROBES_PROCESS_PROGRAM_H
#define ISPOT_PROBES_PROCESS_PROGRAM_H

#include <stdbool.h>

struct err;

/*
 * The program a command line means, through wrappers (env, taskset, sudo, nice, timeout,
 * stdbuf, setarch, numactl, chrt, ionice, nohup, time, sh -c 'simple command' …: a table).
 * *program: its path as found in PATH, to be freed; *word: its index in argv, or -1 inside sh -c
 * and env -S. -ENOENT (exit status 127), -EACCES (126).
 */
int program_of_command(char *const *argv, char **program, int *word, struct err *err);

/* The same with the environment that the program will see: `env LD_PRELOAD=… app` has libraries
 * of its own (for dso_closure_in). A script means its interpreter. Release it only if it was found.
 */
struct command_program {
	char *path;
	int word;
	char *script;	    /* that path interprets, NULL: none */
	bool is_shell;	    /* path only starts other programs */
	bool forks;	    /* it may run as a child of a wrapper */
	unsigned scripts;   /* met on the way */
	unsigned strings;   /* looked into on the way: of `sh -c` and `env -S` */
	char **environment; /* NULL-terminated */
};
/* The file in PATH that a name means, to be freed; NULL: *code is -ENOENT, or -EACCES where there
 * is one that may not be run. */
char *program_in_path(const char *name, char **environment, int *code);
int command_program_find(struct command_program *p, char *const *argv, struct err *err);
void command_program_release(struct command_program *p);

#endif
