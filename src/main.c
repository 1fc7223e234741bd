/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/given.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/memory.h"
#include "cli/pager.h"

/* A closed stdin, stdout or stderr must not become the number of a file that is opened later. What
 * stands there then fails as a closed one does, to ispot and to its command. */
static void open_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static void print_error(struct err *err)
{
	char text[sizeof(err->text)];
	const char *hint = err->hint ? err->text + err->hint : "";

	progress_hide();
	if (*hint)
		err->text[err->hint - 2] = '\0';
	fprintf(stderr, "ispot: %s\n", text_printable(text, sizeof(text), err->text));
	if (*hint)
		fprintf(stderr, "hint: %s\n", text_printable(text, sizeof(text), hint));
}

/*
 * Output that nobody got is a failure, except that a reader who went away (`| head`) ends ispot
 * as quietly as the signal does, also where the parent ignores SIGPIPE.
 */
static int finish_output(int status)
{
	bool failed = fflush(stdout) || ferror(stdout);
	struct err err = { 0 };

	if (failed && errno == EPIPE) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	pager_finish();
	if (!failed || status)
		return status;
	err_set(&err, -errno, "cannot write the output: %s; the output is not complete",
		strerror(errno));
	print_error(&err);
	return 1;
}

static int print_text(struct text *t, FILE *to)
{
	fputs(t->s, to);
	text_release(t);
	return finish_output(to == stderr ? 2 : 0);
}

static int print_version(void)
{
	printf("ispot %s\n", ispot_version);
	return finish_output(0);
}

static int print_help(const struct command *command)
{
	struct text t = { 0 };

	if (command)
		help_command(command, &t);
	else
		help_overview(&t);
	return print_text(&t, stdout);
}

static const char *nearest_command(const char *name)
{
	const char *nearest = NULL;
	unsigned least = text_distance_too_far(strlen(name)), d;

	for (const struct command *const *c = command_all(); *c; c++) {
		d = text_distance(name, (*c)->name, least);
		if (d < least) {
			least = d;
			nearest = (*c)->name;
		}
	}
	return nearest;
}

static int no_such_command(const char *name)
{
	const char *nearest = nearest_command(name);
	struct err err = { 0 };

	if (nearest)
		err_set(&err, -EINVAL, "%s: no such command; did you mean `ispot %s`?", name,
			nearest);
	else
		err_set(&err, -EINVAL, "%s: no such %s; `ispot --help` lists them", name,
			*name == '-' ? "option" : "command");
	print_error(&err);
	return 2;
}

static int help_about(const char *name)
{
	const struct command *command = name ? command_find(name) : NULL;

	return name && !command ? no_such_command(name) : print_help(command);
}

static int print_completion(const char *shell)
{
	struct err err = { 0 };
	struct text t = { 0 };

	if (!completion_print(shell, &t, &err))
		return print_text(&t, stdout);
	print_error(&err);
	return 2;
}

/* The process's exit status for what a command returned. */
static int status_of(int rc, const struct err *err)
{
	if (rc >= 0)
		return rc;
	return err->exit_status ? err->exit_status : 1;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct err err = { 0 };
	int rc = 0;

	if (command->needs & CMD_READS_TRACE)
		rc = memory_bound(&err);
	if (!rc)
		rc = command->run(argc, argv, &err);
	if (err.code == ARGS_ANSWERED)
		return strcmp(err.text, "--version") ? print_help(command) : print_version();
	rc = finish_output(rc >= 0 ? rc : -status_of(rc, &err));
	if (rc >= 0)
		return rc;
	err_prefix(&err, "%s", command->name);
	print_error(&err);
	return -rc;
}

static bool is(const char *word, const char *a, const char *b)
{
	return !strcmp(word, a) || !strcmp(word, b);
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct text t = { 0 };

	open_standard_fds();
	given_note();
	progress_begin();
	if (argc < 2) {
		help_overview(&t);
		return print_text(&t, stderr);
	}
	if (is(argv[1], "--help", "-h"))
		return print_help(NULL);
	if (is(argv[1], "--version", "-V"))
		return print_version();
	if (is(argv[1], "help", "help"))
		return help_about(argv[2]);
	if (!strcmp(argv[1], "--completion"))
		return print_completion(argv[2]);
	command = command_find(argv[1]);
	if (!command)
		return no_such_command(argv[1]);
	return run(command, argc - 1, argv + 1);
}
