// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * many: runs ispot for each line of its input, DIRECTORY TAB OUTPUT TAB ARGUMENT TAB ARGUMENT...,
 * in that directory, with its output in that file and no input. Each is a child of this process:
 * most of what a command on a small trace takes is to load the libraries, which is done once here.
 * Prints a line for each that fails or shows nothing: "DIRECTORY: ARGUMENTS: status N: " and its
 * errors; of one that a signal ended 128 and its number.
 */
int ispot_main(int argc, char **argv);
#define main ispot_main
#include "src/main.c"
#undef main

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { ARGUMENTS_MAX = 32 };

static void to_file(int fd, const char *path, int how)
{
	int opened = open(path, how | O_CLOEXEC, 0644);

	if (opened < 0 || dup2(opened, fd) < 0) {
		fprintf(stderr, "many: %s: %s\n", path, strerror(errno));
		_exit(1);
	}
}

static void run_one(const char *directory, const char *output, int errors, int argc, char **argv)
{
	if (chdir(directory)) {
		fprintf(stderr, "many: %s: %s\n", directory, strerror(errno));
		_exit(1);
	}
	to_file(STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC);
	to_file(STDIN_FILENO, "/dev/null", O_RDONLY);
	dup2(errors, STDERR_FILENO);
	exit(ispot_main(argc, argv));
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
	fflush(stdout);
}

static int run_line(char *line)
{
	char *directory = strtok(line, "\t\n"), *output = strtok(NULL, "\t\n"), *argument;
	char *argv[ARGUMENTS_MAX + 1] = { (char *)"ispot" };
	int argc = 1, status, errors = memfd_create("errors", MFD_CLOEXEC);
	pid_t child;

	while (argc < ARGUMENTS_MAX && (argument = strtok(NULL, "\t\n")))
		argv[argc++] = argument;
	if (argc == 1)
		return fprintf(stderr, "many: no command\n"), 1;
	child = fork();
	if (!child)
		run_one(directory, output, errors, argc, argv);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return perror("many"), 1;
	status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (status || shows_nothing(directory, output))
		tell(directory, argv, status, errors);
	close(errors);
	return 0;
}

int main(void)
{
	char line[8192];
	int status = 0;

	/* Not through stdio: a child would move back the offset of the input that it shares. */
	while (!status) {
		size_t n = 0;

		while (n < sizeof(line) - 1 && read(STDIN_FILENO, line + n, 1) == 1 &&
		       line[n] != '\n')
			n++;
		if (!n)
			break;
		line[n] = '\0';
		status = run_line(line);
	}
	return status;
}
