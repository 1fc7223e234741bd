/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "probes/process/program.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/regular.h"
#include "base/text.h"
#include "base/vec.h"
#include "probes/process/status.h"
#include "probes/process/wrapper.h"

struct words {
	VEC(char *)
};

static void words_release(struct words *words)
{
	vec_for_each (words, char *, word)
		free(*word);
	vec_release(words);
}

/*
 * Takes one word of a simple command, without quotes. Returns the rest of the command, or NULL if
 * only a shell can understand it.
 */
static const char *read_word(const char *s, char **word)
{
	struct text t = { 0 };
	char quote = '\0';

	text_add(&t, "");
	for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
		if (quote ? *s == quote : *s == '\'' || *s == '"') {
			quote = quote ? '\0' : *s;
		} else if (*s == '\\' && quote != '\'' && s[1]) {
			text_addn(&t, ++s, 1);
		} else if (quote != '\'' && strchr(quote ? "$`" : "$`;&|<>()*?[]{}~#!\n", *s)) {
			break;
		} else {
			text_addn(&t, s, 1);
		}
	}
	if (quote || (*s && !isspace((unsigned char)*s))) {
		text_release(&t);
		return NULL;
	}
	*word = t.s;
	return s;
}

static bool split_simple(const char *s, struct words *words)
{
	char *word;

	for (;;) {
		if (strchr(s, '\n') && s[strcspn(s, "\n") + 1])
			return false; /* these are several commands */
		s += strspn(s, " \t\n");
		if (!*s)
			break;
		s = read_word(s, &word);
		if (!s)
			return false;
		*vec_add(words) = word;
	}
	*vec_add(words) = NULL;
	return words->n > 1;
}

static const char *environment_get(char **environment, const char *name)
{
	size_t n = strlen(name);

	for (; *environment; environment++) {
		if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
			return *environment + n + 1;
	}
	return NULL;
}

/* Removes all variables of this name, or with this prefix if the name ends in '*'. */
static void environment_unset(char **environment, const char *name)
{
	size_t n = strcspn(name, "=*");
	char **to = environment;

	for (char **from = environment; *from; from++) {
		if (!strncmp(*from, name, n) && (name[n] == '*' || (*from)[n] == '='))
			free(*from);
		else
			*to++ = *from;
	}
	*to = NULL;
}

static void environment_set(struct command_program *p, const char *assignment)
{
	size_t n = 0;

	environment_unset(p->environment, assignment);
	while (p->environment[n])
		n++;
	p->environment = xrealloc(p->environment, (n + 2) * sizeof(char *));
	p->environment[n] = xstrdup(assignment);
	p->environment[n + 1] = NULL;
}

static char **environment_copy(char *const *from)
{
	size_t n = 0;
	char **copy;

	while (from[n])
		n++;
	copy = xcalloc(n + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(from[i]);
	return copy;
}

/* Applies to the command's environment what the words of env and sudo before the command do. */
static void apply_wrapper(struct command_program *p, const struct wrapper *w, char *const *argv,
			  int words)
{
	if (w->flags & DROPS_LOADER)
		environment_unset(p->environment, "LD_*");
	for (int i = 1; i < words && (w->flags & TAKES_ASSIGNMENTS); i++) {
		const char *word = argv[i];
		bool env = !(w->flags & DROPS_LOADER); /* -u and -i of sudo mean something else */

		if (word_is_assignment(word))
			environment_set(p, word);
		else if (env && (!strcmp(word, "-i") || !strcmp(word, "-") ||
				 !strcmp(word, "--ignore-environment")))
			environment_unset(p->environment, "*");
		else if (env && (!strcmp(word, "-u") || !strcmp(word, "--unset")))
			environment_unset(p->environment, argv[++i]);
		else if (env && !strncmp(word, "--unset=", 8))
			environment_unset(p->environment, word + 8);
		else if (env && !strncmp(word, "-u", 2))
			environment_unset(p->environment, word + 2);
	}
}

char *program_in_path(const char *name, char **environment, int *code)
{
	const char *path = environment_get(environment, "PATH"), *dir;
	size_t n;

	*code = -ENOENT;
	for (dir = path ? path : "/bin:/usr/bin";; dir += n + 1) {
		char *file;
		struct stat st;

		n = strcspn(dir, ":");
		file = xasprintf("%.*s%s%s", (int)n, dir, n ? "/" : "./", name);
		if (!stat(file, &st) && S_ISREG(st.st_mode)) {
			if (!access(file, X_OK))
				return file;
			*code = -EACCES;
		}
		free(file);
		if (!dir[n])
			return NULL;
	}
}

static int exec_error(struct err *err, int code, const char *name, const char *what,
		      const char *hint)
{
	if (err)
		err->exit_status = code == -ENOENT ? 127 : 126;
	return err_set(err, code, "%s: %s; %s", name, what, hint);
}

static int find_program(const char *name, struct command_program *p, struct err *err)
{
	struct stat st;
	int code = 0;

	if (err)
		err->exit_status = 0;
	if (!*name)
		return exec_error(err, -ENOENT, "''", "an empty command name", "name a program");
	if (!strchr(name, '/')) {
		p->path = program_in_path(name, p->environment, &code);
		if (p->path)
			return 0;
		if (code == -EACCES)
			return exec_error(err, code, name, "found in PATH but not executable",
					  "chmod +x it");
		if (!stat(name, &st) && S_ISREG(st.st_mode))
			return exec_error(err, -ENOENT, name, "not found in PATH",
					  "for the file here write ./ in front");
		return exec_error(err, -ENOENT, name, "command not found",
				  "check the name and PATH");
	}
	if (stat(name, &st))
		return errno == EACCES
			       ? exec_error(err, -EACCES, name, "may not be reached",
					    "run with sudo")
			       : exec_error(err, -ENOENT, name, "no such file", "check the path");
	if (S_ISDIR(st.st_mode))
		return exec_error(err, -EACCES, name, "is a directory", "name a program in it");
	if (!S_ISREG(st.st_mode))
		return exec_error(err, -EACCES, name, "is no regular file", "name a program");
	if (access(name, X_OK))
		return exec_error(err, -EACCES, name, "not executable", "chmod +x it");
	p->path = xstrdup(name);
	return 0;
}

static int find_command(struct command_program *p, char *const *argv, struct err *err);

#define SCRIPTS_MAX 4 /* limit for scripts that interpret scripts; the kernel has one too */
#define STRINGS_MAX 8 /* limit for `sh -c` inside `sh -c`, because a script may name itself */

/*
 * Reads the words of a script's first line: the interpreter and at most one argument. A text file
 * without such a line is a script for sh, as for execvp() and shells. Returns 0 if the file is not
 * a script.
 */
static int read_interpreter(const char *path, char *line, size_t room, char *words[2])
{
	FILE *f = regular_fopen(path);
	char *end;
	size_t n;

	n = f ? fread(line, 1, room - 1, f) : 0;
	if (f)
		fclose(f);
	line[n] = '\0';
	if (n && strncmp(line, "#!", 2) && strlen(line) == n) {
		words[0] = strcpy(line, "/bin/sh");
		return 1;
	}
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "#!", 2))
		return 0;
	words[0] = line + 2 + strspn(line + 2, " \t");
	words[1] = words[0] + strcspn(words[0], " \t");
	if (*words[1])
		*words[1]++ = '\0';
	words[1] += strspn(words[1], " \t");
	for (end = words[1] + strlen(words[1]); end > words[1] && strchr(" \t\r", end[-1]);)
		*--end = '\0';
	return *words[0] ? 1 + (*words[1] != '\0') : 0;
}

static void note_script(struct command_program *p, const char *path)
{
	if (!p->script)
		p->script = xstrdup(path);
}

/* Finds the interpreter of a script, which is what runs: `./run.sh -x` is `/bin/sh ./run.sh -x`. */
static int find_interpreter(struct command_program *p, char *const *argv, bool *is_script,
			    struct err *err)
{
	char line[256], *words[2], *path = p->path;
	int n = read_interpreter(path, line, sizeof(line), words), ret;
	char **command;
	size_t rest = 0;

	*is_script = n > 0;
	if (!n)
		return 0;
	if (++p->scripts > SCRIPTS_MAX)
		return exec_error(err, -ELOOP, path, "a script for a script", "name a program");
	note_script(p, path);
	while (argv[rest])
		rest++;
	command = xcalloc(n + rest + 1, sizeof(*command));
	memcpy(command, words, n * sizeof(*command));
	command[n] = path;
	memcpy(command + n + 1, argv + 1, (rest - 1) * sizeof(*command));
	p->path = NULL;
	p->word = 0;
	ret = find_command(p, command, err);
	if (ret)
		err_prefix(err, "%s", path);
	free(command);
	free(path);
	return ret;
}

/*
 * Puts the command of words outside argv in the place of p, if it is found. inner has its
 * environment; is_shell and script become those of this command.
 */
static bool replace_command(struct command_program *p, struct command_program *inner,
			    char *const *words)
{
	bool found = words[0] && !find_command(inner, words, NULL);

	command_program_release(found ? p : inner);
	if (found) {
		*p = *inner;
		p->word = -1;
	}
	return found;
}

static struct command_program inner_of(const struct command_program *p)
{
	return (struct command_program){ .environment = environment_copy(p->environment),
					 .forks = p->forks,
					 .changes_user = p->changes_user,
					 .strings = p->strings + 1 };
}

/*
 * Finds the command in the string of `sh -c`. One plain command means that command; anything more
 * means the shell.
 */
static bool find_in_string(struct command_program *p, const char *string)
{
	struct words words = { 0 };
	bool found = false;
	size_t at = 0;

	if (string && p->strings < STRINGS_MAX && split_simple(string, &words)) {
		struct command_program inner = inner_of(p);

		while (words.data[at] && word_is_assignment(words.data[at]))
			environment_set(&inner, words.data[at++]);
		if (words.data[at] && !strcmp(words.data[at], "exec"))
			at++;
		found = replace_command(p, &inner, words.data + at);
	}
	words_release(&words);
	return found;
}

/*
 * Finds the command in a string that env splits: `env -i -S 'A=1 app -x' y` is `env -i A=1 app -x
 * y`.
 */
static bool find_in_split(struct command_program *p, const struct wrapper *w, char *const *argv)
{
	struct words words = { 0 };
	struct wrapper_split split;
	bool found = false;

	if (p->strings == STRINGS_MAX || !wrapper_split(w, argv, &split))
		return false;
	for (int i = 0; i < split.at; i++)
		*vec_add(&words) = xstrdup(argv[i]);
	if (split.letters)
		*vec_add(&words) = xstrndup(argv[split.at], split.letters);
	if (split_simple(split.string, &words)) {
		struct command_program inner = inner_of(p);

		/* the count goes on, because for the kernel all this is one exec */
		inner.scripts = p->scripts;
		for (words.n--; argv[split.rest]; split.rest++)
			*vec_add(&words) = xstrdup(argv[split.rest]);
		*vec_add(&words) = NULL;
		found = replace_command(p, &inner, words.data);
	}
	words_release(&words);
	return found;
}

static int find_command(struct command_program *p, char *const *argv, struct err *err)
{
	for (;;) {
		const struct wrapper *w = wrapper_find(argv[p->word]);
		int skip, ret;

		/* a missing wrapper fails as it would in execvp() */
		ret = find_program(argv[p->word], p, err);
		if (ret)
			return ret;
		if (!w) {
			int word = p->word;
			bool is_script;

			ret = find_interpreter(p, argv + word, &is_script, err);
			p->word = word;
			return ret;
		}
		p->forks |= (w->flags & FORKS) != 0;
		p->changes_user |= (w->flags & DROPS_LOADER) != 0;
		if (w->flags & SHELL) {
			p->is_shell = !find_in_string(p, wrapper_string(w, argv + p->word)) ||
				      p->is_shell;
			return 0;
		}
		if (find_in_split(p, w, argv + p->word))
			return 0;
		skip = wrapper_skip(w, argv + p->word);
		if (!skip)
			return 0;
		apply_wrapper(p, w, argv + p->word, skip);
		free(p->path);
		p->path = NULL;
		p->word += skip;
	}
}

int command_program_find(struct command_program *p, char *const *argv, struct err *err)
{
	int ret;

	*p = (struct command_program){ .environment = environment_copy(environ) };
	ret = find_command(p, argv, err);
	if (ret)
		command_program_release(p);
	return ret;
}

void command_program_release(struct command_program *p)
{
	for (char **variable = p->environment; variable && *variable; variable++)
		free(*variable);
	free(p->environment);
	free(p->path);
	free(p->script);
	*p = (struct command_program){ 0 };
}

int program_of_command(char *const *argv, char **program, int *word, struct err *err)
{
	struct command_program p;
	int ret = command_program_find(&p, argv, err);

	*program = ret ? NULL : xstrdup(p.path);
	*word = ret ? 0 : p.word;
	command_program_release(&p);
	return ret;
}

static char *name_as_started(pid_t pid)
{
	char words[4096];
	const char *name;

	if (!status_words(pid, words, sizeof(words)))
		return NULL;
	words[strcspn(words, " :")] = '\0';
	name = text_base_name(words + (*words == '-')); /* a login shell's name begins with '-' */
	return *name ? xstrdup(name) : NULL;
}

/* The name of a deleted file ends with " (deleted)". */
static char *name_of_file(pid_t pid)
{
	char link[64], path[4096], *deleted;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return NULL;
	path[n] = '\0';
	deleted = strstr(path, " (deleted)");
	if (deleted)
		*deleted = '\0';
	return xstrdup(text_base_name(path));
}

char *program_of_process(pid_t pid)
{
	char *name = name_as_started(pid);

	return name ? name : name_of_file(pid);
}
