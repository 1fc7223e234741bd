// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * many PROGRAM: runs that program, which is ispot, for each line of its input, DIRECTORY TAB OUTPUT
 * TAB ARGUMENT TAB ARGUMENT..., in that directory, with its output in that file and no input. A
 * shell would copy itself for each of them, which takes longer than most of the commands. Prints a
 * line for each that fails or shows nothing: "DIRECTORY: ARGUMENTS: status N: " and its errors; of
 * one that a signal ended 128 and its number.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 32 };

/* Returns its wait status, or -1 and says why. */
static int run_one(const char *directory, const char *output, int errors, char **argv)
{
	posix_spawn_file_actions_t actions;
	pid_t child;
	int status, rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, directory);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output,
					 O_WRONLY | O_CREAT | O_TRUNC, 0644);
	posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
	rc = posix_spawn(&child, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (!rc && waitpid(child, &status, 0) == child)
		return status;
	fprintf(stderr, "many: %s in %s: %s\n", argv[0], directory, strerror(rc ? rc : errno));
	return -1;
}

static bool shows_nothing(const char *directory, const char *output)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s%s", *output == '/' ? "" : directory,
		 *output == '/' ? "" : "/", output);
	return stat(path, &st) || (S_ISREG(st.st_mode) && !st.st_size);
}

static void tell(const char *directory, char **argv, int status, int errors)
{
	char text[1024];
	ssize_t n = pread(errors, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	for (char *p = text; *p; p++)
		if (*p == '\n')
			*p = ' ';
	printf("%s:", directory);
	while (*++argv)
		printf(" %s", *argv);
	printf(": status %d: %s\n", status, text);
}

/* Returns 1 if nothing can be run. */
static int run_line(char *program, char *line)
{
	char *directory = strtok(line, "\t\n"), *output = strtok(NULL, "\t\n"), *argument;
	char *argv[ARGUMENTS_MAX + 1] = { program };
	int argc = 1, status, errors;

	while (argc < ARGUMENTS_MAX && (argument = strtok(NULL, "\t\n")))
		argv[argc++] = argument;
	if (argc == 1)
		return fprintf(stderr, "many: no command\n"), 1;
	errors = memfd_create("errors", MFD_CLOEXEC);
	status = run_one(directory, output, errors, argv);
	if (status < 0)
		return 1;
	status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (status || shows_nothing(directory, output))
		tell(directory, argv, status, errors);
	close(errors);
	return 0;
}

int main(int argc, char **argv)
{
	char line[8192];
	int status = argc != 2;

	while (!status && fgets(line, sizeof(line), stdin))
		status = run_line(argv[1], line);
	return status;
}
