/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program that a command line starts: `env A=1 taskset -c 0 ./app` starts app. */
#ifndef ISPOT_PROBES_PROCESS_PROGRAM_H
#define ISPOT_PROBES_PROCESS_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

struct err;

/*
 * Finds the program that a command line starts, through wrappers (env, taskset, sudo, nice,
 * timeout, stdbuf, setarch, numactl, chrt, ionice, nohup, time, sh -c 'simple command' and others
 * from a table). *program is its path as found in PATH, which the caller frees. *word is its index
 * in argv, or -1 inside sh -c and env -S. -ENOENT (exit status 127): there is none; -EACCES (126):
 * it may not be run.
 */
int program_of_command(char *const *argv, char **program, int *word, struct err *err);

/*
 * The program together with the environment that it will see: `env LD_PRELOAD=… app` has libraries
 * of its own (for dso_closure_in). A script is replaced by its interpreter. Release it only if
 * command_program_find() succeeded.
 */
struct command_program {
	char *path;
	int word;
	char *script;	    /* the script that path interprets, or NULL */
	bool is_shell;	    /* path only starts other programs */
	bool forks;	    /* the program may run as the child of a wrapper */
	bool changes_user;  /* a wrapper gets another user's rights, as sudo does */
	unsigned scripts;   /* number of scripts on the way */
	unsigned strings;   /* number of strings of `sh -c` and `env -S` on the way */
	char **environment; /* the last element is NULL */
};
/*
 * Returns the file in PATH that a name means, which the caller frees, or NULL. *code is then
 * -ENOENT, or -EACCES if there is such a file but it may not be run.
 */
char *program_in_path(const char *name, char **environment, int *code);
int command_program_find(struct command_program *p, char *const *argv, struct err *err);
void command_program_release(struct command_program *p);

/*
 * Returns the name of a process's program, to be freed, or NULL if the process has ended. It is the
 * word that started it, as its file may have another name (redis-server is a link) or be an
 * interpreter; titles that a process gives itself begin with its name. Without words it is the
 * file's.
 */
char *program_of_process(pid_t pid);

#endif
