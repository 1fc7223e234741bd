/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which program a command line means: `env A=1 taskset -c 0 ./app` means app. A wrapper is a row;
 * all of them take their options before the command, as POSIX asks of programs that run another.
 */
#include "probes/select.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

enum {
	TAKES_ASSIGNMENTS = 1, /* A=1 before the command */
	NUMBER_OPTION = 2,     /* nice -5 */
	ARCH_OPERAND = 4,      /* setarch x86_64 -R app: an operand only if it is an architecture */
	SHELL = 8,	       /* -c 'command' */
	DROPS_LOADER = 16,     /* takes LD_* out of the environment */
};

static const struct wrapper {
	const char *name;    /* base name, a glob */
	const char *letters; /* options whose value is the next word */
	const char *names;   /* long options whose value is the next word, blanks around each */
	unsigned operands;   /* before the command */
	unsigned flags;
	const char *other; /* options with which no command is run, or not by name */
} wrappers[] = {
	{ "env", "uC", " --unset --chdir ", 0, TAKES_ASSIGNMENTS, "S" },
	{ "nice", "n", " --adjustment ", 0, NUMBER_OPTION, "" },
	{ "ionice", "cn", " --class --classdata ", 0, 0, "pPu" },
	{ "nohup", "", "", 0, 0, "" },
	{ "setsid", "", "", 0, 0, "" },
	{ "stdbuf", "ioe", " --input --output --error ", 0, 0, "" },
	{ "timeout", "ks", " --kill-after --signal ", 1, 0, "" },
	{ "taskset", "", "", 1, 0, "p" },
	{ "chrt", "TPD", " --sched-runtime --sched-period --sched-deadline ", 1, 0, "pm" },
	{ "numactl", "NmCpiPwMl",
	  " --cpunodebind --membind --physcpubind --interleave --preferred --weighted-interleave ",
	  0, 0, "sH" },
	{ "setarch", "", "", 0, ARCH_OPERAND, "" },
	{ "linux64", "", "", 0, 0, "" },
	{ "linux32", "", "", 0, 0, "" },
	{ "x86_64", "", "", 0, 0, "" },
	{ "prlimit", "", "", 0, 0, "p" },
	{ "setpriv", "", " --reuid --regid --groups --inh-caps --bounding-set --securebits ", 0, 0,
	  "d" },
	{ "unshare", "RwSGl",
	  " --root --wd --setuid --setgid --map-user --map-group --map-users --map-groups --propagation --load-interp --monotonic --boottime ",
	  0, 0, "" },
	{ "flock", "wE", " --timeout --wait --conflict-exit-code ", 1, 0, "cu" },
	{ "time", "fo", " --format --output ", 0, 0, "" },
	{ "sudo", "ugChpDRrtTU",
	  " --user --group --close-from --host --prompt --chdir --chroot --role --type --command-timeout --other-user ",
	  0, TAKES_ASSIGNMENTS | DROPS_LOADER, "lveKkis" },
	{ "doas", "uC", "", 0, DROPS_LOADER, "Ls" },
	{ "chronic", "", "", 0, 0, "" },
	{ "eatmydata", "", "", 0, 0, "" },
	{ "ld-linux*.so.*", "",
	  " --library-path --preload --argv0 --audit --inhibit-rpath --glibc-hwcaps-mask --glibc-hwcaps-prepend ",
	  0, 0, "" },
	{ "ld-musl-*.so.*", "", " --library-path --preload --argv0 ", 0, 0, "" },
	{ "sh", "oO", "", 0, SHELL, "s" },
	{ "bash", "oO", " --rcfile --init-file ", 0, SHELL, "s" },
	{ "dash", "o", "", 0, SHELL, "s" },
	{ "ksh", "o", "", 0, SHELL, "s" },
	{ "zsh", "o", "", 0, SHELL, "s" },
};

static const struct wrapper *find_wrapper(const char *word)
{
	const char *base = text_base_name(word);

	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
		if (fnmatch(wrappers[i].name, base, 0) == 0)
			return &wrappers[i];
	}
	return NULL;
}

static bool is_assignment(const char *word)
{
	const char *equals = strchr(word, '=');

	return equals && equals > word && (isalpha((unsigned char)*word) || *word == '_');
}

static bool is_architecture(const char *word)
{
	static const char *const known[] = { "x86_64",	"i386",	   "i586",    "i686",
					     "linux32", "linux64", "uname26", "aarch64",
					     "arm64",	"armv7l",  "arm" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(word, known[i]))
			return true;
	}
	return false;
}

static bool in_list(const char *names, const char *word)
{
	char *key = xasprintf(" %s ", word);
	bool found = strstr(names, key) != NULL;

	free(key);
	return found;
}

/* How many words the option argv[0] takes; 0: with it no command is run, or not one to be found. */
static int option_words(const struct wrapper *w, char *const *argv)
{
	const char *option = argv[0];

	if (option[1] == '-')
		return !strchr(option, '=') && in_list(w->names, option) && argv[1] ? 2 : 1;
	if ((w->flags & NUMBER_OPTION) && isdigit((unsigned char)option[1]))
		return 1;
	for (const char *letter = option + 1; *letter; letter++) {
		if (strchr(w->other, *letter))
			return 0;
		if (strchr(w->letters, *letter))
			return letter[1] || !argv[1] ? 1 : 2;
	}
	return 1;
}

/* Words to skip from the wrapper to its command; 0: it runs none. */
static int skip_wrapper(const struct wrapper *w, char *const *argv)
{
	int at = 1;

	while (argv[at] && argv[at][0] == '-' && argv[at][1] && strcmp(argv[at], "--") != 0) {
		int words = option_words(w, argv + at);

		if (!words)
			return 0;
		at += words;
	}
	if (argv[at] && (w->flags & ARCH_OPERAND) && is_architecture(argv[at])) {
		at++;
		while (argv[at] && argv[at][0] == '-' && strcmp(argv[at], "--") != 0)
			at++;
	}
	at += argv[at] && !strcmp(argv[at], "--");
	at += argv[at] && (w->flags & TAKES_ASSIGNMENTS) && !strcmp(argv[at], "-"); /* env's -i */
	while (argv[at] && (w->flags & TAKES_ASSIGNMENTS) && is_assignment(argv[at]))
		at++;
	for (unsigned i = 0; argv[at] && i < w->operands; i++)
		at++;
	at += w->operands && argv[at] && !strcmp(argv[at], "--");
	return argv[at] ? at : 0;
}

/* The command string of `sh -c`, also in `bash -ec`; NULL: it runs a script or reads commands. */
static const char *shell_string(const struct wrapper *w, char *const *argv)
{
	bool command = false;
	int at = 1;

	while (argv[at] && (argv[at][0] == '-' || argv[at][0] == '+') && argv[at][1]) {
		int words = option_words(w, argv + at);

		if (!words)
			return NULL;
		if (argv[at][0] == '-' && argv[at][1] != '-' && strchr(argv[at], 'c'))
			command = true;
		if (!strcmp(argv[at], "--")) {
			at++;
			break;
		}
		at += words;
	}
	return command ? argv[at] : NULL;
}

struct words {
	VEC(char *)
};

static void words_release(struct words *words)
{
	vec_for_each (words, char *, word)
		free(*word);
	vec_release(words);
}

/* One word of a simple command, quotes taken off. NULL: something that only a shell understands. */
static const char *take_word(const char *s, char **word)
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
			return false; /* several commands */
		s += strspn(s, " \t\n");
		if (!*s)
			break;
		s = take_word(s, &word);
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

/* Takes out all variables of this name, or with this prefix where it ends in '*'. */
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

/* What env's and sudo's words before the command do to its environment. */
static void apply_wrapper(struct command_program *p, const struct wrapper *w, char *const *argv,
			  int words)
{
	if (w->flags & DROPS_LOADER)
		environment_unset(p->environment, "LD_*");
	for (int i = 1; i < words && (w->flags & TAKES_ASSIGNMENTS); i++) {
		const char *word = argv[i];
		bool env = !(w->flags & DROPS_LOADER); /* sudo's -u and -i mean something else */

		if (is_assignment(word))
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

static char *find_in_path(const char *name, char **environment, int *code)
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

static int exec_error(struct err *err, int code, const char *name, const char *what)
{
	if (err)
		err->exit_status = code == -ENOENT ? 127 : 126;
	return err_set(err, code, "%s: %s", name, what);
}

static int find_program(const char *name, struct command_program *p, struct err *err)
{
	struct stat st;
	int code = 0;

	if (err)
		err->exit_status = 0;
	if (!*name)
		return exec_error(err, -ENOENT, "''", "an empty command name; name a program");
	if (!strchr(name, '/')) {
		p->path = find_in_path(name, p->environment, &code);
		if (p->path)
			return 0;
		if (code == -EACCES)
			return exec_error(err, code, name,
					  "found in PATH but not executable; chmod +x it");
		if (!stat(name, &st) && S_ISREG(st.st_mode))
			return exec_error(err, -ENOENT, name,
					  "not found in PATH; for the file here write ./ in front");
		return exec_error(err, -ENOENT, name, "command not found; check the name and PATH");
	}
	if (stat(name, &st))
		return errno == EACCES
			       ? exec_error(err, -EACCES, name, "may not be reached; run with sudo")
			       : exec_error(err, -ENOENT, name, "no such file; check the path");
	if (S_ISDIR(st.st_mode))
		return exec_error(err, -EACCES, name, "is a directory; name a program in it");
	if (access(name, X_OK))
		return exec_error(err, -EACCES, name, "not executable; chmod +x it");
	p->path = xstrdup(name);
	return 0;
}

static int find_command(struct command_program *p, char *const *argv, struct err *err);

#define SCRIPTS_MAX 4 /* scripts of scripts that the kernel follows as well */

/* The words of a script's first line: interpreter and at most one argument. 0: it is no script. */
static int read_interpreter(const char *path, char *line, size_t room, char *words[2])
{
	FILE *f = fopen(path, "re");
	char *end;
	size_t n;

	n = f ? fread(line, 1, room - 1, f) : 0;
	if (f)
		fclose(f);
	line[n] = '\0';
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

/* A script's interpreter is what runs: `./run.sh -x` is `/bin/sh ./run.sh -x`. */
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
		return exec_error(err, -ELOOP, path, "a script for a script; name a program");
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

/* `sh -c` of one plain command means that command; anything more means the shell. */
static bool find_in_string(struct command_program *p, const char *string)
{
	struct command_program inner = { .environment = environment_copy(p->environment) };
	struct words words = { 0 };
	bool found = false;
	size_t at = 0;

	if (!string || !split_simple(string, &words))
		goto out;
	while (words.data[at] && is_assignment(words.data[at]))
		environment_set(&inner, words.data[at++]);
	if (words.data[at] && !strcmp(words.data[at], "exec"))
		at++;
	found = words.data[at] && !find_command(&inner, words.data + at, NULL);
	if (found) {
		command_program_release(p);
		*p = inner;
		p->word = -1; /* is_shell, script: the inner command's */
		inner = (struct command_program){ 0 };
	}
out:
	command_program_release(&inner);
	words_release(&words);
	return found;
}

static int find_command(struct command_program *p, char *const *argv, struct err *err)
{
	for (;;) {
		const struct wrapper *w = find_wrapper(argv[p->word]);
		int skip, ret;

		/* Also a wrapper that is not there fails as execvp() would. */
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
		if (w->flags & SHELL) {
			p->is_shell =
				!find_in_string(p, shell_string(w, argv + p->word)) || p->is_shell;
			return 0;
		}
		skip = skip_wrapper(w, argv + p->word);
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
