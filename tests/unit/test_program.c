/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elf_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "probes/process/program.h"
#include "probes/process/translator.h"
#include "probes/select/select.h"

#define MAX_WORDS 16

/* Splits a line at blanks; {...} keeps what it holds together. */
static int run(const char *line, char **program, int *word, struct err *err)
{
	static char copy[512];
	char *argv[MAX_WORDS + 1] = { 0 }, *s = copy;
	int n = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	while (*s && n < MAX_WORDS) {
		char *end = *s == '{' ? strchr(s, '}') : s + strcspn(s, " ");

		argv[n++] = s + (*s == '{');
		if (*end == '}')
			*end++ = '\0';
		s = end;
		if (*s)
			*s++ = '\0';
	}
	return program_of_command(argv, program, word, err);
}

static void means(const char *line, const char *program, int word)
{
	struct err err = { 0 };
	char *found = NULL;
	int at = -2, ret = run(line, &found, &at, &err);

	if (ret)
		fail_msg("%s: %s", line, err.text);
	if (strcmp(strrchr(found, '/') + 1, program) != 0 || at != word)
		fail_msg("%s: means %s, word %d", line, found, at);
	free(found);
}

static const char *variable(const struct command_program *p, const char *name)
{
	size_t n = strlen(name);

	for (char **v = p->environment; *v; v++) {
		if (!strncmp(*v, name, n) && (*v)[n] == '=')
			return *v + n + 1;
	}
	return "(unset)";
}

/* What is found for a script of this text. */
static int find_script(struct command_program *p, const char *text, struct err *err)
{
	char *argv[] = { "./program-script", "x", NULL };
	FILE *f = fopen("program-script", "we");

	fputs(text, f);
	fclose(f);
	chmod("program-script", 0755);
	return command_program_find(p, argv, err);
}

static void scripts(void **state)
{
	struct command_program p;
	struct err err = { 0 };
	int here = open(".", O_RDONLY | O_CLOEXEC);

	assert_int_equal(chdir(fixture_open()), 0);
	assert_int_equal(find_script(&p, "#! /bin/sh -e \necho\n", &err), 0);
	assert_string_equal(p.script, "./program-script");
	assert_string_equal(p.path, "/bin/sh");
	assert_true(p.is_shell);
	assert_int_equal(p.word, 0);
	command_program_release(&p);
	assert_int_equal(find_script(&p, "#!/usr/bin/env ls\n", &err), 0);
	assert_string_equal(strrchr(p.path, '/'), "/ls");
	assert_false(p.is_shell);
	command_program_release(&p);
	assert_int_equal(find_script(&p, "#!./program-script\n", &err), -ELOOP);
	assert_int_equal(find_script(&p, "#!/no/such\n", &err), -ENOENT);
	assert_non_null(strstr(err.text, "program-script"));
	assert_int_equal(find_script(&p, "#!/usr/bin/env -S A=1 ls -l\n", &err), 0);
	assert_string_equal(strrchr(p.path, '/'), "/ls");
	assert_string_equal(variable(&p, "A"), "1");
	command_program_release(&p);
	assert_int_equal(find_script(&p, "echo without a first line\n", &err), 0);
	assert_true(p.is_shell);
	assert_string_equal(p.script, "./program-script");
	command_program_release(&p);
	/* that name themselves, each time in another exec: sooner or later they are believed */
	assert_int_equal(find_script(&p, "#!/usr/bin/env -S sh -c ./program-script\n", &err), 0);
	command_program_release(&p);
	assert_int_equal(find_script(&p, "#!/bin/sh -c\n", &err), 0);
	command_program_release(&p);
	assert_int_equal(fchdir(here), 0);
	close(here);
}

static void wrappers(void **state)
{
	means("ls", "ls", 0);
	means("/bin/ls -l", "ls", 0);
	means("env ls", "ls", 1);
	means("env", "env", 0);
	means("env -i A=1 B= ls -l", "ls", 4);
	means("env -u HOME --chdir /tmp ls", "ls", 5);
	means("env -S {ls -l}", "ls", -1);
	means("env {-Sls -l} x", "ls", -1);
	means("env {--split-string=-i A=1 nice ls} x", "ls", -1);
	means("nice env -S {sh -c} ls", "ls", -1);
	means("env -i -S {A=1 ls} x", "ls", -1);
	means("env -iSls x", "ls", -1);
	means("env -u HOME -vS ls", "ls", -1);
	means("env --split-string ls x", "ls", -1);
	means("env -uS ls", "ls", 2);
	means("env ls -S x", "ls", 1);
	means("env --split-string", "env", 0);
	means("env -S {$SHELL x}", "env", 0);
	means("env -S", "env", 0);
	means("nice ls", "ls", 1);
	means("nice -n 5 ls", "ls", 3);
	means("nice -n5 ls", "ls", 2);
	means("nice -5 ls", "ls", 2);
	means("nohup nice -5 env A=1 ls", "ls", 5);
	means("timeout 5 ls", "ls", 2);
	means("timeout -k 1 --signal=KILL 5 ls", "ls", 5);
	means("taskset 3 ls", "ls", 2);
	means("taskset -c 0,1 ls", "ls", 3);
	means("taskset -p 1", "taskset", 0);
	means("stdbuf -o L -e0 ls", "ls", 4);
	means("setarch -R ls", "ls", 2);
	means("setarch x86_64 -R ls", "ls", 3);
	means("chrt -f 10 ls", "ls", 3);
	means("ionice -c 2 -n 0 ls", "ls", 5);
	means("setsid -f ls", "ls", 2);
	means("flock /tmp/lock ls", "ls", 2);
	means("env -- ls", "ls", 2);
}

static void shells(void **state)
{
	means("sh -c ls", "ls", -1);
	means("sh -c {ls -l /tmp}", "ls", -1);
	means("sh -ec {exec ls -l}", "ls", -1);
	means("sh -c {A=1 taskset -c 0 'ls' \"-l\"}", "ls", -1);
	means("env A=1 sh -c ls", "ls", -1);
	/* more than a simple command: the shell itself is what runs */
	means("sh -c {cd /tmp && ls}", "sh", 0);
	means("sh -c {ls; ls}", "sh", 0);
	means("sh -c {ls | cat}", "sh", 0);
	means("sh -c {ls >out}", "sh", 0);
	means("sh -c {$PROGRAM x}", "sh", 0);
	means("sh -c {ls 'open}", "sh", 0);
	means("sh -c {:}", "sh", 0);
	means("sh script", "sh", 0);
	means("sh", "sh", 0);
}

static void fails(const char *line, int code, int status, const char *part)
{
	struct err err = { 0 };
	char *found = NULL;
	int at;

	assert_int_equal(run(line, &found, &at, &err), code);
	assert_null(found);
	assert_int_equal(err.exit_status, status);
	if (!strstr(err.text, part))
		fail_msg("'%s' not in '%s'", part, err.text);
}

static void errors(void **state)
{
	char line[300];

	fails("no-such-command-here", -ENOENT, 127, "command not found");
	fails("./no-such-file", -ENOENT, 127, "no such file");
	fails("env no-such-command-here", -ENOENT, 127, "command not found");
	fails("/tmp", -EACCES, 126, "directory");
	fixture_write("data", "x");
	fails(fixture_path("data"), -EACCES, 126, "not executable");
	snprintf(line, sizeof(line), "env %s", fixture_path("data"));
	fails(line, -EACCES, 126, "not executable");
}

static void sees(char *const *argv, const char *name, const char *value)
{
	struct command_program p;

	assert_int_equal(command_program_find(&p, argv, NULL), 0);
	assert_string_equal(variable(&p, name), value);
	command_program_release(&p);
}

#define WORDS(...) ((char *const[]){ __VA_ARGS__, NULL })

static void environments(void **state)
{
	setenv("ISPOT_TEST", "own", 1);
	sees(WORDS("ls"), "ISPOT_TEST", "own");
	sees(WORDS("env", "ISPOT_TEST=new", "ls"), "ISPOT_TEST", "new");
	sees(WORDS("env", "A=1", "nice", "env", "A=2", "B=", "ls"), "A", "2");
	sees(WORDS("env", "A=1", "nice", "env", "A=2", "B=", "ls"), "B", "");
	sees(WORDS("env", "-u", "ISPOT_TEST", "ls"), "ISPOT_TEST", "(unset)");
	sees(WORDS("env", "--unset=ISPOT_TEST", "ls"), "ISPOT_TEST", "(unset)");
	sees(WORDS("env", "-", "/bin/ls"), "ISPOT_TEST", "(unset)");
	sees(WORDS("env", "-i", "A=1", "/bin/ls"), "A", "1");
	sees(WORDS("sh", "-c", "ISPOT_TEST='in sh' exec ls"), "ISPOT_TEST", "in sh");
	sees(WORDS("env", "ISPOT_TEST=out", "sh", "-c", "A=1 ls"), "ISPOT_TEST", "out");
	sees(WORDS("env", "-iS", "A=1 /bin/ls"), "ISPOT_TEST", "(unset)");
	sees(WORDS("env", "ISPOT_TEST_2=x", "ls"), "ISPOT_TEST", "own");
	unsetenv("ISPOT_TEST");
}

static void path_order(void **state)
{
	char *old = strdup(getenv("PATH")), path[600];

	fixture_write("tool", "x");
	fixture_run("mkdir -p bin && cp /bin/true bin/tool");
	/* the first is not executable: exec goes on to the second */
	snprintf(path, sizeof(path), "%s:%s/bin", fixture_open(), fixture_open());
	setenv("PATH", path, 1);
	means("tool", "tool", 0);
	snprintf(path, sizeof(path), "%s", fixture_open());
	setenv("PATH", path, 1);
	fails("tool", -EACCES, 126, "not executable");
	setenv("PATH", old, 1);
	free(old);
}

/* Which may not be installed: any file of that name is a wrapper. */
static void sudo(void **state)
{
	char *old = strdup(getenv("PATH")), path[600];

	fixture_run("mkdir -p root && cp /bin/true root/sudo && cp /bin/true root/doas");
	snprintf(path, sizeof(path), "%s/root:%s", fixture_open(), old);
	setenv("PATH", path, 1);
	setenv("LD_LIBRARY_PATH", "/nowhere", 1);
	means("sudo -n -u root A=1 nice ls", "ls", 6);
	means("sudo --user root -- ls", "ls", 4);
	means("sudo -s ls", "sudo", 0);
	means("sudo -k", "sudo", 0);
	means("doas -u root ls", "ls", 3);
	sees(WORDS("sudo", "-u", "root", "A=1", "ls"), "A", "1");
	sees(WORDS("sudo", "ls"), "LD_LIBRARY_PATH", "(unset)");
	sees(WORDS("nice", "ls"), "LD_LIBRARY_PATH", "/nowhere");
	unsetenv("LD_LIBRARY_PATH");
	setenv("PATH", old, 1);
	free(old);
}

static void translators_are_known(void **state)
{
	assert_true(translator_is("/usr/bin/valgrind"));
	assert_true(translator_is("/usr/libexec/valgrind/memcheck-amd64-linux"));
	assert_true(translator_is("qemu-aarch64-static"));
	assert_false(translator_is("/usr/bin/qemu-system-x86_64"));
	assert_false(translator_is("qemu-img"));
	assert_false(translator_is("/opt/valgrind/app"));
	assert_int_equal(translator_refuse("/usr/bin/valgrind", NULL), -ENOTSUP);
	assert_int_equal(translator_refuse_process(getpid(), NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(translators_are_known),
		cmocka_unit_test(wrappers),
		cmocka_unit_test(scripts),
		cmocka_unit_test(shells),
		cmocka_unit_test(errors),
		cmocka_unit_test(path_order),
		cmocka_unit_test(environments),
		cmocka_unit_test(sudo),
	};

	return unit_run(tests);
}
